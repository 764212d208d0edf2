"""A strategy of the user's own: any function that one member computes its share with.

As in Java's ``AllocateMessageQueueStrategy``, nothing is checked before the function is called, a null is an empty
share, and an exception leaves the member with what it holds. An answer that is no list of the given queues counts as
an exception too: a Java client would take such queues on and pull them in vain.

>>> first = own(lambda client_id, queues, client_ids: queues if client_id == min(client_ids) else [])
>>> first.member("A", [MessageQueue("orders", "east", 0)], ["A", "B"])
[MessageQueue(topic='orders', broker='east', queue_id=0)]

Source: ``client/.../impl/consumer/RebalanceImpl.java`` (``rebalanceByTopic``).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from rebalance_engine.allocation.contract import MemberFailure, Strategy
from rebalance_engine.model import MessageQueue, Order

Function = Callable[[str, Sequence[MessageQueue], Sequence[str]], Iterable[MessageQueue] | None]
"""Takes the own client id, the queues of one topic and all client ids, both sorted; gives the own queues."""

Report = Callable[[Exception], None]


class OwnStrategyFailed(MemberFailure):
    """The function raised, or answered with something else than its share."""


def own(function: Function, *, name: str | None = None, report: Report = lambda _: None) -> Strategy:
    """Make a strategy of a function.

    Args:
        name: how the member names its strategy to who asks; by default the function's own name.
        report: told of every exception of the function, which nobody else sees.
    """

    def member(
        client_id: str | None, queues: Sequence[MessageQueue] | None, clients: Sequence[str] | None
    ) -> list[MessageQueue]:
        given = list(queues or ())
        try:
            return _share(function(client_id or "", given, list(clients or ())), queues or ())
        except MemberFailure as failure:
            report(failure)
            raise
        except Exception as error:
            report(error)
            raise OwnStrategyFailed(f"{title} raised {error!r}") from error

    title = name or str(getattr(function, "__qualname__", type(function).__qualname__))
    return Strategy(title, Order.JAVA, member, None)


def _share(answer: Iterable[MessageQueue] | None, queues: Sequence[MessageQueue]) -> list[MessageQueue]:
    share, known = list(answer or ()), set(queues)
    foreign = [queue for queue in share if queue not in known]
    if foreign:
        raise OwnStrategyFailed(f"the answer has {foreign[0]!r}, which is none of the {len(queues)} given queues")
    return share
