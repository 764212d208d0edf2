from __future__ import annotations

from dataclasses import replace

import pytest

from dashboard.clusters.models import Broker, Queue, Watch
from dashboard.groups import story
from dashboard.groups.lane import Lane
from dashboard.groups.lanes import lanes_of
from dashboard.groups.lasting import lasting_handoffs
from dashboard.groups.models import Round
from dashboard.groups.owned import bands_of, shares_in
from dashboard.groups.past_story import cut_at
from rebalance_engine.events import Departure, Exactness, RouteSeen
from tests.dashboard.groups.test_story import join, settle, turn
from tests.dashboard.story import T0, held, joined, left, missed, route, seen, told

pytestmark = pytest.mark.usefixtures("cluster")


def shrunk(at: int, low: int) -> RouteSeen:
    """The route has two queues of the four, since some moment after the look at ``low``."""
    return replace(route(2, at), exactness=Exactness.between(T0 + low, T0 + at))


def leave() -> Round:
    """Both leave at once: all four queues have nobody, and the round is over."""
    settle()
    told(held("A", 4_000, [0, 1]), held("B", 4_000, [2, 3]))
    told(left("A", 5_000, Departure.UNREGISTERED), left("B", 5_000, Departure.UNREGISTERED))
    turn(5_100)
    row = Round.objects.get()
    assert row.closed_at == T0 + 5_000
    return row


def lanes(row: Round, at: int) -> dict[int, Lane]:
    return {lane.queue_id: lane for lane in lanes_of(row, now=T0 + at)}


def test_a_queue_that_leaves_the_route_is_waited_for_no_longer() -> None:
    row = leave()
    told(shrunk(65_000, 35_000))
    turn(65_100)

    told_of = lanes(row, 300_000)

    assert (told_of[1].is_waiting, told_of[1].is_gone, told_of[1].gone_at) == (True, False, None)
    assert (told_of[3].is_waiting, told_of[3].is_gone, told_of[3].gone_at) == (False, True, T0 + 65_000)
    assert told_of[3].unowned == (30_000, 61_000)  # also of a group without members, of which no cause is kept
    assert told_of[3].is_gap
    assert lanes(row, 900_000)[3] == told_of[3]


def test_a_queue_that_was_gone_when_its_owner_let_go_was_missed_by_nobody() -> None:
    settle()
    told(held("A", 4_000, [0, 1]), held("B", 4_000, [2, 3]))
    told(shrunk(5_000, 4_000))
    turn(5_100)
    told(held("A", 7_000, [0]), held("B", 7_000, [1]))
    turn(7_100)

    told_of = lanes(Round.objects.get(), 300_000)

    assert (told_of[3].is_gone, told_of[3].is_waiting, told_of[3].unowned) == (True, False, (0, 1_000))
    assert not told_of[3].is_gap


def test_a_queue_that_leaves_the_route_while_the_round_is_open_is_waited_for_no_longer() -> None:
    settle()
    join()
    told(held("A", 6_000, [0, 1]), held("B", 6_000, [2]), held("C", 6_000, []))
    turn(6_100)
    told(shrunk(16_000, 11_000))
    told(held("A", 16_500, [0, 1]), held("B", 16_500, [2]), held("C", 16_500, []))

    told_of = lanes(Round.objects.get(), 60_000)

    assert (told_of[3].is_gone, told_of[3].is_waiting, told_of[3].unowned) == (True, False, (5_000, 15_990))


def all_that_is_told(row: Round, at: int) -> list[object]:
    """What lanes, sentence, figures, pauses and the time bar say of the past, looked at later."""
    now, since = T0 + at, T0
    shares = {pk: (each.unowned, each.overlap) for pk, each in shares_in(row=row, now=now).items()}
    told_lanes = [replace(lane, is_back=False) for lane in lanes_of(row, now=now) if lane.queue_id == 3]
    pauses = lasting_handoffs(rounds=[row.pk], now=now)
    gone = Queue.objects.get(queue_id=3).pk
    worst = story.worst(told_lanes, {})
    bar = bands_of(group=row.group, since=since, now=T0 + 79_000)
    return [told_lanes, shares.get(gone), worst, len(pauses), bar.nobody, bar.perhaps_nobody]


