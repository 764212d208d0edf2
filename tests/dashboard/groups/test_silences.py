"""A silence that is over leaves its doubt: what is told of the past is the same when somebody answers again."""

from __future__ import annotations

import pytest

from dashboard.clusters.models import Cluster
from dashboard.groups.ending import stories_of, tell_ended
from dashboard.groups.lane import Lane
from dashboard.groups.lanes import lanes_of
from dashboard.groups.lasting import lasting_handoffs
from dashboard.groups.lately import lately_of
from dashboard.groups.models import Group, Handoff, Member, MemberList, Round
from dashboard.groups.owned import shares_in
from dashboard.groups.recording.silences import MOST_SILENCES, kept
from dashboard.groups.silences import doubts_of
from dashboard.groups.story import time_bar
from rebalance_engine.events import Departure
from tests.dashboard.groups.test_owned import had, let_go
from tests.dashboard.groups.test_story import join, settle, turn
from tests.dashboard.story import T0, held, joined, left, listed, missed, seen, told, untold

pytestmark = pytest.mark.usefixtures("cluster", "watched")


@pytest.fixture
def watched(cluster: Cluster) -> None:
    """Its watcher tells."""
    Cluster.objects.filter(pk=cluster.pk).update(watched_at=T0 + 1_000_000)


def nobody_has_3() -> Round:
    """B let queue 3 go, as a look at 6 s shows; nobody took it, and C misses the look at 12 s."""
    settle()
    join()
    everybody_else(6_000)
    told(held("C", 6_000, []))
    turn(6_100)
    everybody_else(11_000)
    told(held("C", 11_000, []))
    everybody_else(12_000)
    told(missed("C", 12_000))
    turn(12_100)
    everybody_else(30_500)
    return Round.objects.get()


def everybody_else(at: int) -> None:
    told(held("A", at, [0, 1]), held("B", at, [2]))


def again(at: int, queues: list[int]) -> None:
    everybody_else(at)
    told(held("C", at, queues))
    turn(at + 100)


def lane_of(row: Round, at: int) -> Lane:
    return next(each for each in lanes_of(row, now=T0 + at) if each.queue_id == 3)


def told_everywhere(at: int) -> list[int | None]:
    """How long nobody had queue 3 at least, as the lane, the sentence, the overview and the time bar tell it."""
    row, group = Round.objects.get(), Group.objects.get()
    [share] = shares_in(row=row, now=T0 + at).values()
    lately = lately_of(groups=[group.pk], now=T0 + at)[group.pk]
    bar = time_bar(group=group, since=T0, now=T0 + at)
    steps = bar["none"]
    assert lately.unowned is not None and isinstance(steps, list)
    assert lately.is_open or lately.was_open
    nobody = sum(step.until - step.since for step in lately.nobody)
    assert nobody == lately.unowned.low
    return [
        lane_of(row, at).unowned[0],
        share.unowned.low,
        lately.unowned.low,
        sum(until - since for since, until, _ in steps),
    ]


def test_what_nobody_had_while_somebody_was_silent_stays_uncertain_when_he_answers_again() -> None:
    nobody_has_3()
    assert told_everywhere(30_500) == [5_000] * 4

    again(39_000, [])
    again(41_000, [])

    assert told_everywhere(41_000) == [7_000] * 4
    assert doubts_of(group=Group.objects.get().pk, since=T0) == [(T0 + 11_000, T0 + 39_000)]


def test_it_stays_uncertain_when_he_is_lost_and_comes_back_and_when_its_round_is_over() -> None:
    row = nobody_has_3()
    told(left("C", 35_000), joined("C", 40_000, low=39_000), held("C", 40_500, []))
    everybody_else(41_000)
    turn(41_100)
    told(held("C", 41_000, []))

    assert lane_of(row, 41_000).unowned[0] == 11_000  # 5 s, and 6 s since it is known to be gone
    again(50_000, [3])
    turn(50_100)
    tell_ended(group=row.group_id, now=T0 + 50_200)
    assert Handoff.objects.filter(queue_id=3).exists()
    assert lane_of(row, 60_000).unowned == (11_000, 49_990)


def test_who_left_cleanly_may_have_taken_a_queue_since_its_last_word() -> None:
    settle()
    join()
    told(held("A", 5_200, [0, 1]), held("B", 5_200, [2]), held("C", 5_200, []))
    turn(5_300)
    told(left("C", 8_000, Departure.UNREGISTERED))
    turn(8_100)
    everybody_else(12_000)
    turn(12_100)
    group = Group.objects.get()

    def surely_nobodys() -> tuple[list[list[int]], list[tuple[int, int]], int]:
        """As the time bar tells it, the overview and the sentence of the first round."""
        bar = time_bar(group=group, since=T0, now=T0 + 12_100)["none"]
        lately = lately_of(groups=[group.pk], now=T0 + 12_100)[group.pk]
        shares = shares_in(row=Round.objects.get(number=1), now=T0 + 12_100)
        assert isinstance(bar, list)
        return bar, [(step.since, step.until) for step in lately.nobody], max(x.unowned.low for x in shares.values())

    before = surely_nobodys()
    told(*seen("C", 20_000), joined("C", 20_000, low=19_000), held("C", 20_000, []))

    assert before == ([[T0 + 8_000, T0 + 12_000, 1]], [(T0 + 8_000, T0 + 12_000)], 4_000)
    assert doubts_of(group=group.pk, since=T0) == [(T0 + 5_200, T0 + 8_000)]


