"""Members that had nothing when their log ended, and of whom no broker's log tells: when the others count them no more.

Plain Python. Who holds nothing writes nothing but a heartbeat's line every 10 min; that it was killed moves no queue,
so that no line is of it. By how many the others divide from then on tells that it has gone, though not when; until one
says so nobody knows whether it was idle or no member any more.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from rebalance_engine.pipeline.loads import Presence
from rebalance_engine.pipeline.rounds import GOES, SAID_WITHIN_MS, Cause
from rebalance_engine.pipeline.unheard import CLOCKS_MS, Counted, Holds, Spans

HEARTBEAT_SAID_WITHIN_MS = 660_000  # every 20th heartbeat of 30 s is written down
WATCHED_MS = 30_000  # a broker's log that goes on for so long would tell its end


def quiet_of(
    log_ends: Mapping[str, int],
    holds: Holds,
    causes: Iterable[Cause],
    covers: Sequence[tuple[int, int]],
    end_ms: int,
) -> dict[str, int]:
    """Give the members that had nothing at their log's last line, and whose end nobody would tell; and that line.

    Args:
        log_ends: the last line of each member's log.
        covers: from when until when brokers' logs tell who comes and goes.
    """
    went = {one.client for one in causes if one.what in GOES and one.at_ms >= log_ends.get(str(one.client), end_ms)}
    having = {
        hold.client
        for those in holds.values()
        for hold in those
        if hold.client in log_ends and hold.until_ms >= log_ends[hold.client] - CLOCKS_MS
    }
    return {
        client: at
        for client, at in log_ends.items()
        if client not in went | having
        and at < end_ms - CLOCKS_MS
        and not any(begin <= at and end >= at + WATCHED_MS for begin, end in covers)
    }


def vanished(quiet: Mapping[str, int], there: Presence, counted: Iterable[Counted]) -> list[Cause]:
    """Tell by when quiet members had gone: by the first result that counts none of them, and all others.

    Args:
        there: when members were there, as far as lines tell, quiet ones until the input ends.
    """
    left = {client: at for client, at in quiet.items() if client in there}
    found: list[Cause] = []
    for one in sorted(counted, key=lambda one: one.at_ms):
        silent = {client for client, at in left.items() if at + CLOCKS_MS < one.at_ms}
        known = sum(
            any(begin <= one.at_ms - SAID_WITHIN_MS and one.at_ms <= end for begin, end in spans)
            for client, spans in there.items()
            if client not in quiet or client in left
        )
        if silent and one.members <= known - len(silent):
            found += [Cause(one.at_ms, "lost", client) for client in sorted(silent)]
            left = {client: at for client, at in left.items() if client not in silent}
    return found


def unsure_of(quiet: Mapping[str, int], gone: Iterable[Cause], end_ms: int) -> Spans:
    """Tell from when until when nobody knows whether quiet members were there: those that wrote no heartbeat since."""
    ends = {str(one.client): one.at_ms for one in gone}
    spans = {client: (at, ends.get(client, end_ms)) for client, at in quiet.items()}
    return {
        client: [(at, end)]
        for client, (at, end) in spans.items()
        if client in ends or end - at > HEARTBEAT_SAID_WITHIN_MS
    }
