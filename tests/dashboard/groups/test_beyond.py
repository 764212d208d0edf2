from __future__ import annotations

from dataclasses import replace

import pytest
from django.template.loader import render_to_string
from django.test import Client

from dashboard.clusters.models import Queue
from dashboard.groups.beyond import (
    BESIDE,
    CUT,
    ELSEWHERE,
    MOST_SHOWN,
    OLDER,
    UNHELD,
    Beyond,
    beyond,
    count_unmoved,
    shown,
)
from dashboard.groups.lane import Lane
from dashboard.groups.lanes import lanes_of
from dashboard.groups.models import Group, Round
from dashboard.groups.owned import shares_in
from dashboard.groups.paragraph import sentence_of
from dashboard.groups.shares import Lasted, Share, Times
from dashboard.groups.story import worst
from dashboard.people.roles import Role
from tests.dashboard.groups.test_story import settle, turn
from tests.dashboard.persons import person
from tests.dashboard.story import T0, held, joined, route, seen, told

pytestmark = pytest.mark.usefixtures("cluster")


def never_held() -> Group:
    """Nobody ever has queue 3; C joins, then D."""
    told(route(4), *seen("A"), *seen("B"), held("A", 10, [0, 1]), held("B", 10, [2]))
    turn(20)
    for client, at in (("C", 5_000), ("D", 60_000)):
        told(joined(client, at, low=at - 500), held(client, at + 100, []))
        turn(at + 200)
        told(held("A", at + 1_000, [0]), held("B", at + 1_000, [2]), held("C", at + 1_500, [1]))
        told(*([held("D", at + 1_500, [])] if client == "D" else []))
        turn(at + 1_600)
    return Group.objects.get()


def rest_of(number: int, at: int) -> tuple[list[Beyond], str]:
    """Give a round's queues without a handoff, and its sentence."""
    row = Round.objects.get(number=number)
    shares = shares_in(row=row, now=T0 + at)
    lanes = lanes_of(row, now=T0 + at, shares=shares)
    rest = beyond(shares=shares, lanes=lanes)
    return rest, sentence_of(row, {**worst(lanes, shares), **count_unmoved(rest)}, now=T0 + at)


def test_a_queue_that_nobody_ever_had_is_said_to_be_that_in_every_round() -> None:
    group = never_held()

    for number in range(1, Round.objects.filter(group=group).count() + 1):
        rest, sentence = rest_of(number, 70_000)

        assert [(each.queue_id, each.why) for each in rest] == [(3, (UNHELD,))]
        assert rest[0].unowned[0] > 0
        which = "It" if "1 queue had no owner" in sentence else "1 of them"
        assert f"{which} has no handoff in this round." in sentence
        assert rest[0].times.nobody[0][0] < rest[0].times.nobody[0][1]


def test_each_queue_of_the_figures_has_a_handoff_or_a_row_that_says_why_not(client: Client) -> None:
    group = never_held()
    client.force_login(person(Role.VIEWER))

    page = client.get(f"/groups/{group.pk}/rounds/1/").content.decode()
    answer = client.get(f"/api/v1/groups/{group.pk}/rounds/1").json()

    assert "1 queue of which no handoff tells, and why" in page
    assert "nobody is known to have had it by then, ever" in page
    handed = {row["queue_id"] for row in client.get(f"/api/v1/groups/{group.pk}/rounds/1/moves").json()["rows"]}
    assert (answer["beyond_count"], [row["queue_id"] for row in answer["beyond"]]) == (1, [3])
    assert handed & {3} == set() and answer["unowned_unmoved_queues"] == 1


def test_two_that_had_a_queue_before_the_round_are_told_of_without_a_handoff() -> None:
    told(route(4), *seen("A"), *seen("B"), held("A", 10, [0, 1, 2]), held("B", 10, [2, 3]))
    turn(20)
    told(joined("C", 5_000, low=4_000), held("C", 5_100, []), held("A", 5_200, [0, 1, 2]), held("B", 5_200, [2, 3]))
    turn(5_300)

    rest, sentence = rest_of(1, 5_300)

    assert [(each.queue_id, each.overlap, each.why) for each in rest] == [(2, (5_190, None), (CUT,))]
    assert "1 queue had two owners since before it." in sentence