def test_what_is_told_of_a_round_does_not_change_because_a_queue_comes_back() -> None:
    row = leave()
    told(shrunk(65_000, 35_000))
    before = all_that_is_told(row, 79_000)
    told(replace(route(4, 80_000), exactness=Exactness.between(T0 + 79_500, T0 + 80_000)))
    turn(80_100)

    lane = lanes(row, 300_000)[3]

    assert (lane.is_gone, lane.gone_at, lane.is_waiting, lane.is_back) == (True, T0 + 65_000, False, True)
    assert lane.unowned == (30_000, 61_000)
    found = story.worst(list(lanes(row, 300_000).values()), {})
    assert (found["gone_queues"], found["back_queues"]) == (2, 2)
    assert all_that_is_told(row, 300_000)[:4] == before[:4]
    assert all_that_is_told(row, 79_000)[4:] == before[4:]
    told(*seen("C", 90_000)[1:], joined("C", 90_000), held("C", 91_000, [0, 1, 2, 3]))
    turn(91_100)
    assert all_that_is_told(row, 300_000)[:4] == before[:4]
    told(shrunk(95_000, 94_000))
    assert all_that_is_told(row, 300_000)[:4] == before[:4]


def test_what_nobody_kept_of_before_is_told_as_unknown() -> None:
    row = leave()
    Queue.objects.filter(queue_id=3).update(since=T0 + 80_000, came_at=None)

    lane = lanes(row, 300_000)[3]

    assert (lane.is_gone, lane.gone_at, lane.is_waiting, lane.unowned) == (True, None, False, (0, 76_000))


def test_before_a_return_that_nobody_kept_no_time_without_owner_is_certain_and_all_of_it_is_possible() -> None:
    row = leave()
    Queue.objects.filter(queue_id=3).update(since=T0 + 80_000, came_at=None)
    Queue.objects.filter(queue_id=2).update(absences=[[None, None, None, T0 + 70_000]], since=T0 + 70_000)
    told(*seen("C", 90_000)[1:], joined("C", 90_000, low=90_000), held("C", 91_000, []))
    turn(91_100)

    shares = shares_in(row=row, now=T0 + 91_100)
    unowned = {number: shares[Queue.objects.get(queue_id=number).pk].unowned for number in (1, 2, 3)}
    bar = bands_of(group=row.group, since=T0, now=T0 + 91_000)

    assert [unowned[number].low for number in (1, 2, 3)] == [86_000, 21_000, 11_000]
    assert {each.high for each in unowned.values()} == {87_100}
    assert [(step.since - T0, step.queues) for step in bar.nobody] == [(5_000, 2), (70_000, 3), (80_000, 4)]


def test_what_nobody_kept_of_before_stays_as_unknown_when_it_leaves_and_comes_back_again() -> None:
    row = leave()
    Queue.objects.filter(queue_id=3).update(since=T0 + 80_000, came_at=None)
    before = lanes(row, 300_000)[3]

    told(shrunk(95_000, 94_000))
    assert lanes(row, 300_000)[3] == replace(before, is_back=False)
    for at in (100_000, 120_000):
        told(replace(route(4, at), exactness=Exactness.between(T0 + at - 100, T0 + at)))
        assert lanes(row, 300_000)[3] == before
        told(shrunk(at + 10_000, at + 9_000))
        assert lanes(row, 300_000)[3] == replace(before, is_back=False)


def back(at: int, low: int) -> RouteSeen:
    return replace(route(4, at), exactness=Exactness.between(T0 + low, T0 + at))


