"""Time in which nobody watched a cluster: nothing is certain in it, of no owner and of two."""

from __future__ import annotations

import pytest

from dashboard.clusters.models import Cluster, Watch
from dashboard.groups.lanes import lanes_of
from dashboard.groups.lately import lately_of
from dashboard.groups.models import Group, Member, MemberList, Round
from dashboard.groups.owned import shares_in
from dashboard.groups.recording.unwatched import BREAK_MS, note_break, note_listed
from dashboard.groups.silences import doubts_of
from dashboard.groups.story import time_bar
from rebalance_engine.events import Departure
from tests.dashboard.groups.test_story import settle, turn
from tests.dashboard.story import T0, held, left, listed, told

pytestmark = pytest.mark.usefixtures("cluster")


def watched_until(at: int, *, lists: int | None = None) -> None:
    Cluster.objects.update(watched_at=T0 + at)
    told_at = None if lists is None else T0 + lists
    Watch.objects.update_or_create(cluster=Cluster.objects.get(), defaults={"at": T0 + at, "lists_at": told_at})


def back(at: int) -> int | None:
    """A watcher comes."""
    return note_break(cluster=Cluster.objects.get(), now=T0 + at)


def all_listed(at: int, *, resumed: int | None) -> None:
    """It was told all lists."""
    assert resumed is not None
    note_listed(cluster=Cluster.objects.get(), resumed=resumed, now=T0 + at)
    watched_until(at, lists=at)


def nobody_is_left() -> Round:
    """A and B stop at 5 s, and nobody has a queue since."""
    settle()
    told(left("A", 5_000, Departure.UNREGISTERED), left("B", 5_000, Departure.UNREGISTERED), listed(5_000))
    turn(5_100)
    return Round.objects.get()


def told_everywhere(row: Round, at: int) -> list[int]:
    """How long all four queues had nobody at least: lanes, the sentence, the overview and the time bar."""
    lately = lately_of(groups=[row.group_id], now=T0 + at)[row.group_id].unowned
    steps = time_bar(group=row.group, since=T0, now=T0 + at)["none"]
    assert lately is not None
    assert isinstance(steps, list)
    return [
        sum(lane.unowned[0] or 0 for lane in lanes_of(row, now=T0 + at)),
        sum(share.unowned.low for share in shares_in(row=row, now=T0 + at).values()),
        lately.low,
        sum((until - since) * queues for since, until, queues in steps),
    ]


def test_what_nobody_had_is_unknown_of_the_time_in_which_nobody_watched() -> None:
    row = nobody_is_left()
    watched_until(20_000, lists=20_000)
    resumed = back(80_000)
    told(listed(83_000))
    all_listed(84_000, resumed=resumed)

    assert MemberList.objects.get().silences == [[T0 + 20_000, T0 + 84_000]]
    assert told_everywhere(row, 84_000) == [4 * 15_000] * 4
    watched_until(94_000, lists=94_000)
    assert told_everywhere(row, 94_000) == [4 * 25_000] * 4


def test_lists_that_changed_since_were_told_then() -> None:
    nobody_is_left()
    watched_until(20_000, lists=20_000)
    resumed = back(80_000)
    told(listed(83_000, "C"))
    all_listed(84_000, resumed=resumed)

    assert doubts_of(group=Group.objects.get().pk, since=T0 + 6_000) == [(T0 + 20_000, T0 + 83_000)]


def test_that_two_had_a_queue_is_unknown_of_it_too_until_each_tells_again() -> None:
    settle()
    told(held("A", 5_000, [0, 1, 2]), held("B", 5_000, [2, 3]))
    turn(5_100)
    group = Group.objects.get()
    watched_until(5_000, lists=5_000)
    resumed = back(65_000)
    told(held("A", 66_000, [0, 1, 2]), held("B", 68_000, [2, 3]), listed(67_000, "A", "B"))
    all_listed(69_000, resumed=resumed)
    told(held("A", 70_000, [0, 1, 2]), held("B", 70_000, [2, 3]))
    turn(70_100)
    watched_until(70_000, lists=70_000)
    lately = lately_of(groups=[group.pk], now=T0 + 70_000)[group.pk].overlap

    assert lately is not None
    assert lately.low <= 2_100
    assert lately.high >= 65_000
    silences = dict(Member.objects.values_list("client_id", "silences"))
    assert silences == {"A": [[T0 + 5_000, T0 + 66_000]], "B": [[T0 + 5_000, T0 + 68_000]]}


def test_a_moment_without_watcher_is_no_break_nor_is_the_first_one() -> None:
    nobody_is_left()
    Cluster.objects.update(watched_at=None)
    assert back(90_000) is None
    watched_until(20_000, lists=20_000)
    assert back(20_000 + BREAK_MS) is None
    assert MemberList.objects.get().silences is None


def test_a_watcher_that_dies_before_all_told_leaves_one_silence() -> None:
    settle()
    watched_until(5_000, lists=5_000)
    back(65_000)
    back(95_000)

    [times] = {str(each) for each in Member.objects.values_list("silences", flat=True)}
    assert times == str([[Member.objects.values_list("held_seen_at", flat=True)[0], T0 + 95_000]])
    assert doubts_of(group=Group.objects.get().pk, since=T0 + 6_000)[-1][1] == T0 + 95_000
