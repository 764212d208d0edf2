from __future__ import annotations

from dataclasses import replace

import pytest

from dashboard.clusters.models import Queue
from dashboard.groups.drawn import plain_lanes
from dashboard.groups.lane import Lane
from dashboard.groups.lanes import lanes_of
from dashboard.groups.models import Group, Handoff, Round
from dashboard.groups.owned import shares_in
from dashboard.groups.rebalancing import rebalance_once
from dashboard.groups.shares import Lasted, Share
from dashboard.groups.story import around, members_of, page_of, queue_story, time_bar, window_of, worst
from rebalance_engine.events import Departure
from tests.dashboard.story import T0, held, joined, left, listed, missed, route, seen, told, untold

pytestmark = pytest.mark.usefixtures("cluster")


def turn(at: int) -> Group:
    group = Group.objects.get(name="g")
    rebalance_once(group=group.pk, now=T0 + at)
    group.refresh_from_db()
    return group


def settle() -> Group:
    told(route(4), *seen("A"), *seen("B"), held("A", 10, [0, 1]), held("B", 10, [2, 3]))
    return turn(20)


def join() -> Group:
    told(joined("C", 5_000, low=4_000), held("C", 5_100, []))
    return turn(5_200)


def worst_at(at: int, number: int = 1) -> dict[str, object]:
    row = Round.objects.get(number=number)
    return worst(lanes_of(row, now=T0 + at), shares_in(row=row, now=T0 + at))


def test_a_queue_that_nobody_has_is_waited_for() -> None:
    settle()
    join()
    told(held("A", 6_000, [0, 1]), held("B", 6_000, [2]), held("C", 6_000, []))
    turn(6_100)
    told(held("A", 16_000, [0, 1]), held("B", 16_000, [2]), held("C", 16_000, []))
    [lane] = lanes_of(Round.objects.get(), now=T0 + 16_000)

    assert (lane.from_client, lane.to_client, lane.is_waiting, lane.is_gap) == ("B", "", True, True)
    assert lane.unowned[0] == 10_000
    assert (worst_at(16_000)["is_waiting"], worst_at(16_000)["unowned"]) == (True, lane.unowned)


def test_a_queue_that_two_have_names_both() -> None:
    settle()
    join()
    told(held("C", 6_000, [3]))
    turn(6_100)

    [lane] = lanes_of(Round.objects.get(), now=T0 + 16_000)

    assert (lane.from_client, lane.to_client, lane.is_shared, lane.is_overlap) == ("B", "C", True, False)
    assert lane.is_perhaps_overlap
    assert lane.overlap == (0, 10_900)  # B told nothing since C took it
    found = worst_at(16_000)
    assert (found["overlap_queues"], found["overlap"], found["is_shared"]) == (0, None, False)
    assert (found["overlap_perhaps_queues"], found["overlap_perhaps"]) == (1, 10_900)

    told(held("B", 14_000, [2, 3]), held("C", 15_000, [3]))
    [lane] = lanes_of(Round.objects.get(), now=T0 + 16_000)
    assert (lane.overlap, worst_at(16_000)["overlap"]) == ((8_000, 10_900), (8_000, 10_900))
    assert (lane.is_overlap, worst_at(16_000)["is_shared"]) == (True, True)


def test_a_queue_that_somebody_may_have_who_does_not_answer_is_not_said_to_have_nobody() -> None:
    settle()
    join()
    told(held("A", 6_000, [0, 1]), held("B", 6_000, [2]), held("C", 6_500, []), missed("C", 7_500))
    turn(7_600)
    told(held("A", 16_000, [0, 1]), held("B", 16_000, [2]))
    [lane] = lanes_of(Round.objects.get(), now=T0 + 16_000)

    assert (lane.is_waiting, lane.is_unknown, lane.is_gap) == (False, True, True)
    assert lane.unowned == (500, 15_990)  # C had it not when it last told, and may have it since
    assert worst_at(16_000)["is_waiting"] is False
    bar = time_bar(group=Group.objects.get(name="g"), since=T0, now=T0 + 16_000)
    assert (bar["none"], bar["told_until"]) == ([[T0 + 6_000, T0 + 6_500, 1]], T0 + 6_500)

    told(held("C", 16_100, []))
    [lane] = lanes_of(Round.objects.get(), now=T0 + 17_000)
    assert (lane.is_waiting, lane.is_unknown) == (True, False)


def test_a_queue_is_not_said_to_have_had_nobody_where_no_look_told_so() -> None:
    settle()
    join()
    told(held("A", 6_000, [0, 1]), missed("C", 5_500), held("B", 6_000, [2]))
    turn(7_600)

    [lane] = lanes_of(Round.objects.get(), now=T0 + 16_000)

    assert (lane.is_unknown, lane.is_gap, lane.unowned) == (True, False, (0, 15_990))
    assert worst_at(16_000)["unowned"] is None


