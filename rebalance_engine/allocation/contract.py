"""What every strategy is to the rest of the engine, and how each kind of bad input is refused.

A strategy has two faces. ``owners`` computes the whole group in one pass over columns; ``member`` is one
client computing alone, and fails as its language fails, because the consumer's state machine acts
differently on an empty answer and on an exception (``AbstractAllocateMessageQueueStrategy.java``, ``check``).

    AllocationError (ValueError)        the question put to the engine makes no sense
    +-- NoQueues, NoClients, BadQueue, BadClient
    +-- UnknownStrategy
    +-- UnknownParameter, MissingParameter, BadParameter
    +-- UnresolvedRoom                  also an IllegalArgument
    MemberFailure                       what a client's own strategy throws
    +-- IllegalArgument                 Java's IllegalArgumentException, C++'s MQClientException
    +-- NullPointer                     Java's NullPointerException
    +-- Panic                           a Go panic
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from enum import Enum
from operator import itemgetter
from typing import Any

import numpy as np

from rebalance_engine.model import MAX_QUEUE_ID, MessageQueue, Order
from rebalance_engine.tables import ClientTable, Int32s, QueueTable

Owners = Callable[[QueueTable, ClientTable], Int32s]
Member = Callable[[str | None, Sequence[MessageQueue] | None, Sequence[str] | None], list[MessageQueue] | None]
Listing = Callable[[QueueTable, ClientTable, Int32s], Int32s]


class AllocationError(ValueError):
    """The input cannot be allocated; the message says what was seen and what is allowed."""


class NoQueues(AllocationError):
    """There is nothing to allocate."""


class NoClients(AllocationError):
    """There is nobody to allocate to."""


class BadQueue(AllocationError):
    """A queue's number is none that a broker could have."""


class BadClient(AllocationError):
    """A client id is not one that a broker could list."""


class UnknownStrategy(AllocationError):
    """No strategy has this name."""


class UnknownParameter(AllocationError, TypeError):
    """The strategy does not take this parameter."""


class MissingParameter(AllocationError, TypeError):
    """The strategy cannot work without this parameter."""


class BadParameter(AllocationError):
    """A parameter has a value that it cannot have."""


class MemberFailure(Exception):
    """A member's own strategy threw: the client keeps what it holds of the topic."""


class IllegalArgument(MemberFailure):
    """The strategy refused its arguments."""


class UnresolvedRoom(AllocationError, IllegalArgument):
    """A queue or a client is in no room: bad input for the engine, and what Java's strategy throws."""


class NullPointer(MemberFailure):
    """The strategy met something that was never configured."""


class Panic(MemberFailure):
    """Go's strategy ran off the end of a list."""


class OnEmpty(Enum):
    """What a client language does about empty or unknown input."""

    THROW = "throws; the old assignment stays"
    DROP = "answers nothing; every queue of the topic is dropped"


@dataclass(frozen=True, slots=True)
class Dialect:
    """Where the clients' languages differ though the strategy is the same."""

    order: Order
    on_empty: OnEmpty


JAVA = Dialect(Order.JAVA, OnEmpty.THROW)
CPP = Dialect(Order.BYTES, OnEmpty.THROW)
GO = Dialect(Order.BYTES, OnEmpty.DROP)


@dataclass(frozen=True, slots=True)
class Strategy:
    """A strategy with its parameters bound.

    Attributes:
        order: how this strategy's clients sort both lists.
        member: one client computing alone, over lists that its caller has sorted.
        owners: the whole group: int32[n] client numbers, -1 for a queue that nobody computes. None where a
            queue may get several owners, or one that is not the group's: then ``member`` is all there is.
        listing: int64[n] keys by which one client's queues ascend in Java's order; None: by number.
    """

    name: str
    order: Order
    member: Member | None
    owners: Owners | None
    listing: Listing | None = None


