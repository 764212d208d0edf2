"""When nobody, or several, held a group's queues: what a story tells of each such time. Plain Python."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from rebalance_engine.model import MessageQueue
from rebalance_engine.pipeline.beginnings import before_first_take
from rebalance_engine.pipeline.cuts import perhaps_back
from rebalance_engine.pipeline.loads import Presence
from rebalance_engine.pipeline.offs import Spans as Offs
from rebalance_engine.pipeline.offs import cut_where_off, is_off
from rebalance_engine.pipeline.rounds import Cause
from rebalance_engine.pipeline.routes import gone
from rebalance_engine.pipeline.sorting import Clues
from rebalance_engine.pipeline.sweep import (
    Hold,
    as_long_as_may_be,
    cut_at,
    left_alone,
    stopping_ms,
    sure_stretches,
    surely_ms,
    unsure_of,
    while_there,
    with_holds,
)
from rebalance_engine.pipeline.unheard import there_meanwhile


def last_there(holds: dict[MessageQueue, list[Hold]], *presences: Presence) -> int:
    """Tell until when the group had anybody."""
    spans = (end for there in presences for those in there.values() for _, end in those)
    return max([*spans, *(hold.until_ms for those in holds.values() for hold in those)], default=0)


def stretch_rows(
    holds: dict[MessageQueue, list[Hold]],
    clues: Clues,
    unheard: Presence,
    off: Offs,
    last_there_ms: int,
    short: Mapping[str, Offs],
    backs: Sequence[Cause] = (),
) -> Iterator[tuple[str, dict[str, object]]]:
    """Give, as rows of ``STRETCHES``, when nobody had a queue, or several, for certain or perhaps.

    Args:
        unheard: when members were there of whom nobody tells what they held, from the input's beginning on.
        off: when the group had no member.
        last_there_ms: until when it had anybody.
        short: by topic, when it lacked queues, nobody knows which.
        backs: what is told of members that come to brokers, among others.
    """
    for queue, those in holds.items():
        end_ms = clues.end_ms if clues.end_ms is not None else max(hold.until_ms for hold in those)
        owned_ms = min(end_ms, clues.popped.get(queue.topic, end_ms))  # from then on it needs no owner
        told_gone = gone(queue, clues.routes.get(queue.topic, ()), end_ms)
        is_gone = perhaps_back(queue, told_gone, backs, unheard, end_ms)
        whole = as_long_as_may_be(those)
        alone = list(while_there(left_alone(those, owned_ms), is_gone))
        left_ms = next((one.from_ms for one in alone if one.until_ms == clues.end_ms), end_ms)
        early = while_there(before_first_take(whole, unheard), is_gone)
        apart = (part for one in alone for part in cut_at(one, last_there_ms))
        lacks = short.get(queue.topic, ())
        cut = (part for one in (*early, *while_there(sure_stretches(those), is_gone), *apart)
               for part in cut_where_off(one, off))  # fmt: skip
        each = (part for one in cut for part in cut_where_off(one, lacks))
        for stretch, holding in with_holds(each, whole):
            unsure = unsure_of(stretch, holding)
            if len(stretch.clients) != 1:
                yield (
                    "stretch",
                    {
                        "at_ms": stretch.from_ms,
                        "topic": queue.topic,
                        "broker": queue.broker,
                        "queue_id": queue.queue_id,
                        "until_ms": stretch.until_ms,
                        "clients": list(stretch.clients),
                        "stopping_ms": stopping_ms(stretch, holding),
                        "surely_ms": surely_ms(stretch, holding),
                        "is_open": stretch.until_ms == clues.end_ms
                        or (not stretch.clients and stretch.from_ms >= left_ms),
                        "is_deserted": not stretch.clients
                        and (stretch.from_ms >= last_there_ms or is_off(stretch, off)),
                        "unheard": unsure
                        if stretch.clients
                        else max(unsure, there_meanwhile(stretch, unheard), int(is_off(stretch, lacks))),
                    },
                )