def test_a_queue_that_a_member_may_have_whom_no_broker_names_is_unknown_too() -> None:
    settle()
    told(listed(4_500, "A", "B"))
    join()
    told(held("A", 6_000, [0, 1]), held("B", 6_000, [2]), held("C", 6_000, []), untold(7_000))
    turn(7_600)

    [lane] = lanes_of(Round.objects.get(), now=T0 + 16_000)

    assert (lane.is_waiting, lane.is_unknown) == (False, True)


def test_a_queue_that_another_one_took_before_the_round_began_is_not_waited_for() -> None:
    settle()
    told(*seen("C", 4_400), held("C", 4_500, [3]))
    told(left("A", 5_000), held("B", 6_000, [2]), held("C", 6_000, [3]))
    turn(6_100)

    lanes = {lane.queue_id: lane for lane in lanes_of(Round.objects.get(closed_at=None), now=T0 + 16_000)}

    assert (lanes[3].from_client, lanes[3].to_client, lanes[3].is_gap) == ("B", "C", False)
    assert lanes[3].unowned == (0, 4_490)
    assert lanes[0].is_waiting


def test_lanes_of_a_round_that_ended_stay_as_they_were() -> None:
    settle()
    join()
    told(held("A", 6_000, [0, 1]), held("B", 6_000, [2]), held("C", 7_000, [3]))
    turn(7_100)
    told(held("C", 60_000, []))
    turn(60_100)

    [lane] = lanes_of(Round.objects.get(number=1), now=T0 + 70_000)

    assert (lane.from_client, lane.to_client, lane.is_waiting) == ("B", "C", False)
    assert lane.taken_at == T0 + 7_000


def test_what_nobody_took_over_is_without_owner_so_far_and_afterwards_until_somebody_came() -> None:
    settle()
    told(left("A", 5_000, Departure.UNREGISTERED), left("B", 5_000, Departure.UNREGISTERED))
    turn(5_100)
    row = Round.objects.get()
    assert row.closed_at is not None

    lane = lanes_of(row, now=T0 + 20_000)[0]
    assert (lane.to_client, lane.is_waiting, lane.unowned) == ("", True, (15_000, 19_990))

    told(joined("C", 30_000), held("C", 31_000, [0, 1, 2, 3]))
    lane = lanes_of(row, now=T0 + 40_000)[0]
    assert (lane.is_waiting, lane.is_gap, lane.unowned) == (False, True, (25_000, 30_990))


def test_a_queue_that_another_one_had_all_the_time_is_not_without_owner() -> None:
    settle()
    join()
    told(held("A", 6_000, [0, 1]), held("B", 6_000, [2, 3]), held("C", 6_000, [3]))
    turn(6_100)
    told(held("B", 7_000, [2]))
    turn(7_100)
    row = Round.objects.get()
    Handoff.objects.filter(round=row).update(to_client="", taken_at=None, taken_low=None, taken_high=None)
    [lane] = [each for each in lanes_of(row, now=T0 + 60_000) if each.dropped_at is not None]

    assert (lane.to_client, lane.is_waiting, lane.is_gap, lane.unowned) == ("C", False, False, (0, 0))


def test_nothing_that_happened_is_nothing_that_was_worst() -> None:
    perhaps = ("unowned_perhaps_queues", "overlap_perhaps_queues", "pause_unknown", "unknown_queues")
    older = ("overlap_older_queues", "overlap_perhaps_older_queues")
    queues = ("unowned_queues", "overlap_queues", *older, "pause_queues")
    others = ("lost_queues", "handoffs", "from_nobody", "gone_queues", "back_queues")
    assert worst([], {}) == {
        **dict.fromkeys((*perhaps, *queues, *others), 0),
        "unowned": None,
        "unowned_perhaps": None,
        "overlap": None,
        "overlap_perhaps": None,
        "pause": (0, 0),
        "is_waiting": False,
        "is_shared": False,
    }


def test_the_time_bar_has_rounds_and_bands() -> None:
    settle()
    join()
    told(held("A", 6_000, [0, 1]), held("B", 6_000, [2]), held("C", 7_000, [3]))
    group = turn(7_100)

    bar = time_bar(group=group, since=T0, now=T0 + 10_000)

    assert [(each["number"], each["cause"], each["moves"]) for each in bar["rounds"]] == [(1, "member joined", 1)]  # type: ignore[attr-defined] # a list
    assert bar["none"] == []
    assert bar["perhaps_none"] == [[T0 + 6_000, T0 + 7_000, 1]]  # C may have had it since it joined
    assert bar["two"] == []