@pytest.mark.parametrize(
    ("share", "why"),
    [
        (Share(Lasted(1, 1, 1), Lasted(), is_older=True), (OLDER,)),
        (Share(Lasted(1, 1, 1), Lasted()), (ELSEWHERE,)),
        (Share(Lasted(0, 0, 9), Lasted(2, 2, 2)), (ELSEWHERE, BESIDE)),
        (Share(Lasted(), Lasted(0, 0, 9), is_since_ever=True), (CUT,)),
    ],
)
def test_each_has_its_reason_in_words(share: Share, why: tuple[str, ...]) -> None:
    pk = settle().cluster.topics.get(name="orders").queues.get(queue_id=0).pk

    [row] = beyond(shares={pk: share}, lanes=[])

    assert row.why == why
    assert row.reasons == list(why)
    is_older = why == (OLDER,)
    assert count_unmoved([row]) == {
        "unowned_unmoved": is_older,
        "unowned_untold": not is_older and bool(row.unowned[0]),
    }


def test_what_is_only_possible_lies_in_the_time_of_which_it_has_its_figure() -> None:
    told(route(4))
    [pk, *_others] = Queue.objects.order_by("queue_id").values_list("pk", flat=True)
    times = Times(perhaps_nobody=((T0 - 8_000, T0 + 149),), perhaps_two=((T0 - 8_000, T0 + 90), (T0 + 400, T0 + 900)))
    share = Share(Lasted(0, 149, 149), Lasted(0, 0, 190), times=times, within=(T0, T0 + 500))

    def times_of(share: Share) -> Times:
        [row] = beyond(shares={pk: share}, lanes=[])
        return row.times

    drawn = times_of(share)
    assert drawn.perhaps_nobody == ((T0, T0 + 149),)
    assert drawn.perhaps_two == ((T0, T0 + 90), (T0 + 400, T0 + 500))
    older = replace(share, unowned=Lasted(100, 149, 149), is_older=True, is_since_ever=True)
    assert times_of(older) == times  # they have no upper bound: that it began before is said


def test_the_time_of_what_may_have_had_nobody_before_the_round_too_is_said_to_be_of_the_round() -> None:
    told(route(4))
    [pk, *_others] = Queue.objects.order_by("queue_id").values_list("pk", flat=True)
    times = Times(nobody=((T0 + 200, T0 + 500),), perhaps_nobody=((T0 - 19_000, T0 + 500),))
    share = Share(Lasted(300, 500, 500), Lasted(), times=times, within=(T0, T0 + 500))

    def row_of(share: Share) -> Beyond:
        [row] = beyond(shares={pk: share}, lanes=[])
        return row

    begun_in_it = replace(times, perhaps_nobody=((T0 + 100, T0 + 500),))
    assert row_of(share).is_of_round
    assert "of this round" in render_to_string("groups/_beyond.html", shown([row_of(share)]))
    assert not row_of(replace(share, times=begun_in_it)).is_of_round
    assert not row_of(replace(share, is_older=True)).is_of_round  # that has no upper bound
    assert not row_of(replace(share, unowned=Lasted(0, 500, 500))).is_of_round


def test_a_page_shows_the_first_and_counts_all() -> None:
    rows = [Beyond("orders", "east", number, (1, 1), (0, 0), False, False, ()) for number in range(MOST_SHOWN + 5)]

    assert shown(rows) == {"beyond": rows[:MOST_SHOWN], "beyond_count": MOST_SHOWN + 5}


def test_who_had_no_owner_and_was_not_handed_over_stood_still_at_least_so_long() -> None:
    shares = {1: Share(Lasted(5_000, 5_500, 6_000), Lasted()), 2: Share(Lasted(0, 0, 9_000), Lasted())}

    found = worst([], shares)

    assert (found["pause"], found["pause_queues"], found["pause_unknown"]) == ((5_000, None), 1, 0)


