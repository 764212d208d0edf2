"""What is uncertain of handoffs because somebody did not answer: nobody knows which queues that member had meanwhile.

Or because NameServers disagree on the queues: until they say the same, nobody knows which are there.

What a look saw is stored as it was seen, and it becomes known later who was silent then. So handoffs are told by this
wherever they are read: lanes, tables, sums and figures say the same.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence

from dashboard.groups.bands import FOREVER, Step, without
from dashboard.groups.models import Group, Handoff
from dashboard.groups.owned import dispute_of
from dashboard.groups.silences import doubts_of_each, told_until_of_each

Doubts = Sequence[tuple[int, int]]
NO_DOUBTS: Doubts = ()


def all_doubts_of(*, groups: Collection[int], since: int) -> dict[int, Doubts]:
    """Say from when to when not everybody answered, by group: who has left since, and who is silent still.

    And since when NameServers disagree on a group's queues.
    """
    found: dict[int, Doubts] = {
        group: list(doubts) for group, doubts in doubts_of_each(groups=groups, since=since).items()
    }
    for group, told_until in told_until_of_each(groups=list(groups)).items():
        found[group] = [*found.get(group, NO_DOUBTS), (told_until, FOREVER)]
    for row in Group.objects.filter(pk__in=groups, disputed_since__isnull=False).only("disputed_since"):
        found[row.pk] = [*found.get(row.pk, NO_DOUBTS), *dispute_of(row)]
    return found


def surely(since: int, lasted: int, doubts: Doubts, *, until: int | None = None) -> int:
    """Give how much of a time, in ms, is certain: what lies in no doubt.

    With ``until`` the time lies somewhere between the two, in parts, as where a queue was in no route meanwhile: no
    more than all doubts between them is uncertain of it.
    """
    end = since + lasted
    doubts = [(low, high) for low, high in doubts if low < max(end, until or end) and high > since]
    if until is None or until <= end:
        return _length(without([(since, end)], doubts))
    return max(0, lasted - (until - since - _length(without([(since, until)], doubts))))


def _length(intervals: Iterable[tuple[int, int]]) -> int:
    return sum(high - low for low, high in intervals)


def doubted(handoffs: Iterable[Handoff], *, group: int) -> list[Handoff]:
    """Give stored handoffs of a group as they are known now. The rows are changed, and not written."""
    return doubted_of_each([(group, row) for row in handoffs])


def doubted_of_each(handoffs: Iterable[tuple[int, Handoff]]) -> list[Handoff]:
    """Give the same of handoffs of several groups, each with its own, in their order."""
    rows = list(handoffs)
    uncertain = [each for each in rows if each[1].dropped_at is not None and (each[1].unowned_low or each[1].pause_low)]
    times = [row.dropped_at for _, row in uncertain if row.dropped_at is not None]
    if not times:
        return [row for _, row in rows]
    doubts = all_doubts_of(groups={group for group, _ in uncertain}, since=min(times))
    return [less(row, doubts[group]) if group in doubts else row for group, row in rows]


def less(row: Handoff, doubts: Doubts) -> Handoff:
    """Give a stored handoff without what is uncertain of it. The row is changed, and not written."""
    if row.dropped_at is None:
        return row
    since = row.dropped_at if row.dropped_high is None else row.dropped_high
    if row.unowned_low:
        row.unowned_low = surely(since, row.unowned_low, doubts, until=row.taken_low)
    if row.pause_low:
        row.pause_low = surely(since, row.pause_low, doubts)
    return row


def certain_steps(steps: Iterable[Step], doubts: Doubts) -> list[Step]:
    """Leave out of steps of the time bar the times in which not everybody answered."""
    return [Step(low, high, step.queues) for step in steps for low, high in without([(step.since, step.until)], doubts)]


def merged(doubts: Doubts, *, since: int, until: int) -> list[list[int]]:
    """Give the times of doubts within a window, in order, apart from each other; for the browser."""
    found: list[list[int]] = []
    for low, high in sorted(doubts):
        if high <= since or low >= until:
            continue
        if found and low <= found[-1][1]:
            found[-1][1] = max(found[-1][1], min(high, until))
        else:
            found.append([max(low, since), min(high, until)])
    return found
