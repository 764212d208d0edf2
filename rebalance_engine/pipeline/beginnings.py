"""From when on a group's logs tell what its members hold, and what may have been before a queue's first take.

Plain Python. Most logs begin in mid-life, as older ones were rolled away: a Java member shows all that it holds within
two times of persisting. A group's input begins when those have shown it whose logs begin with the first of all; of one
whose log begins later nobody tells what it held until then.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from rebalance_engine.pipeline.loads import Presence
from rebalance_engine.pipeline.named import merged
from rebalance_engine.pipeline.rounds import LOG_ENDS, Cause
from rebalance_engine.pipeline.sweep import Hold, Stretch
from rebalance_engine.pipeline.unheard import Counted, Holds, Spans

SHOWS_WITHIN_MS = 10_000  # two times of persisting


def input_begins(
    holds: Holds, causes: Iterable[Cause], counted: Iterable[Counted], log_begins: Mapping[str, int]
) -> int:
    """Tell when a group's input begins.

    Args:
        log_begins: by member, until when its log does not show all that it holds.
    """
    times = [hold.from_ms for those in holds.values() for hold in those]
    times += [one.at_ms for one in causes if one.what != LOG_ENDS]
    times += [one.at_ms for one in counted]
    first = min([*times, *log_begins.values()], default=0)
    return max([first, *(at for at in log_begins.values() if at <= first + 2 * SHOWS_WITHIN_MS)])


def since(begin_ms: int, presence: Presence) -> Spans:
    """Leave of times in which members were there what lies behind a moment."""
    later = {
        client: [(max(begin, begin_ms), end) for begin, end in spans if end > begin_ms]
        for client, spans in presence.items()
    }
    return {client: spans for client, spans in later.items() if spans}


def before_first_take(holds: Sequence[Hold], unheard: Presence) -> Iterable[Stretch]:
    """Tell when, before anybody took a queue by what is told, somebody was there who may have had it, or nobody had.

    Args:
        unheard: when members were there of whom nobody tells what they held, from the input's beginning on.
    """
    first_ms = min(hold.from_ms for hold in holds)
    for begin, end in merged(span for spans in unheard.values() for span in spans):
        if begin < first_ms:
            yield Stretch(begin, min(end, first_ms), ())