@dataclass(frozen=True, slots=True)
class Kind:
    """A strategy before its parameters are known: one row of ``STRATEGIES``.

    Attributes:
        bind: makes the strategy of checked parameters; its own parameters are keyword-only.
        takes: the parameters that it allows, and
        needs: those that it cannot do without.
    """

    name: str
    summary: str
    bind: Callable[..., Strategy]
    takes: frozenset[str] = frozenset()
    needs: frozenset[str] = frozenset()

    def __call__(self, /, **params: Any) -> Strategy:
        """Bind parameters.

        Raises:
            UnknownParameter, MissingParameter, BadParameter: as the names say.
        """
        for name in sorted(params.keys() - self.takes):
            allowed = ", ".join(sorted(self.takes)) or "none"
            raise UnknownParameter(f"{self.name} has no parameter {name!r}; allowed: {allowed}")
        for name in sorted(self.needs - params.keys()):
            raise MissingParameter(f"{self.name} needs the parameter {name!r}; given: {sorted(params) or 'none'}")
        return self.bind(**params)


def computes(
    client_id: str | None,
    queues: Collection[MessageQueue] | None,
    clients: Collection[str] | None,
    on_empty: OnEmpty = OnEmpty.THROW,
) -> bool:
    """Do the check that Java's strategies share: whether this member computes a share at all.

    Returns:
        False for a member that the broker did not list: it answers nothing, and drops the topic.

    Raises:
        IllegalArgument: with Java's texts; only where the language throws.
    """
    complaint = _complaint(client_id, queues, clients)
    if complaint and on_empty is OnEmpty.THROW:
        raise IllegalArgument(complaint)
    return not complaint and clients is not None and client_id in clients


def deal(
    client_id: str | None,
    queues: Sequence[MessageQueue] | None,
    clients: Sequence[str] | None,
    on_empty: OnEmpty,
    take: Callable[[Sequence[MessageQueue], int, int], Sequence[MessageQueue]],
) -> list[MessageQueue] | None:
    """Give what ``take(queues, place, members)`` takes for a member by its place in the list of members.

    Returns:
        Nothing for a member that the broker did not list: an empty list, or None where an empty input drops the topic.

    Raises:
        IllegalArgument: something is empty, and the language throws.
    """
    if not computes(client_id, queues, clients, on_empty):
        return [] if on_empty is OnEmpty.THROW else None
    assert client_id is not None and queues is not None and clients is not None
    return list(take(queues, clients.index(client_id), len(clients)))


def _complaint(
    client_id: str | None, queues: Collection[MessageQueue] | None, clients: Collection[str] | None
) -> str | None:
    if not client_id:
        return "currentCID is empty"
    if not queues:
        return "mqAll is null or mqAll empty"
    if not clients:
        return "cidAll is null or cidAll empty"
    return None


def check_queues(queues: Collection[object]) -> None:
    """Insist on queues that a broker could have.

    Raises:
        BadQueue: something else is among them.
    """
    if not _are_plain(queues):
        for queue in queues:
            _refuse_bad_queue(queue)


def _are_plain(queues: Collection[object]) -> bool:
    """Whether all queues are what they nearly always are, found out without a loop in Python."""
    if {*map(type, queues)} != {MessageQueue}:
        return False
    kinds = [{*map(type, map(itemgetter(column), queues))} for column in range(3)]  # type: ignore[arg-type]  # tuples
    ids = list(map(itemgetter(2), queues)) if kinds == [{str}, {str}, {int}] else [-MAX_QUEUE_ID - 2]  # type: ignore[arg-type]  # tuples
    return -MAX_QUEUE_ID - 1 <= min(ids) <= max(ids) <= MAX_QUEUE_ID


def _refuse_bad_queue(queue: object) -> None:
    if not isinstance(queue, MessageQueue):
        raise BadQueue(f"a queue must be a MessageQueue, not {queue!r}")
    kinds = zip(queue, (str, str, int | np.integer), strict=True)
    if not all(isinstance(seen, needed) for seen, needed in kinds):
        raise BadQueue(f"a queue has two texts and a whole number, not {tuple(queue)!r}")
    if not -MAX_QUEUE_ID - 1 <= queue.queue_id <= MAX_QUEUE_ID:
        raise BadQueue(f"a queue id must be a Java int, {-MAX_QUEUE_ID - 1} to {MAX_QUEUE_ID}, not that of {queue}")
