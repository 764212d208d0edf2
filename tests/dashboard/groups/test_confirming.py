"""Overlaps are told closer once the new owner was looked at again."""

from __future__ import annotations

import pytest

from dashboard.groups.confirming import groups_to_tell, reopen_confirmed
from dashboard.groups.ending import tell_ended
from dashboard.groups.lanes import lanes_of
from dashboard.groups.models import Group, Handoff, Round
from dashboard.groups.rebalancing import due_groups
from dashboard.groups.recording.held import LATE_MS
from tests.dashboard.groups.test_story import join, settle, turn, worst_at
from tests.dashboard.story import T0, held, told

pytestmark = pytest.mark.usefixtures("cluster")


@pytest.fixture
def group() -> Group:
    """C takes queue 3 at 6.5 s; B has it until 8 s at least, as a look at 9 s shows, after which the round is told."""
    settle()
    join()
    told(held("A", 6_000, [0, 1]), held("B", 6_000, [2, 3]), held("C", 6_500, [3]))
    turn(6_600)
    told(held("A", 8_000, [0, 1]), held("B", 8_000, [2, 3]), held("B", 9_000, [2]))
    turn(9_100)
    group = Group.objects.get(name="g")
    tell_ended(group=group.pk, now=T0 + 9_200)
    return group


def overlap() -> tuple[int | None, int | None]:
    row = Handoff.objects.get(queue_id=3, to_client="C")
    return row.overlap_low, row.overlap_high


def test_what_the_new_owner_tells_later_bounds_the_overlap_closer(group: Group) -> None:
    assert Round.objects.get().told_at is not None
    assert overlap()[0] == 0, "C told nothing since it took the queue"
    assert not groups_to_tell(now=T0 + 9_300).exists()

    told(held("C", 12_000, [3]))
    assert list(groups_to_tell(now=T0 + 12_100)) == [group.pk]
    assert group.pk in due_groups(now=T0 + 12_100)
    tell_ended(group=group.pk, now=T0 + 12_200)

    assert overlap()[0] == 1_500
    [lane] = [lane for lane in lanes_of(Round.objects.get(), now=T0 + 13_000) if lane.queue_id == 3]
    assert lane.overlap == overlap() == worst_at(13_000)["overlap"]
    assert not groups_to_tell(now=T0 + 12_300).exists(), "once is enough"


def test_a_look_that_the_telling_knew_changes_nothing(group: Group) -> None:
    told(held("C", 9_150, [3]))
    Round.objects.update(told_at=T0 + 9_200)
    assert reopen_confirmed(group=group.pk, now=T0 + 9_300) == 0
    assert Round.objects.get().told_at is not None


def test_who_let_go_meanwhile_confirms_it_as_well(group: Group) -> None:
    told(held("C", 12_000, [3]), held("C", 13_000, []), held("A", 13_000, [0, 1, 3]))
    assert reopen_confirmed(group=group.pk, now=T0 + 13_100) == 1
    tell_ended(group=group.pk, now=T0 + 13_200)
    assert overlap()[0] == 1_500


def test_what_ended_long_ago_stays_as_it_was_told(group: Group) -> None:
    told(held("C", 12_000, [3]))
    assert not groups_to_tell(now=T0 + 10_000 + LATE_MS, group=group.pk).exists()
