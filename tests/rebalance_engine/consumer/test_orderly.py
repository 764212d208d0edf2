from itertools import pairwise
from typing import Any

from rebalance_engine.consumer import GO, Consumed, Result
from tests.rebalance_engine.consumer.running import EAST, running, told
from tests.rebalance_engine.consumer.world import World


def finish(world: World, **how: object) -> None:
    effect = world.machines["A"].in_hand[0]
    world.consumed("A", effect, Consumed(token=effect.token, **how))  # type: ignore[arg-type]


def in_hand(world: World) -> list[list[tuple[int, int]]]:
    return [
        [(message.offset, message.reconsume_times) for message in effect.messages]
        for effect in world.machines["A"].in_hand
    ]


def begin(count: int, **settings: Any) -> World:
    world, _ = running(orderly=True, **settings)
    world.machines["A"].listener_ms = None
    world.put(EAST, count)
    world.run(10)
    return world


def test_one_batch_at_a_time_in_order() -> None:
    world = begin(5, batch=2)
    seen = []

    while world.machines["A"].in_hand:
        seen += in_hand(world)
        finish(world)
        world.run(10)

    assert seen == [[(0, 0), (1, 0)], [(2, 0), (3, 0)], [(4, 0)]]
    assert world.machines["A"].client.member("G").offsets.in_memory(EAST) == 5


def test_a_failed_batch_suspends_its_queue_for_a_second() -> None:
    world = begin(2)

    finish(world, result=Result.LATER)
    world.run(999)
    assert in_hand(world) == []
    world.run(1)

    assert in_hand(world) == [[(0, 1)]]


def test_a_suspension_lies_between_10_ms_and_30_s() -> None:
    world = begin(1)
    finish(world, result=Result.LATER, suspend_ms=0)
    world.run(9)
    assert in_hand(world) == []
    world.run(1)
    finish(world, result=Result.LATER, suspend_ms=60_000)
    world.run(30_000)

    assert in_hand(world) == [[(0, 2)]]


def test_go_does_not_pause_unless_its_listener_says_so() -> None:
    world, _ = running(GO, orderly=True, suspend_ms=20_000)
    world.machines["A"].listener_ms = None
    world.put(EAST, 1)
    world.run(10)

    finish(world, result=Result.LATER)
    assert in_hand(world) == [[(0, 1)]]
    finish(world, result=Result.LATER, suspend_ms=40_000)
    world.run(39_999)
    assert in_hand(world) == []
    world.run(1)

    assert in_hand(world) == [[(0, 2)]]


def test_after_the_last_try_a_message_is_a_dead_letter_and_the_queue_goes_on() -> None:
    world = begin(2, max_reconsume_times=1)
    finish(world, result=Result.LATER)
    world.run(1_000)

    finish(world, result=Result.LATER)
    world.run(10)

    assert [each.delay_level for each in world.broker("east").sent_back] == [-1]
    assert in_hand(world) == [[(1, 0)]]


def test_go_has_a_thread_for_each_queue_and_never_a_break() -> None:
    world, _ = running(GO, orderly=True, queues=3, threads=1)
    world.machines["A"].listener_ms = 1_000
    for number in range(3):
        world.put(EAST._replace(queue_id=number), 90)
    world.shown = {"Deliver"}
    world.mark = world.at
    told(world)

    world.run(80_500)

    times = [int(line[:6]) for line in world.lines if "consumes orders" in line]
    assert times == [1 + 1_000 * number for number in range(81) for _ in range(3)]


def test_a_minute_without_a_break_is_followed_by_one() -> None:
    world = begin(200)
    world.machines["A"].listener_ms = 1_000
    finish(world)
    world.shown = {"Deliver"}
    world.mark = world.at
    told(world)
    world.run(70_000)

    times = [int(line[:6]) for line in world.lines if "consumes" in line]

    gaps = [after - before for before, after in pairwise(times)]
    assert gaps.count(1_010) == 1 and set(gaps) == {1_000, 1_010}
    assert gaps.index(1_010) == 58


def test_a_lock_that_is_not_renewed_for_30_s_stops_the_listener_until_it_is_had_again() -> None:
    world = begin(100)
    world.machines["A"].listener_ms = 1_000
    finish(world)
    world.broker("east").silent.add("LockBatchMq")
    member = world.machines["A"].client.member("G")
    last = member.table[EAST].last_lock

    world.run(45_000)
    world.shown = {"Deliver"}
    told(world)
    world.run(5_000)
    assert told(world) == []
    assert world.at - last > 30_000
    world.broker("east").silent.clear()
    world.run(5_000)

    assert "A consumes orders/east/0" in " ".join(told(world))


def test_a_refused_lock_is_tried_again_after_three_seconds() -> None:
    world = begin(3)
    member = world.machines["A"].client.member("G")
    member.table[EAST].is_locked = False
    world.broker("east").locks["G", EAST] = ("B", world.at)
    finish(world)
    world.shown = {"LockBatchMq"}
    world.mark = world.at
    world.run(7_000)

    times = [int(line[:6]) for line in world.lines if "-> east LockBatchMq orders/east/0" in line]

    assert times[:2] == [10, 3_111]
