"""What is open where the log of a group's only member lacks a part, and what brokers tell of that. Plain Python.

Of several members the others' logs go on: they take what it lets go, and tell routes. Of an only one nothing but
brokers' logs say whether it went and came again meanwhile, and nobody which queues its topics had.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from rebalance_engine.model import MessageQueue
from rebalance_engine.pipeline.loads import Presence
from rebalance_engine.pipeline.named import merged
from rebalance_engine.pipeline.offs import Spans as Offs
from rebalance_engine.pipeline.rounds import GOES, SECOND_MS, Cause
from rebalance_engine.pipeline.routes import Route
from rebalance_engine.pipeline.sweep import Hold
from rebalance_engine.pipeline.unheard import Holds, without

Times = Mapping[str, Sequence[tuple[int, int]]]  # by member, from when until when


def parted(holds: Holds, holes: Times, causes: Iterable[Cause]) -> dict[MessageQueue, list[Hold]]:
    """Part holds in holes of their member's log in which brokers saw its client go: it may have been another process.

    It may as well have lost its connection alone, and have had its queues all the time: both parts are bounded.
    """
    went: dict[str, list[int]] = {}
    for one in causes:
        if one.what in GOES and one.client in holes:
            went.setdefault(str(one.client), []).append(one.at_ms)
    if not went:
        return {queue: list(those) for queue, those in holds.items()}
    return {
        queue: [part for hold in those for part in _parts(hold, holes.get(hold.client, ()), went.get(hold.client, ()))]
        for queue, those in holds.items()
    }


def _parts(hold: Hold, holes: Iterable[tuple[int, int]], went: Iterable[int]) -> Iterator[Hold]:
    rest, times = hold, sorted(went)
    for begin, end in sorted(holes):
        first = next((max(at, begin) for at in times if begin - SECOND_MS <= at < end), None)
        if first is not None and rest.from_ms <= begin and end < rest.until_ms:
            yield replace(rest, until_ms=end, until_after_ms=first, ended="released")
            rest = replace(rest, from_ms=end, from_after_ms=first)
    yield rest


def without_routes(
    holds: Holds, holes: Times, routes: Mapping[str, Sequence[tuple[int, Route]]], end_ms: int
) -> dict[str, Offs]:
    """Tell by topic when nobody tells which queues it has: from a hole in the only log to the next route."""
    topics = {queue.topic for queue in holds} & routes.keys()
    found: dict[str, list[tuple[int, int]]] = {}
    for client, those in holes.items():
        for begin, end in those:
            if _others_tell(client, holds, holes, begin, end):
                continue
            for topic in topics:
                until = next((at for at, _ in routes[topic] if at > begin), end_ms)
                found.setdefault(topic, []).append((begin, until))
    return {topic: merged(spans) for topic, spans in found.items()}


def _others_tell(client: str, holds: Holds, holes: Times, begin: int, end: int) -> bool:
    """Ask whether another member was there, whose own log goes on; those of one process have one log, and one hole."""
    every = (hold for those in holds.values() for hold in those)
    others = (hold for hold in every if hold.client != client and hold.from_ms < end and begin < hold.until_ms)
    return any(
        without([(max(begin, hold.from_ms), min(end, hold.until_ms))], holes.get(hold.client, ())) for hold in others
    )


def perhaps_back(
    queue: MessageQueue, gone: Sequence[tuple[int, int]], causes: Iterable[Cause], unheard: Presence, end_ms: int
) -> list[tuple[int, int]]:
    """Let a queue that no route has any more be there again when its broker is, if nobody would tell its route then.

    A member comes to that broker, or to one of which no line tells the name.

    Args:
        gone: from when until when routes had no such queue.
        unheard: when members were there of whom nobody tells what they held, and so no route either.
    """
    kept = list(gone)
    if not kept or kept[-1][1] != end_ms:
        return kept
    begin, _ = kept.pop()
    backs = (one.at_ms for one in causes if one.what == "joined" and one.broker in (None, queue.broker))
    untold = [end for spans in unheard.values() for _, end in spans]
    back = min((at for at in backs if begin < at < end_ms and any(at < end for end in untold)), default=end_ms)
    return [*kept, (begin, back)]