def test_a_queue_that_lost_its_owner_before_the_window_is_still_without() -> None:
    settle()
    told(held("B", 3_000, [2]), held("A", 60_000, [0, 1]), held("B", 60_000, [2]))
    group = turn(60_100)

    assert time_bar(group=group, since=T0 + 50_000, now=T0 + 60_000)["none"] == [[T0 + 50_000, T0 + 60_000, 1]]


def test_a_queue_that_had_nobody_before_the_window_and_then_somebody_was_without_meanwhile() -> None:
    settle()
    told(held("B", 3_000, [2]))
    turn(3_100)
    told(held("B", 53_000, [2]), held("B", 55_000, [2, 3]))
    group = turn(55_100)

    bar = time_bar(group=group, since=T0 + 50_000, now=T0 + 60_000)

    assert bar["none"] == [[T0 + 50_000, T0 + 53_000, 1]]
    assert bar["perhaps_none"] == [[T0 + 53_000, T0 + 55_000, 1]]


def test_queues_that_nobody_ever_had_are_in_the_time_bar() -> None:
    told(route(4), *seen("A"), held("A", 10, [0, 1]))
    group = turn(20)
    told(held("A", 10_000, [0, 1]))

    assert time_bar(group=group, since=T0, now=T0 + 10_000)["none"] == [[T0 + 10, T0 + 10_000, 2]]


def test_the_window_is_what_was_asked_for_or_what_shows_the_latest_round() -> None:
    settle()
    group = join()

    assert window_of(group=group, asked="6h", now=T0 + 10_000) == ("6h", T0 + 10_000 - 21_600_000)
    assert window_of(group=group, asked="nonsense", now=T0 + 10_000)[0] == "3m"
    assert window_of(group=group, asked="", now=T0 + 3_000_000)[0] == "1h"
    assert window_of(group=group, asked="", now=T0 + 10**9)[0] == "10m"


def test_who_left_is_told_for_a_while() -> None:
    settle()
    told(left("B", 5_000, Departure.UNREGISTERED))
    group = turn(5_100)

    now = around(group=group, now=T0 + 6_000, lanes=[])

    assert now["left"] == [
        {"client": "B", "at": T0 + 5_000, "until": T0 + 65_000, "words": "left", "departure": "unregistered"}
    ]
    assert [each["client"] for each in now["seen"]] == ["A"]  # type: ignore[attr-defined] # a list
    assert around(group=group, now=T0 + 200_000, lanes=[])["left"] == []


def test_what_moved_a_moment_ago_is_told() -> None:
    settle()
    join()
    told(held("A", 6_000, [0, 1]), held("B", 6_000, [2]), held("C", 7_000, [3]))
    group = turn(7_100)

    lanes = lanes_of(Round.objects.latest("number"), now=T0 + 8_000)
    moves = around(group=group, now=T0 + 8_000, lanes=lanes)["moves"]

    assert [(each["from"], each["to"], each["id"]) for each in moves] == [("B", "C", 3)]  # type: ignore[attr-defined] # a list
    assert around(group=group, now=T0 + 60_000, lanes=lanes)["moves"] == []


def test_a_queue_tells_its_owners_newest_first() -> None:
    settle()
    told(held("B", 6_000, [2]), held("A", 7_000, [0, 1, 3]))

    owners = queue_story(group=Group.objects.get(), topic="orders", broker="east", queue_id=3)

    assert [(each["client"], each["until"]) for each in owners] == [("A", None), ("B", T0 + 6_000)]
    assert queue_story(group=Group.objects.get(), topic="orders", broker="east", queue_id=99) == []


def test_members_come_with_their_addresses() -> None:
    settle()

    rows = members_of(group=Group.objects.get())

    assert [str(each["member"]) for each in rows] == ["A", "B"]
    assert [each["addresses"] for each in rows] == [[], []]


def test_who_is_first_seen_with_a_queue_is_not_said_to_have_it_from_nobody() -> None:
    told(route(4), *seen("A"), *seen("B"), held("A", 10, [0, 1]))
    turn(20)
    told(joined("C", 5_000, low=4_000))
    turn(5_100)
    told(held("A", 6_000, [0, 1]), held("B", 6_000, [2]))

    [lane] = lanes_of(Round.objects.get(), now=T0 + 6_050)
    assert (lane.from_client, lane.to_client, lane.is_first_seen) == ("", "B", True)
    shown = plain_lanes(Round.objects.get(), [lane], T0 + 6_050)
    assert shown is not None
    assert shown["lanes"][0]["is_first_seen"]  # type: ignore[index] # plain values

    told(held("C", 6_060, [3]))
    turn(6_100)
    lanes = {lane.to_client: lane for lane in lanes_of(Round.objects.get(), now=T0 + 6_200)}
    assert Round.objects.get().closed_at is not None
    assert lanes["B"].is_first_seen
    assert lanes["C"].is_first_seen  # B may have had it, who had not answered when the round began


