"""For what times brokers' logs name all members of a group, so that whom members count besides is a mistake of theirs.

Plain Python. A broker's log names who comes and who goes. Whoever had come before it begins, and stays, it does not
name, nor who comes after its end.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Mapping, Sequence
from operator import itemgetter

from rebalance_engine.pipeline.loads import Presence
from rebalance_engine.pipeline.unheard import Counted, Spans

Covers = Sequence[tuple[int, int]]


def merged(spans: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
    """Put together the times that several logs cover."""
    found: list[tuple[int, int]] = []
    for begin, end in sorted(spans):
        if found and begin <= found[-1][1]:
            found[-1] = (found[-1][0], max(end, found[-1][1]))
        else:
            found.append((begin, end))
    return found


def together(*presences: Presence) -> Spans:
    """Put together when members were there, by their names, as several tell it."""
    found: Spans = {}
    for presence in presences:
        for client, spans in presence.items():
            found[client] = merged([*found.get(client, ()), *spans])
    return found


def without_named(
    uncounted: Mapping[str, Sequence[tuple[int, int]]], told: Iterable[Counted], covers: Iterable[tuple[int, int]]
) -> Spans:
    """Leave out who would have come while a broker's log was there to name it, until the end of that log.

    Who is counted from the first result on that anybody tells under a broker's log came before it.

    Args:
        uncounted: when there were more members than are known, by names of their own.
        covers: from when until when brokers' logs tell.
    """
    times, logs = sorted(one.at_ms for one in told), merged(covers)
    left = {name: [span for each in spans for span in _left(each, times, logs)] for name, spans in uncounted.items()}
    return {name: spans for name, spans in left.items() if spans}


def _left(span: tuple[int, int], times: Sequence[int], logs: Covers) -> Iterable[tuple[int, int]]:
    begin, end = span
    nth = bisect_right(logs, begin, key=itemgetter(0)) - 1
    if nth < 0 or logs[nth][1] < begin:
        return [span]
    since, until = logs[nth]
    if bisect_left(times, since) == bisect_left(times, begin):
        return [span]
    return [(until, end)] if until < end else []
