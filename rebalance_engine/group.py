"""One look at a group: its queues, members, subscriptions and what is held, with what is unknown left unknown."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from rebalance_engine.model import MessageModel, MessageQueue
from rebalance_engine.ownership import Ownership
from rebalance_engine.tables import ClientTable, QueueTable


@dataclass(frozen=True, slots=True, kw_only=True)
class Member:
    """One member of a group, as it was seen; None is unknown.

    Attributes:
        topics: what it subscribes to. Push consumers in clustering groups subscribe to their retry topic too,
            which then stands here like any other.
        held: the non-dropped entries of its process-queue table.
        strategy: the name of its strategy, as ``getName()`` answers it.
    """

    client_id: str
    topics: frozenset[str] | None = None
    held: tuple[MessageQueue, ...] | None = None
    strategy: str | None = None


@dataclass(frozen=True, eq=False)
class GroupView:
    """A group at one moment.

    Attributes:
        queues: all queues of the routes of the topics that the group consumes.
        clients: the members, as a broker lists them; an id that is registered twice is in it twice.
        topics_of: what each member subscribes to; members that are missing here are taken to subscribe to
            every topic, as all members of a group must.
        held: who holds what. Queues that no route has are in ``strays``.
        silent: members of which it is not known all that they hold: who did not tell, and an id of several processes
            of which not each could be asked. What is known of them stands in ``held``.
        strategies: the strategy of each member that told it.
        untold: brokers that did not say who is a member: there may be others than these.
        perhaps_twice: numbers of queues that several said to hold, at times that need not overlap: who said so first
            may have let go before the other took it.
        popping: members that said that they take messages by POP: they own no queues, and take from any of them.
        disputed: numbers of queues that some NameServer has in its route and another one has not: nobody knows whether
            they are there, nor which queues members divide, who ask any one of them.
    """

    group: str
    queues: QueueTable
    clients: ClientTable
    model: MessageModel = MessageModel.CLUSTERING
    topics_of: Mapping[str, frozenset[str]] = field(default_factory=dict)
    held: Ownership | None = None
    silent: frozenset[str] = frozenset()
    strays: tuple[tuple[str, MessageQueue], ...] = ()
    strategies: Mapping[str, str] = field(default_factory=dict)
    untold: frozenset[str] = frozenset()
    perhaps_twice: frozenset[int] = frozenset()
    disputed: frozenset[int] = frozenset()
    popping: frozenset[str] = frozenset()

    @classmethod
    def of(
        cls,
        group: str,
        queues: Iterable[MessageQueue] | QueueTable,
        members: Iterable[Member],
        model: MessageModel = MessageModel.CLUSTERING,
    ) -> GroupView:
        """Put a view together; several members of one client id are several processes, whose queues add up."""
        members = list(members)
        table = queues if isinstance(queues, QueueTable) else QueueTable.of(queues)
        clients = ClientTable.of(member.client_id for member in members)
        held: dict[str, list[MessageQueue]] = {}
        for member in members:
            held.setdefault(member.client_id, []).extend(member.held or ())
        strays = [
            (client_id, queue)
            for client_id, its in held.items()
            for queue, number in zip(its, table.numbers_of(its).tolist(), strict=True)
            if number < 0
        ]
        return cls(
            group=group,
            queues=table,
            clients=clients,
            model=model,
            topics_of=_merge_topics(members),
            held=Ownership.from_lists(table, clients, held),
            silent=frozenset(member.client_id for member in members if member.held is None),
            strays=tuple(dict.fromkeys(strays)),
            strategies={member.client_id: member.strategy for member in members if member.strategy is not None},
        )

    @cached_property
    def subscribed(self) -> NDArray[np.bool_] | None:
        """bool[topics, client numbers]: who subscribes to what; None where every member does to everything."""
        if all(self.topics_of.get(client_id, ALL) >= set(self.queues.topics) for client_id in self.clients.distinct):
            return None
        matrix = np.zeros((len(self.queues.topics), len(self.clients.names)), dtype=bool)
        for client_id, number in zip(self.clients.ids, self.clients.members.tolist(), strict=True):
            topics = self.topics_of.get(client_id, ALL)
            matrix[:, number] = [topic in topics for topic in self.queues.topics]
        return matrix

    def subscribes(self, client_id: str, topic: str) -> bool:
        """Whether a member subscribes to a topic, as far as is known."""
        return topic in self.topics_of.get(client_id, ALL)

    @property
    def everybody_answered(self) -> bool:
        """Whether it is known of every member what it holds, and who they are: only then can a queue be unowned."""
        return self.held is not None and not self.silent and not self.untold

    @property
    def unowned(self) -> NDArray[np.intp]:
        """Numbers of the queues that nobody is known to hold, without those of which nobody knows whether they are."""
        numbers = np.arange(len(self.queues)) if self.held is None else self.held.unowned()
        return numbers[~np.isin(numbers, list(self.disputed))] if self.disputed else numbers

    @property
    def perhaps_unowned(self) -> NDArray[np.intp]:
        """Numbers of the queues that nobody is known to hold, and of which nobody knows whether they are."""
        numbers = np.array(sorted(self.disputed), dtype=np.intp)
        return numbers if self.held is None or not self.disputed else numbers[np.isin(numbers, self.held.unowned())]

    @cached_property
    def disputed_topics(self) -> tuple[str, ...]:
        """The topics of which NameServers tell different queues."""
        numbers = np.unique(self.queues.topic[sorted(self.disputed)])
        return tuple(self.queues.topics[number] for number in numbers.tolist())


class _Everything(frozenset[str]):
    """The topics of a member whose subscription is unknown."""

    def __contains__(self, topic: object) -> bool:
        return True

    def __ge__(self, topics: object) -> bool:
        return True


ALL: frozenset[str] = _Everything()


def _merge_topics(members: Iterable[Member]) -> dict[str, frozenset[str]]:
    topics_of: dict[str, frozenset[str]] = {}
    for member in members:
        if member.topics is not None:
            topics_of[member.client_id] = topics_of.get(member.client_id, frozenset()) | member.topics
    return topics_of


def only_subscribed(view: GroupView, ownership: Ownership) -> Ownership:
    """Take away the queues of topics to which their owner does not subscribe: it never pulls them.

    RocketMQ's members divide every topic by all members of the group, whatever these subscribe to.
    """
    subscribed = view.subscribed
    if subscribed is None:
        return ownership
    queue, client = ownership.pairs()
    keeps = subscribed[view.queues.topic[queue], client]
    return Ownership.from_pairs(ownership.queues, ownership.clients, queue[keeps], client[keeps])