def test_a_queue_that_came_back_within_its_round_is_waited_for() -> None:
    settle()
    join()
    told(held("A", 6_000, [0, 1]), held("B", 6_000, [2]), held("C", 6_000, []))
    turn(6_100)
    told(shrunk(16_000, 11_000), back(20_000, 19_000))
    told(*(held(client, 30_000, mine) for client, mine in (("A", [0, 1]), ("B", [2]), ("C", []))))
    turn(30_100)
    row = Round.objects.get(number=1)

    lane = lanes(row, 30_100)[3]

    assert (lane.is_waiting, lane.is_gone, lane.gone_at) == (True, False, None)
    # certain are 5 s before it left, and 10 s since it was back; from 16 s to 19 s it was gone
    assert lane.unowned == (15_000, 30_090 - 3_000)
    told(missed("C", 31_000))
    lane = lanes(row, 40_000)[3]
    assert (lane.is_unknown, lane.unowned[0]) == (True, 15_000)


def test_a_queue_has_nobody_only_while_it_is_in_a_route() -> None:
    settle()
    told(held("A", 4_000, [0, 1]), held("B", 4_000, [2, 3]))
    told(shrunk(5_000, 4_500))
    turn(5_100)
    told(held("A", 6_000, [0]), held("B", 6_000, [1]))
    turn(6_100)
    told(replace(route(4, 80_000), exactness=Exactness.between(T0 + 79_000, T0 + 80_000)))
    turn(80_100)
    told(held("A", 82_000, [0, 1]), held("B", 83_000, [1]), held("B", 84_000, [2, 3]))
    turn(84_100)
    first, second = Round.objects.order_by("number")

    lane, again = lanes(first, 300_000)[3], lanes(second, 300_000)[3]

    assert (lane.is_gone, lane.gone_at, lane.unowned) == (True, T0 + 5_000, (0, 1_000))
    assert (again.taken_at, again.unowned) == (T0 + 84_000, (3_000, 5_000))
    assert second.move_count == 3  # the two that came back had owners before
    bar = bands_of(group=first.group, since=T0, now=T0 + 85_000)
    assert [(step.since - T0, step.until - T0, step.queues) for step in bar.nobody] == [(80_000, 83_000, 2)]


def test_a_queue_is_gone_for_certain_until_routes_were_told_last() -> None:
    settle()
    told(held("A", 4_000, [0, 1]), held("B", 4_000, [2, 3]))
    told(shrunk(5_000, 4_500))
    turn(5_100)
    told(held("A", 6_000, [0]), held("B", 6_000, [1]))
    row, gone = Round.objects.get(), Queue.objects.get(queue_id=3).pk

    def at_most(at: int) -> int:
        own = shares_in(row=row, now=T0 + at).get(gone)
        return 0 if own is None else own.unowned.high

    nobody_kept_it = at_most(30_000)
    watch = Watch.objects.create(cluster=row.group.cluster, at=T0, routes_at=T0 + 25_000)
    assert (nobody_kept_it, at_most(20_000), at_most(30_000)) == (1_000, 1_000, 6_000)
    told(replace(route(4, 29_000), exactness=Exactness.between(T0 + 25_000, T0 + 29_000)))
    Watch.objects.filter(pk=watch.pk).update(routes_at=T0 + 29_000)
    assert at_most(30_000) == 6_000, "it may have come back right after they were told"


def test_who_took_a_queue_before_it_left_the_route_ended_the_time_without_owner() -> None:
    row = leave()
    told(joined("C", 20_000, low=19_000), *seen("C", 20_000)[1:], held("C", 21_000, [0, 1, 2, 3]))
    turn(21_100)
    told(shrunk(65_000, 35_000))

    lane = lanes(row, 300_000)[3]

    assert (lane.is_gone, lane.unowned) == (False, (14_000, 17_000))


