"""What of a queue's holds is in doubt because clocks of hosts differ (``hostclocks.py``), or logs have seconds only.

Plain Python.

No time is moved for it, for a clock may have been put right meanwhile. What a host tells may have been sooner or later
by as much as its clock may be behind or ahead of the one to which all are compared. What a client of Go tells by a
whole second may have been up to its end.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from rebalance_engine.model import MessageQueue
from rebalance_engine.pipeline.layouts import GO
from rebalance_engine.pipeline.sweep import Hold

Ahead = Mapping[str, Mapping[str, tuple[int, int]]]  # by host and broker's host: ahead by so much in ms, least and most
Doubts = Mapping[str, int]  # by host, in ms
AGREES = (0, 0)


def host_of(hold: Hold) -> str:
    """Name the host of a hold's process."""
    return hold.process.partition("/")[0]


def doubts_of(holds: Mapping[MessageQueue, Sequence[Hold]], ahead: Ahead) -> dict[MessageQueue, Doubts]:
    """Tell of each queue that several hosts had by how much what each tells may be wrong, of those whose clocks differ.

    They are compared with the clock by which least is in doubt. Of whom nothing is told, its clock agrees.
    """
    brokers = {broker for those in ahead.values() for broker in those}
    found: dict[MessageQueue, Doubts] = {}
    for queue, those in holds.items():
        hosts = [host_of(hold) for hold in those]
        if len(set(hosts)) > 1 and not ahead.keys().isdisjoint(hosts):
            each = (_by_one_broker({host: ahead.get(host, {}).get(broker, AGREES) for host in hosts}, hosts)
                    for broker in sorted(brokers))  # fmt: skip
            found[queue] = max(each, key=lambda doubts: sum(doubts.values()))
    return found


def _by_one_broker(bounds: Mapping[str, tuple[int, int]], hosts: Iterable[str]) -> dict[str, int]:
    told = list(hosts)
    tries = [
        {host: max(abs(least - by), abs(most - by)) for host, (least, most) in bounds.items()}
        for by in sorted({(least + most) // 2 for least, most in bounds.values()}, key=abs)
    ]
    return min(tries, key=lambda doubts: sum(doubts[host] for host in told))


def in_doubt(
    holds: Mapping[MessageQueue, Sequence[Hold]], doubts: Mapping[MessageQueue, Doubts]
) -> dict[MessageQueue, list[Hold]]:
    """Let holds begin and end within such bounds. Who shuts down may be there to stay as long as it has the queue."""
    return {
        queue: [_bounded(hold, doubts.get(queue, {}), is_first=_is_first(hold, those)) for hold in those]
        for queue, those in holds.items()
    }


def _is_first(hold: Hold, holds: Iterable[Hold]) -> bool:
    """Ask whether a hold surely is its queue's first: until that began nobody counts for how long it had no owner."""
    latest = hold.from_ms + begins_late_ms(hold)
    return hold.from_after_ms is None and all(other is hold or other.may_begin_ms > latest for other in holds)


def _bounded(hold: Hold, doubts: Doubts, *, is_first: bool) -> Hold:
    by, begins, ends = doubts.get(host_of(hold), 0), begins_late_ms(hold), ends_late_ms(hold)
    if is_first and not by:
        begins = 0
    if not (by or begins or ends):
        return hold
    is_open = hold.ended == "open"
    until_ms = hold.until_ms + (0 if is_open else by + ends)
    return replace(
        hold,
        from_ms=min(hold.from_ms + by + begins, until_ms),
        from_after_ms=hold.may_begin_ms - by,
        until_ms=until_ms,
        until_after_ms=hold.until_after_ms if is_open else hold.early_ms - by,
        late_ms=0 if is_open else ends,
        ended="released" if by and hold.ended == "stopped" else hold.ended,
    )


def begins_late_ms(hold: Hold) -> int:
    """Tell by how much later than is told a hold may have begun: its log has whole seconds."""
    return _rest_of_second_ms(hold, hold.from_ms)


def ends_late_ms(hold: Hold) -> int:
    """Tell by how much later than is told a hold may have ended; likewise."""
    return _rest_of_second_ms(hold, hold.until_ms)


def _rest_of_second_ms(hold: Hold, at_ms: int) -> int:
    is_whole = hold.layout == GO.name and at_ms % GO.resolution_ms == 0  # with another format there is a fraction
    return GO.resolution_ms - 1 if is_whole else 0


def apart_ms(giver: Hold, taker: Hold, doubts: Doubts) -> int:
    """Tell by how much the time between two holds may be wrong; that between two of one host is not."""
    hosts = {host_of(giver), host_of(taker)}
    return sum(doubts.get(host, 0) for host in hosts) if len(hosts) > 1 else 0


def may_lie_between(giver: Hold, taker: Hold, holds: Iterable[Hold], doubts: Doubts) -> bool:
    """Ask whether another member may have had the queue between two, though its clock places that elsewhere."""
    for hold in holds if doubts else ():
        by = max(apart_ms(hold, giver, doubts), apart_ms(hold, taker, doubts))
        is_other = by and hold.client not in (giver.client, taker.client)
        if is_other and hold.from_ms - by < taker.from_ms and giver.until_ms < hold.until_ms + by:
            return True
    return False