def test_what_a_round_left_to_nobody_lasts_no_longer_for_certain_because_somebody_answers_again() -> None:
    settle()
    told(held("A", 4_000, [0, 1]), held("B", 4_000, [2, 3]), left("B", 5_000, Departure.UNREGISTERED))
    turn(5_100)
    told(held("A", 6_000, []), left("A", 6_100, Departure.UNREGISTERED))
    turn(6_200)
    told(joined("C", 20_000, low=20_000), held("C", 20_000, []), missed("C", 21_000), held("C", 39_000, []))
    row = Round.objects.get(number=1)
    tell_ended(group=row.group_id, now=T0 + 39_500)

    found = lasting_handoffs(rounds=[row.pk], now=T0 + 40_000)

    assert sorted({each.low for each in found.values()}) == [
        13_900,
        14_900,
    ]  # not what A may have had in its last 100 ms


def both_have_3() -> Round:
    """C takes queue 3 exactly at 15 s, B has it still, and tells nothing from 12 s to 39 s."""
    settle()
    join()
    told(held("A", 12_000, [0, 1]), held("B", 12_000, [2, 3]), held("C", 12_000, []))
    had("C", 3, 15_000, None)
    told(missed("B", 13_000))
    told(held("A", 30_000, [0, 1]), held("C", 30_000, [3]))
    turn(30_100)
    return Round.objects.get()


def test_who_had_a_queue_before_and_after_a_silence_may_have_let_it_go_meanwhile() -> None:
    row = both_have_3()
    assert lane_of(row, 31_000).overlap[0] == 0
    told(held("B", 39_000, [2, 3]), held("A", 41_000, [0, 1]), held("B", 41_000, [2, 3]), held("C", 41_000, [3]))
    turn(41_100)

    [share] = shares_in(row=row, now=T0 + 42_000).values()
    lane = lane_of(row, 42_000)
    group = Group.objects.get()
    lately = lately_of(groups=[group.pk], now=T0 + 42_000)[group.pk]

    assert (lane.overlap[0], share.overlap.low, share.overlap.seen) == (2_000, 2_000, 27_000)
    assert lately.overlap is not None
    assert (lately.overlap.low, lately.was_open) == (2_000, True)
    let_go("B", 3, 50_000)
    turn(50_100)
    [story] = [each for each in stories_of(row) if each.queue.queue_id == 3]
    assert story.overlap is not None
    assert (story.overlap.low, story.overlap.high) == (26_000, 35_000)  # B had it by his own word, C as he told last


def test_a_look_that_shows_the_end_makes_nothing_certain_of_a_silence_before_it() -> None:
    row = both_have_3()
    told(held("B", 39_000, [2, 3]), held("C", 39_000, [3]))
    told(held("B", 45_000, [2, 3]), held("C", 45_000, [3]), held("A", 45_000, [0, 1]))
    told(held("B", 46_000, [2]), held("C", 46_000, [3]))
    turn(46_100)

    [story] = [each for each in stories_of(row) if each.queue.queue_id == 3]

    assert story.overlap is not None
    assert (story.overlap.low, story.overlap.high) == (6_000, 31_000)


def test_a_broker_that_tells_its_list_again_leaves_the_doubt_of_who_was_on_it() -> None:
    settle()
    told(listed(10, "A", "B"), untold(7_000, low=6_000), untold(8_000))
    assert doubts_of(group=Group.objects.get().pk, since=T0) == []  # it lasts

    told(listed(9_000, "A", "B"))
    told(listed(10_000, "A", "B"))

    assert MemberList.objects.get().silences == [[T0 + 6_000, T0 + 9_000]]
    assert doubts_of(group=Group.objects.get().pk, since=T0) == [(T0 + 6_000, T0 + 9_000)]
    assert doubts_of(group=Group.objects.get().pk, since=T0 + 9_000) == []


def test_who_is_lost_between_two_looks_may_have_taken_queues_since_the_last_one() -> None:
    settle()
    told(held("A", 4_000, [0]), held("B", 4_000, [2, 3]))
    told(left("B", 9_000, Departure.HEARTBEAT_EXPIRED))
    group = Group.objects.get().pk
    assert doubts_of(group=group, since=T0) == [(T0 + 4_000, T0 + 9_000)]

    told(joined("B", 12_000), held("B", 13_000, []))
    assert doubts_of(group=group, since=T0) == [(T0 + 4_000, T0 + 9_000)]
    told(left("B", 14_000, Departure.UNREGISTERED))
    assert doubts_of(group=group, since=T0) == [(T0 + 4_000, T0 + 9_000), (T0 + 13_000, T0 + 14_000)]


def test_looks_that_follow_each_other_and_what_is_told_twice_leave_no_doubt() -> None:
    settle()
    told(held("B", 1_000, [2, 3]), held("B", 2_000, [2, 3]))
    assert doubts_of(group=Group.objects.get().pk, since=T0) == []
    told(missed("B", 3_000), missed("B", 4_000))
    told(held("B", 5_000, [2, 3]))
    told(held("B", 5_000, [2, 3]))
    assert Member.objects.get(client_id="B").silences == [[T0 + 2_000, T0 + 5_000]]


def test_of_many_silences_the_oldest_are_one() -> None:
    times: list[list[int]] | None = None
    for at in range(MOST_SILENCES + 3):
        times = kept(times, 10 * at, 10 * at + 5)

    assert times is not None
    assert (len(times), times[0], times[-1]) == (MOST_SILENCES, [0, 35], [340, 345])
    assert kept(None, 5, 5) is None