def test_while_somebody_does_not_answer_no_more_is_certain_of_a_queue_that_left() -> None:
    settle()
    join()
    told(held("A", 6_000, [0, 1]), held("B", 6_000, [2]), held("C", 6_500, []), missed("C", 7_500))
    turn(7_600)
    told(shrunk(16_000, 11_000))
    told(held("A", 16_500, [0, 1]), held("B", 16_500, [2]))

    lane = lanes(Round.objects.get(), 60_000)[3]

    assert (lane.is_gone, lane.is_unknown, lane.unowned) == (True, False, (500, 15_990))


def test_at_an_instant_before_a_queue_left_the_route_it_was_waited_for() -> None:
    row = leave()
    told(shrunk(65_000, 35_000))
    lane = lanes(row, 300_000)[3]

    early, late = cut_at(lane, T0 + 25_000), cut_at(lane, T0 + 200_000)

    assert early is not None
    assert (early.is_waiting, early.is_gone, early.gone_at, early.unowned[1]) == (True, False, None, 21_000)
    assert late == lane


def test_what_is_in_no_route_is_nobodys_and_two_do_not_have_it_for_certain() -> None:
    settle()
    join()
    told(held("A", 6_000, [0, 1]), held("B", 6_000, [2, 3]), held("C", 6_000, [3]))
    turn(6_100)
    told(shrunk(16_000, 11_000))
    told(held("A", 20_000, [0, 1]), held("B", 20_000, [2, 3]), held("C", 20_000, [3]))
    turn(20_100)
    row = Round.objects.get(number=1)
    gone = Queue.objects.get(queue_id=3).pk

    open_lane = next(lane for lane in lanes_of(row, now=T0 + 20_100) if lane.queue_id == 3)
    told(held("B", 30_000, [2]), held("C", 30_000, [3]), held("A", 30_000, [0, 1]))
    turn(30_100)
    lane = next(lane for lane in lanes_of(row, now=T0 + 30_100) if lane.queue_id == 3)

    assert (open_lane.overlap[0], lane.overlap[0]) == (5_000, 5_000)
    assert shares_in(row=row, now=T0 + 30_100)[gone].overlap_within[0] == 5_000


def test_of_a_broker_that_is_gone_nothing_is_certain_since_the_route_was_read_last() -> None:
    row = leave()
    gone = Queue.objects.get(queue_id=3).pk
    watch = Watch.objects.create(cluster=row.group.cluster, at=T0 + 50_000, routes_at=T0 + 20_000, lists_at=T0 + 50_000)

    def told_at(at: int) -> list[int | None]:
        steps = bands_of(group=row.group, since=T0, now=T0 + at).nobody
        nobody = sum((step.until - step.since) * step.queues for step in steps) // 4
        lasting = {each.low for each in lasting_handoffs(rounds=[row.pk], now=T0 + at).values()}
        return [shares_in(row=row, now=T0 + at)[gone].unowned.low, lanes(row, at)[3].unowned[0], nobody, *lasting]

    assert told_at(50_000) == [45_000] * 4, "its broker is there: so is it, as far as anybody knows"
    source = {"at": T0, "observed_at": T0, "origin": "admin answer"}
    broker = Broker.objects.create(cluster=row.group.cluster, name="east", address="e:1", broker_id=1, **source)
    Broker.objects.filter(pk=broker.pk).update(gone_at=T0 + 40_000)
    assert told_at(50_000) == [45_000] * 4, "a slave that is gone takes no queue along"
    Broker.objects.filter(pk=broker.pk).update(broker_id=0)
    assert told_at(50_000) == [15_000] * 4
    assert (lanes(row, 50_000)[3].is_waiting, lanes(row, 50_000)[3].unowned[1]) == (True, 46_000)
    Watch.objects.filter(pk=watch.pk).update(routes_at=T0 + 45_000)
    assert told_at(50_000) == [40_000] * 4, "the route was read, and it is in it still"
