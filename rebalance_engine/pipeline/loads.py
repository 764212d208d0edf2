"""How evenly a group's queues were spread over its members, day by day, weighted by time. Plain Python."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from rebalance_engine.model import MessageQueue
from rebalance_engine.pipeline.sweep import Hold

DAY_MS = 86_400_000


@dataclass(frozen=True, slots=True)
class MemberLoad:
    """One member's day.

    Attributes:
        present_ms: from its first take or coming to its last release or going.
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


def loads_of(
    holds: Mapping[MessageQueue, Sequence[Hold]], presence: Mapping[str, tuple[int, int]]
) -> tuple[list[MemberLoad], list[GroupLoad]]:
    """Measure a group's days.

    Args:
        presence: from when until when each member was there, as far as lines tell; its holds count besides.
    """
    there = _presence(holds, presence)
    steps: dict[int, list[tuple[str, int]]] = {}
    for those in holds.values():
        for hold in those:
            steps.setdefault(hold.from_ms, []).append((hold.client, 1))
            steps.setdefault(hold.until_ms, []).append((hold.client, -1))
    edges = sorted(steps.keys() | {at for span in there.values() for at in span} | _midnights(there))
    load = dict.fromkeys(there, 0)
    member: dict[tuple[int, str], list[int]] = {}
    group: dict[int, list[float]] = {}
    for begin, end in pairwise(edges):
        for client, step in steps.get(begin, ()):
            load[client] += step
        _add_up(begin, end, load, there, member, group)
    members = [MemberLoad(day, client, *sums) for (day, client), sums in sorted(member.items())]
    groups = [GroupLoad(day, int(lasted), weighted / lasted) for day, (lasted, weighted) in sorted(group.items())]
    return members, groups


def _presence(
    holds: Mapping[MessageQueue, Sequence[Hold]], presence: Mapping[str, tuple[int, int]]
) -> dict[str, tuple[int, int]]:
    there = dict(presence)
    for those in holds.values():
        for hold in those:
            begin, end = there.get(hold.client, (hold.from_ms, hold.until_ms))
            there[hold.client] = (min(begin, hold.from_ms), max(end, hold.until_ms))
    return there


def _midnights(there: Mapping[str, tuple[int, int]]) -> set[int]:
    if not there:
        return set()
    first, last = min(begin for begin, _ in there.values()), max(end for _, end in there.values())
    return set(range((first // DAY_MS + 1) * DAY_MS, last, DAY_MS))


def _add_up(
    begin: int,
    end: int,
    load: Mapping[str, int],
    there: Mapping[str, tuple[int, int]],
    member: dict[tuple[int, str], list[int]],
    group: dict[int, list[float]],
) -> None:
    day = begin // DAY_MS * DAY_MS
    lasted = end - begin
    present = [client for client, (came, went) in there.items() if came <= begin and end <= went]
    for client in present:
        sums = member.setdefault((day, client), [0, 0, 0])
        sums[0] += lasted
        sums[1] += lasted * (load[client] == 0)
        sums[2] += lasted * load[client]
    total = sum(load[client] for client in present)
    if total:
        sums_of_group = group.setdefault(day, [0, 0.0])
        sums_of_group[0] += lasted
        sums_of_group[1] += lasted * max(load[client] for client in present) * len(present) / total