def test_a_queue_that_nobody_had_while_all_had_answered_is_taken_from_nobody() -> None:
    told(route(4), *seen("A"), held("A", 10, [0, 1, 2]))
    turn(20)
    told(joined("B", 5_000, low=4_000), held("B", 5_050, []))
    turn(5_100)
    told(held("A", 6_000, [0, 1]), held("B", 6_000, [2, 3]))
    turn(6_100)

    lanes = {lane.queue_id: lane for lane in lanes_of(Round.objects.get(), now=T0 + 6_200)}

    assert (lanes[2].from_client, lanes[2].is_first_seen) == ("A", False)
    assert (lanes[3].from_client, lanes[3].to_client, lanes[3].is_first_seen) == ("", "B", False)


def lane_of(number: int, **known: object) -> Lane:
    unknown = (None, None)
    lane = Lane("orders", "east", number, "A", "B", T0, T0 + 10, None, unknown, unknown, is_waiting=False)
    return replace(lane, **known)  # type: ignore[arg-type] # what a test names


def test_figures_say_no_less_than_any_lane_of_what_was_possible() -> None:
    perhaps = Share(Lasted(), Lasted(0, 0, 12_600))
    certain, _recorded = Share(Lasted(), Lasted(5_000, 6_000, 8_000)), told(route(4))
    zero, one, two, _three = Queue.objects.order_by("queue_id").values_list("pk", flat=True)
    maybe = [lane_of(number, overlap=(0, 65_000)) for number in (0, 3)]
    names = ("overlap_perhaps", "overlap_perhaps_queues")
    assert [worst(maybe, {zero: perhaps, one: perhaps})[name] for name in names] == [65_000, 3]
    assert [worst(maybe, {pk: certain})["overlap_perhaps_queues"] for pk in (two, zero)] == [2, 1]

    found = worst([lane_of(0, overlap=(5_000, 9_000)), lane_of(1, overlap=(1, 90_000), is_older=True)], {1: certain})
    assert (found["overlap"], found["overlap_queues"], found["overlap_perhaps"]) == ((5_000, 9_000), 1, None)

    found = worst([lane_of(0, unowned=(0, 3_000))], {})
    assert (found["unowned"], found["unowned_perhaps"], found["unowned_perhaps_queues"]) == (None, 3_000, 1)


def test_all_handoffs_of_a_round_are_on_its_pages_worst_first() -> None:
    lanes = [lane_of(number) for number in range(75)]

    pages = [page_of(lanes, number) for number in (0, 1, 2, 9)]

    assert [(len(page["lanes"]), page["lane_page"], page["lane_pages"]) for page in pages] == [
        (60, 1, 2),
        (60, 1, 2),
        (15, 2, 2),
        (15, 2, 2),
    ]
    assert [*pages[1]["lanes"], *pages[2]["lanes"]] == lanes
    assert page_of([], 1)["lane_pages"] == 1


def test_no_time_without_owner_is_certain_while_another_one_did_not_answer_though_he_left_since() -> None:
    settle()
    join()
    told(missed("C", 5_500), held("A", 5_900, [0, 1]), held("B", 5_900, [2, 3]))
    told(held("B", 6_000, [2]), held("A", 9_000, [0, 1]))
    turn(9_100)
    told(left("C", 30_000, Departure.HEARTBEAT_EXPIRED), held("A", 31_000, [0, 1]), held("A", 32_000, [0, 1, 3]))
    told(held("B", 32_000, [2]))
    turn(32_100)

    for row in Round.objects.all():
        known = {lane.queue_id: lane for lane in lanes_of(row, now=T0 + 40_000)}
        found = worst(lanes_of(row, now=T0 + 40_000), shares_in(row=row, now=T0 + 40_000))
        if 3 in known:
            assert (known[3].unowned[0] or 0) <= 2_000  # since C had left
        assert found["unowned"] is None or found["unowned"][0] <= 2_000  # type: ignore[index] # bounds
    assert any(lane.queue_id == 3 for row in Round.objects.all() for lane in lanes_of(row, now=T0 + 40_000))


def test_that_a_queue_had_nobody_after_it_was_taken_is_not_of_who_was_first_seen_with_it() -> None:
    told(route(4), *seen("A"), *seen("B"), listed(0, "A", "B"))
    told(joined("C", 5), held("A", 10, [0, 1]), held("B", 10, [2, 3]))
    turn(20)
    for at, mine in ((1_000, [0, 1]), (2_000, [1]), (3_000, [1]), (4_000, [0, 1]), (5_000, [0, 1])):
        told(held("A", at, mine), held("B", at, [2, 3]), held("C", at, []), at=at)
        turn(at + 50)

    [lane] = [each for each in lanes_of(Round.objects.get(), now=T0 + 6_000) if each.queue_id == 0]

    assert (lane.to_client, lane.taken_at, lane.unowned) == ("A", T0 + 10, (None, None))
