"""When queues of a group had no owner, or two: as steps over time. Pure: spans of holding in, steps out.

Spans can nest (a queue held by one member inside another's time), so they are swept, never paired.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Held:
    """Somebody had a queue from ``at`` until ``until``; None: has it still. ``queue`` is any key."""

    queue: int
    at: int
    until: int | None


@dataclass(frozen=True, slots=True)
class Step:
    """From ``since`` until ``until``, ``queues`` queues were so."""

    since: int
    until: int
    queues: int


def sweep(
    spans: Iterable[Held], *, since: int, until: int, orphans: Iterable[Held] = ()
) -> tuple[list[Step], list[Step]]:
    """Give the steps without owner and those with two or more, within a window.

    A queue has no owner from the end of its last span on, until somebody has it again; before its first span
    nothing is known of it but what ``orphans`` tell: times in which it was seen that nobody has it.
    """
    by_queue: dict[int, list[Held]] = {}
    for span in spans:
        by_queue.setdefault(span.queue, []).append(span)
    first_at = {queue: min(span.at for span in each) for queue, each in by_queue.items()}
    nobody = [(max(low, since), min(high, until)) for low, high in _never_owned(orphans, first_at, until)]
    two: list[tuple[int, int]] = []
    for each in by_queue.values():
        for low, high, owners in _counts(each, until):
            if owners == 0:
                nobody.append((max(low, since), high))
            elif owners > 1:
                two.append((max(low, since), high))
    return _pile(nobody), _pile(two)


def _never_owned(orphans: Iterable[Held], first_at: Mapping[int, int], until: int) -> Iterable[tuple[int, int]]:
    for orphan in orphans:
        yield orphan.at, min(until if orphan.until is None else orphan.until, first_at.get(orphan.queue, until))


def _counts(spans: list[Held], until: int) -> Iterable[tuple[int, int, int]]:
    edges = sorted(
        [(span.at, 1) for span in spans] + [(span.until, -1) for span in spans if span.until is not None],
    )
    owners = 0
    for number, (at, change) in enumerate(edges):
        owners += change
        following = edges[number + 1][0] if number + 1 < len(edges) else until
        if at < min(following, until):
            yield at, min(following, until), owners


def _pile(intervals: list[tuple[int, int]]) -> list[Step]:
    """Pile intervals up to steps."""
    changes: dict[int, int] = {}
    for low, high in intervals:
        if low < high:
            changes[low] = changes.get(low, 0) + 1
            changes[high] = changes.get(high, 0) - 1
    steps: list[Step] = []
    count = 0
    edges = sorted(edge for edge, change in changes.items() if change)
    for number, edge in enumerate(edges[:-1]):
        count += changes[edge]
        if count:
            steps.append(Step(edge, edges[number + 1], count))
    return steps
