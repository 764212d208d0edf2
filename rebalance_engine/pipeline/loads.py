"""How evenly a group's queues were spread over its members, day by day, weighted by time. Plain Python."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from rebalance_engine.model import MessageQueue
from rebalance_engine.pipeline.sweep import Hold, count_in

DAY_MS = 86_400_000


@dataclass(frozen=True, slots=True)
class MemberLoad:
    """One member's day.

    Attributes:
        present_ms: from each coming to its going.
        idle_ms: of these, how long it held nothing.
        queue_ms: the sum over its queues of how long it held each.
    """

    day_ms: int
    client: str
    present_ms: int
    idle_ms: int
    queue_ms: int


@dataclass(frozen=True, slots=True)
class GroupLoad:
    """One group's day: over the time in which somebody held something.

    Attributes:
        max_over_mean: the largest member's load over the mean load, weighted by time; 1.0 is even.
    """

    day_ms: int
    observed_ms: int
    max_over_mean: float


Presence = Mapping[str, Sequence[tuple[int, int]]]


def loads_of(
    holds: Mapping[MessageQueue, Sequence[Hold]], presence: Presence
) -> tuple[list[MemberLoad], list[GroupLoad]]:
    """Measure a group's days.

    Args:
        presence: from when until when each member was there, each time, as far as lines tell; its holds count besides,
            and of a member of which nothing else is told the time between them.
    """
    there = _presence(holds, presence)
    steps = _steps((hold.client, hold.from_ms, hold.until_ms) for those in holds.values() for hold in those)
    turns = _steps((client, begin, end) for client, spans in there.items() for begin, end in spans)
    edges = sorted(steps.keys() | turns.keys() | _midnights(there))
    load: dict[str, int] = {}
    here: dict[str, int] = {}
    member: dict[tuple[int, str], list[int]] = {}
    group: dict[int, list[float]] = {}
    for begin, end in pairwise(edges):
        for counted, more in ((load, steps), (here, turns)):
            for client, step in more.get(begin, ()):
                count_in(counted, client, step)
        _add_up(begin, end, {client: load.get(client, 0) for client in here}, member, group)
    members = [MemberLoad(day, client, *sums) for (day, client), sums in sorted(member.items())]
    groups = [GroupLoad(day, int(lasted), weighted / lasted) for day, (lasted, weighted) in sorted(group.items())]
    return members, groups


def _steps(spans: Iterable[tuple[str, int, int]]) -> dict[int, list[tuple[str, int]]]:
    steps: dict[int, list[tuple[str, int]]] = {}
    for client, begin, end in spans:
        steps.setdefault(begin, []).append((client, 1))
        steps.setdefault(end, []).append((client, -1))
    return steps


def _presence(holds: Mapping[MessageQueue, Sequence[Hold]], presence: Presence) -> dict[str, list[tuple[int, int]]]:
    there = {client: list(spans) for client, spans in presence.items()}
    for those in holds.values():
        for hold in those:
            begin, end = hold.from_ms, hold.until_ms
            if hold.client in presence:
                there[hold.client].append((begin, end))
            else:
                ((first, last),) = there.get(hold.client, [(begin, end)])
                there[hold.client] = [(min(first, begin), max(last, end))]
    return there


def _midnights(there: Presence) -> set[int]:
    edges = [at for spans in there.values() for span in spans for at in span]
    return set(range((min(edges) // DAY_MS + 1) * DAY_MS, max(edges), DAY_MS)) if edges else set()


def _add_up(
    begin: int,
    end: int,
    load: Mapping[str, int],
    member: dict[tuple[int, str], list[int]],
    group: dict[int, list[float]],
) -> None:
    """Add what the members that are there, by their loads, had for a while."""
    day = begin // DAY_MS * DAY_MS
    lasted = end - begin
    for client, queues in load.items():
        sums = member.setdefault((day, client), [0, 0, 0])
        sums[0] += lasted
        sums[1] += lasted * (queues == 0)
        sums[2] += lasted * queues
    total = sum(load.values())
    if total:
        sums_of_group = group.setdefault(day, [0, 0.0])
        sums_of_group[0] += lasted
        sums_of_group[1] += lasted * max(load.values()) * len(load) / total
