"""When queues left the route, of which a round tells that nobody has taken them: nobody waits for them since."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from dashboard.clusters.models import Queue
from dashboard.groups.models import Group, Round, RoundCause
from rebalance_engine.events import Cause
from rebalance_engine.model import MessageQueue
from rebalance_engine.rounds import BROKERS_CHANGE

CAUSES = [Cause.ROUTE_CHANGED.value, *(each.value for each in BROKERS_CHANGE)]


@dataclass(frozen=True, slots=True)
class End:
    """A queue left the route between ``low`` (None: unknown) and ``at``, in ms.

    ``gone_at`` is when that was seen; None: it is back, and nobody kept when it had left.
    """

    low: int | None
    at: int
    gone_at: int | None


def ends_of(row: Round, queues: Collection[MessageQueue]) -> dict[MessageQueue, End]:
    """Give those of a round's queues that are in no route now, or that came into one after the round had closed."""
    if not queues:
        return {}
    topics, brokers = {queue.topic for queue in queues}, {queue.broker for queue in queues}
    rows = Queue.objects.filter(topic__cluster=row.group.cluster_id, topic__name__in=topics, broker__in=brokers)
    columns = rows.values_list("topic__name", "broker", "queue_id", "since", "gone_at")
    stored = {MessageQueue(topic, broker, number): (since, gone) for topic, broker, number, since, gone in columns}
    lows = lows_of(group=row.group_id, times={gone for _, gone in stored.values() if gone is not None})
    found: dict[MessageQueue, End] = {}
    for queue in queues:
        since, gone_at = stored.get(queue, (0, None))
        if row.closed_at is not None and since > row.closed_at:
            found[queue] = End(None, since, None)
        elif gone_at is not None:
            found[queue] = End(lows.get(gone_at), gone_at, gone_at)
    return found


def lows_of(*, group: int, times: Collection[int]) -> dict[int, int | None]:
    """Give since when each of these changes of routes may have been, as far as the group's causes tell.

    Where NameServers disagreed before they told the same, that is since the first of them may have told it.
    """
    if not times:
        return {}
    causes = RoundCause.objects.filter(group=group, cause__in=CAUSES, at__in=list(times)[:500]).order_by("pk")
    found = dict(causes.values_list("at", "at_low"))
    row = Group.objects.only("disputes", "disputed_since").get(pk=group)
    for at, low in found.items():
        begins = [begin for begin, end, _ in row.disputes or () if begin <= at <= end]
        begins += [row.disputed_since] if row.disputed_since is not None and row.disputed_since <= at else []
        found[at] = None if low is None else min([low, *begins])
    return found
