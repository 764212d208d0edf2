"""When processes that start become members: from when on something tells that they reached a broker. Plain Python.

A client says that it starts before it has asked anybody. One that reaches no NameServer in time gives up again and says
that it stopped (``DefaultMQPushConsumerImpl.start``): it was no member in between.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace

from rebalance_engine.model import MessageQueue
from rebalance_engine.pipeline.rounds import SECOND_MS, STARTS_WITHIN_MS, Cause
from rebalance_engine.pipeline.sweep import Hold

Times = dict[tuple[str, str | None], list[int]]
START, GOOD_BYE, STOP = "consumer started", "unregistered", "consumer stopped"
OWN = (START, GOOD_BYE, STOP)
ANYBODY = ""  # no process and no client has this name


def arrived(
    causes: Iterable[Cause], holds: Mapping[MessageQueue, Sequence[Hold]], signs: Iterable[Cause]
) -> list[Cause]:
    """Let who starts come when it first reached a broker; who did not until it stopped neither comes nor goes.

    A stop begins with its first good-bye to a broker, and is told by that and by its end.

    Who was not seen to start was there before. A start without a client is of its process's only one.

    Args:
        signs: what brokers answered or told a process, and one of its clients where one is named.
    """
    takes = [Cause(hold.from_ms, "taken", hold.client, hold.process) for those in holds.values() for hold in those]
    clients = _clients_of([*causes], [*signs, *takes])
    told = _named([*causes], clients)
    own = [cause for cause in told if cause.what in OWN]
    evidence = _times([*signs, *takes, *(replace(one, by=ANYBODY) for one in told if one.what == "joined")])
    starts = _times(replace(cause, by=ANYBODY) for cause in own if cause.what == START)
    stops = _times(cause for cause in own if cause.what == STOP)
    found = [cause for cause in told if cause.what not in OWN]
    since: dict[tuple[str, str | None], bool] = {}  # whether its last start came to a broker
    parting: set[tuple[str, str | None]] = set()
    for cause in sorted(own, key=lambda one: (one.at_ms, one.what == STOP)):
        key = (cause.by, cause.client)
        if cause.what == GOOD_BYE:
            is_first = cause.client is not None and key not in parting and since.get(key, True)
            found += [cause] if is_first else []
            parting.add(key)
            continue
        parting.discard(key)
        if cause.what == STOP:
            found += [cause] if since.pop(key, True) else []
            continue
        ends = [_first(starts, (ANYBODY, cause.client), cause.at_ms + 1), _first(stops, key, cause.at_ms)]
        # What names nobody may be of any client of its process.
        names = {cause.client} if len(clients.get(cause.by, ())) > 1 else {cause.client, None}
        came_ms = _came_ms(cause, names, evidence, min((at for at in ends if at is not None), default=None))
        since[key] = came_ms is not None
        found += [replace(cause, at_ms=came_ms)] if came_ms is not None else []
    return found


def _clients_of(causes: Sequence[Cause], others: Iterable[Cause]) -> dict[str, set[str]]:
    clients: dict[str, set[str]] = {}
    for cause in (*(one for one in causes if one.what in (START, STOP)), *others):
        if cause.client is not None:
            clients.setdefault(cause.by, set()).add(cause.client)
    return clients


def _named(causes: Sequence[Cause], clients: Mapping[str, Collection[str]]) -> list[Cause]:
    only = {by: next(iter(those)) for by, those in clients.items() if len(those) == 1}
    return [
        replace(cause, client=only.get(cause.by)) if cause.what in (START, STOP) and cause.client is None else cause
        for cause in causes
    ]


def _times(causes: Iterable[Cause]) -> Times:
    times: Times = {}
    for cause in causes:
        times.setdefault((cause.by, cause.client), []).append(cause.at_ms)
    for those in times.values():
        those.sort()
    return times


def _first(times: Times, key: tuple[str, str | None], since_ms: int) -> int | None:
    those = times.get(key, [])
    at = bisect_left(those, since_ms)
    return those[at] if at < len(those) else None


def _came_ms(start: Cause, names: Collection[str | None], evidence: Times, until_ms: int | None) -> int | None:
    """Tell when it first reached a broker; where one lists it soon its start stays, and the listing tells the time."""
    joined = _first(evidence, (ANYBODY, start.client), start.at_ms - SECOND_MS + 1)
    if joined is not None and joined <= start.at_ms + STARTS_WITHIN_MS and (until_ms is None or joined <= until_ms):
        return start.at_ms
    seen = [_first(evidence, (start.by, client), start.at_ms) for client in names]
    known = [at for at in (joined, *seen) if at is not None and (until_ms is None or at <= until_ms)]
    return min(known, default=None)
