from typing import Any

import pytest

from rebalance_engine.consumer import CPP, Consumed, Result, Suspend, orderly_cpp
from rebalance_engine.events import DropReason
from tests.rebalance_engine.consumer.running import EAST, running, told
from tests.rebalance_engine.consumer.world import World, queue

ASKED = "A -> east LockBatchMq orders/east/0"


def finish(world: World, result: Result = Result.SUCCESS) -> None:
    effect = world.machines["A"].in_hand[0]
    world.consumed("A", effect, Consumed(token=effect.token, result=result))


def in_hand(world: World) -> list[tuple[int, int]]:
    return [
        (message.offset, message.reconsume_times)
        for effect in world.machines["A"].in_hand
        for message in effect.messages
    ]


def begin(count: int, **settings: Any) -> World:
    world, _ = running(CPP, orderly=True, **settings)
    world.machines["A"].listener_ms = None
    world.put(EAST, count)
    world.run(10)
    return world


def test_messages_come_one_by_one_whatever_the_batch_is() -> None:
    world = begin(3, batch=2)
    seen = []

    while world.machines["A"].in_hand:
        seen += in_hand(world)
        finish(world)

    assert seen == [(0, 0), (1, 0), (2, 0)]
    assert world.machines["A"].client.member("G").offsets.in_memory(EAST) == 3


@pytest.mark.parametrize(("failed_before", "ms"), [(0, 1_000), (15, 1_000), (16, 5_000), (40, 5_000)])
def test_a_failed_message_comes_again_for_ever_and_more_seldom_from_the_17th_time_on(
    failed_before: int, ms: int
) -> None:
    world = begin(2, max_reconsume_times=0)
    for _ in range(failed_before):
        finish(world, Result.LATER)
        world.run(5_000)

    finish(world, Result.LATER)
    world.run(ms - 1)
    assert in_hand(world) == []
    world.run(1)

    assert in_hand(world) == [(0, failed_before + 1)]
    assert not world.broker("east").sent_back


def test_the_next_pull_begins_a_run_of_its_own() -> None:
    world = begin(1)
    finish(world, Result.LATER)

    world.put(EAST, 1)
    world.run(10)

    assert in_hand(world) == [(0, 1)]


@pytest.mark.parametrize(("ms", "goes_on"), [(60_000, True), (60_001, False)])
def test_a_run_lasts_for_a_minute_whoever_has_the_lock(ms: int, goes_on: bool) -> None:
    world = begin(3)
    member = world.machines["A"].client.member("G")
    began = world.at - 9  # the first message came a moment ago
    world.broker("east").locks[("G", EAST)] = ("X", world.at + 600_000)
    member.table[EAST].is_locked = False
    world.run(began + ms - world.at)

    finish(world)

    assert in_hand(world) == ([(1, 0)] if goes_on else [])
    world.run(30_000)
    assert in_hand(world) == ([(1, 0)] if goes_on else [])


def test_a_run_without_the_lock_asks_for_it_a_second_later_and_consumes_another_second_later() -> None:
    world = begin(2)
    pq = world.machines["A"].client.member("G").table[EAST]
    finish(world, Result.LATER)
    pq.is_locked = False
    pq.last_pull = world.at
    world.shown = {"LockBatchMq"}
    told(world)

    world.run(1_999)
    assert told(world) == []
    world.run(1)
    assert told(world) == [ASKED]
    world.run(999)
    assert in_hand(world) == []
    world.run(1)

    assert in_hand(world) == [(0, 1)]


def test_a_run_waits_a_second_for_the_one_before_it() -> None:
    world = begin(1, threads=2)
    pool = world.machines["A"].client.member("G").pool
    world.put(EAST, 1)
    world.run(999)
    assert pool.busy == 2

    world.run(20)

    assert pool.busy == 1
    assert in_hand(world) == [(0, 0)]


@pytest.mark.parametrize("is_cleared", [False, True])
def test_a_run_goes_on_in_a_dropped_queue_until_it_is_cleared(is_cleared: bool) -> None:
    world = begin(3)
    member = world.machines["A"].client.member("G")
    pq = member.table[EAST]
    member.drop(pq, DropReason.NOT_IN_TARGET)
    if is_cleared:
        pq.clear()

    finish(world)

    assert in_hand(world) == ([] if is_cleared else [(1, 0)])


def test_what_fails_in_a_queue_that_was_cleared_is_forgotten() -> None:
    world = begin(3)
    member = world.machines["A"].client.member("G")
    pq = member.table.pop(EAST)
    member.drop(pq, DropReason.NOT_IN_TARGET)
    pq.clear()

    finish(world, Result.LATER)
    world.run(2_000)

    assert in_hand(world) == []
    assert pq.count == 0
    pq.check()


def test_a_stopped_consumer_finishes_the_message_in_hand_only() -> None:
    world = begin(3)
    member = world.machines["A"].client.member("G")
    member.pool.stop()

    finish(world)

    assert in_hand(world) == []
    assert member.offsets.in_memory(EAST) == 1


def test_all_timers_wait_while_one_of_them_asks_for_a_lock() -> None:
    world = begin(1)
    member = world.machines["A"].client.member("G")
    retries = member.table[queue("%RETRY%G/east/0")]
    world.put(retries.mq, 1)
    world.run(10)
    retries.is_locked = False
    finish(world, Result.LATER)
    world.broker("east").silent.add("LockBatchMq")
    orderly_cpp._submit_in(member, retries, 500, asks=True)
    world.hear("A", Suspend("G"))

    world.run(1_499)
    assert in_hand(world) == [(0, 0)]
    world.run(1)

    assert in_hand(world) == [(0, 0), (0, 1)]
