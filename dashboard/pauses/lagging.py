"""How far a group was behind over time, all brokers together, and the most of it after each round."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from dashboard.groups.models import Group, LagStep
from dashboard.groups.models.lag import STEP_MS
from dashboard.groups.unrouted import ends_of_brokers

MOST_STEPS = 20_000
MOST_POINTS = 1_500
GONE = -1  # instead of a lag: the broker has no queue any more
NONE: Mapping[str, int] = {}
AFTER_MS = 60_000  # what a round makes wait has piled up by then

Point = tuple[int, int | None]  # since when, how many messages behind; None is unknown


@dataclass(frozen=True, slots=True)
class Peak:
    """The most messages behind at one broker in some ten seconds; ``queue`` was the worst, by ``queue_lag``."""

    at: int
    broker: str
    lag: int
    queue: str
    queue_lag: int | None


@dataclass(frozen=True, slots=True)
class LagOverTime:
    """A window: each point's value holds until the next one; the highest peaks; whether older steps were left out."""

    points: tuple[Point, ...]
    peaks: tuple[Peak, ...]
    is_whole: bool

    @property
    def is_known(self) -> bool:
        """Whether it is known of any time in the window."""
        return any(value is not None for _at, value in self.points)

    def at(self, instant: int) -> int | None:
        """Give how far the group was behind at an instant; None is unknown."""
        found = bisect_right(self.points, instant, key=lambda point: point[0])
        return self.points[found - 1][1] if found else None

    def most(self, since: int, until: int) -> int | None:
        """Give the most between two instants, as far as is known; None where nothing is."""
        first = bisect_left(self.points, since, key=lambda point: point[0])
        last = bisect_right(self.points, until, key=lambda point: point[0])
        known = [value for _at, value in self.points[first:last] if value is not None]
        start = self.at(since)
        return max([*known, *([] if start is None else [start])], default=None)


def lag_over(*, group: Group, since: int, until: int, peaks: int = 20) -> LagOverTime:
    """Read a window; each broker's value at its beginning is that of its last step before."""
    shown = LagStep.objects.filter(group=group, began_at__gte=since, began_at__lte=until).order_by("-began_at", "pk")
    rows = list(shown[: MOST_STEPS + 1])
    is_whole = len(rows) <= MOST_STEPS
    rows = rows[:MOST_STEPS][::-1]
    brokers = sorted(set(LagStep.objects.filter(group=group).values_list("broker", flat=True)))
    begins = since if is_whole else rows[0].began_at
    before = [_last_before(group, broker, begins) for broker in brokers] if is_whole else []
    highest = sorted((row for row in rows if row.most), key=lambda row: (-(row.most or 0), row.at))[:peaks]
    known = [*(row for row in before if row is not None), *rows]
    points = add_up(brokers, known, begins, until, ends=ends_of_brokers(group=group))
    return LagOverTime(tuple(thinned(points, MOST_POINTS)), tuple(map(_peak, highest)), is_whole)


def add_up(
    brokers: Sequence[str], steps: Sequence[LagStep], begins: int, until: int, *, ends: Mapping[str, int] = NONE
) -> list[Point]:
    """Add brokers up, between two times: unknown until each has told, and while any does not.

    Of those that ``ends`` names no route has a queue any more since then: they count until then.
    """
    changes = [
        (at, index, broker, lag) for index, broker, at, lag in _changes(steps) if at <= ends.get(broker, max(at, until))
    ]
    changes += [(at, 2 * len(steps), broker, GONE) for broker, at in ends.items() if at <= until]
    now: dict[str, int | None] = dict.fromkeys(brokers)
    points: list[Point] = []
    for when, _index, broker, lag in sorted(changes, key=lambda change: change[:2]):
        at = min(max(when, begins), until)
        if lag == GONE:
            now.pop(broker, None)
        else:
            now[broker] = lag
        known = [value for value in now.values() if value is not None]
        total = sum(known) if known and len(known) == len(now) else None
        if points and points[-1][0] == at:
            points.pop()
        if not points or points[-1][1] != total:
            points.append((at, total))
    return points


def thinned(points: Sequence[Point], most: int) -> Iterable[Point]:
    """Give at most so many points: of each stretch of time its highest, any that is unknown, and how it ends."""
    if len(points) <= most:
        return points
    length = (points[-1][0] - points[0][0]) // (most // 3) + 1
    stretches: dict[int, list[Point]] = {}
    for point in points:
        stretches.setdefault((point[0] - points[0][0]) // length, []).append(point)
    kept: list[Point] = []
    for stretch in stretches.values():
        unknown = [point for point in stretch if point[1] is None][:1]
        highest = max(stretch, key=lambda point: -1 if point[1] is None else point[1])
        kept.extend(sorted({*unknown, highest, stretch[-1]}, key=lambda point: point[0]))
    return kept


def _changes(steps: Iterable[LagStep]) -> Iterable[tuple[int, str, int, int | None]]:
    """Give each change in its order: the most of a step at its time, what it ended with at its end."""
    for index, row in enumerate(steps):
        yield 2 * index, row.broker, row.at, row.most
        if row.lag != row.most:
            yield 2 * index + 1, row.broker, row.began_at + STEP_MS - 1, row.lag


def _last_before(group: Group, broker: str, at: int) -> LagStep | None:
    return LagStep.objects.filter(group=group, broker=broker, began_at__lt=at).order_by("-began_at").first()


def _peak(row: LagStep) -> Peak:
    return Peak(row.at, row.broker, row.most or 0, row.worst_queue, row.worst_lag)