@pytest.mark.parametrize(("overlap", "rows"), [((0, 0), [((0, 0), (7, None), (CUT,))]), ((0, 9), []), ((3, 9), [])])
def test_what_two_had_before_the_round_is_told_of_a_queue_that_was_handed_over_in_it_too(
    overlap: tuple[int, int], rows: list[object]
) -> None:
    pk = settle().cluster.topics.get(name="orders").queues.get(queue_id=0).pk
    share = Share(Lasted(4, 5, 6), Lasted(2, 2, 2), is_cut=True, overlap_least=7)
    lane = Lane("orders", "east", 0, "A", "B", T0, T0 + 5, None, (4, 6), overlap, is_waiting=False)

    found = beyond(shares={pk: share}, lanes=[lane])

    assert [(row.unowned, row.overlap, row.why) for row in found] == rows
    assert count_unmoved(found) == {"unowned_unmoved": 0, "unowned_untold": 0}


def test_two_others_who_had_a_queue_that_a_handoff_tells_two_owners_of_have_a_row() -> None:
    pk = settle().cluster.topics.get(name="orders").queues.get(queue_id=0).pk
    both = ((T0, T0 + 10), (T0 + 50, T0 + 57))
    share = Share(Lasted(), Lasted(17, 17, 19), times=Times(two=both, perhaps_two=both))
    lane = Lane("orders", "east", 0, "A", "B", T0 + 10, T0, None, (0, 0), (10, 12), is_waiting=False)

    [row] = beyond(shares={pk: share}, lanes=[lane])

    assert (row.overlap, row.why, row.is_handed, row.times.two) == ((7, 7), (BESIDE,), True, both[1:])
    more = replace(lane, taken_at=T0 + 51, dropped_at=T0 + 57, taken=(T0 + 50, None), overlap=(4, 8))
    assert beyond(shares={pk: share}, lanes=[lane, more]) == []


def test_a_queue_with_a_handoff_has_a_row_of_what_the_handoff_does_not_tell() -> None:
    pk = settle().cluster.topics.get(name="orders").queues.get(queue_id=0).pk
    place = ("orders", "east", 0)
    two = Lane(*place, "A", "B", 30, 20, None, (0, 0), (10, 10), is_waiting=False)
    gap = replace(two, dropped_at=20, taken_at=30, unowned=(10, 10), overlap=(0, 0))
    times = Times(nobody=((60, 65),), perhaps_nobody=((50, 70),), two=((20, 30),))
    share = Share(Lasted(5, 20, 20), Lasted(10, 10, 10), times=times)
    perhaps = replace(share, unowned=Lasted(0, 0, 20))

    [row] = beyond(shares={pk: share}, lanes=[two])
    [likely] = beyond(shares={pk: perhaps}, lanes=[two])

    assert (row.unowned, row.overlap, row.why, row.is_handed) == ((5, 20), (0, 0), (ELSEWHERE,), True)
    assert (row.times.nobody, row.times.two) == (((60, 65),), ())
    assert (likely.unowned, likely.is_perhaps_gap) == ((0, 20), True)
    assert count_unmoved([row]) == {"unowned_unmoved": 0, "unowned_untold": 0}, "it has a handoff"
    assert beyond(shares={pk: share}, lanes=[two, gap]) == []


def test_what_is_certain_of_a_queue_no_handoff_tells_that_says_perhaps() -> None:
    pk = settle().cluster.topics.get(name="orders").queues.get(queue_id=0).pk
    certain, perhaps = Share(Lasted(4, 9, 20), Lasted()), Share(Lasted(0, 9, 20), Lasted())
    lane = Lane("orders", "east", 0, "A", "", T0, None, None, (0, 9), (None, None), is_waiting=True)

    [row] = beyond(shares={pk: certain}, lanes=[lane])

    assert (row.unowned, row.is_handed) == ((4, 20), True)
    assert beyond(shares={pk: perhaps}, lanes=[lane]) == []
    assert beyond(shares={pk: certain}, lanes=[replace(lane, unowned=(4, 9))]) == []
