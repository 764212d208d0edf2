import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rebalance_engine.consumer import CPP, GO, Consumed, Profile, Result, java
from rebalance_engine.model import MessageModel
from rebalance_engine.remoting.codes import ResponseCode
from rebalance_engine.remoting.requests.contract import Refused
from tests.rebalance_engine.consumer.running import EAST, JAVA, running, stored, told
from tests.rebalance_engine.consumer.world import World


def by_hand(world: World) -> None:
    world.machines["A"].listener_ms = None


def in_hand(world: World) -> list[int]:
    return [effect.messages[0].offset for effect in world.machines["A"].in_hand]


def finish(world: World, offset: int, **how: object) -> None:
    effect = next(each for each in world.machines["A"].in_hand if each.messages[0].offset == offset)
    world.consumed("A", effect, Consumed(token=effect.token, **how))  # type: ignore[arg-type]


@given(st.integers(1, 5), st.integers(1, 3), st.integers(1, 40), st.randoms(use_true_random=False))
def test_no_offset_is_committed_past_a_message_that_nobody_finished(
    threads: int, batch: int, count: int, luck: random.Random
) -> None:
    world, member = running(threads=threads, batch=batch)
    by_hand(world)
    world.put(EAST, count)
    world.run(10)
    unfinished = set(range(count))
    while unfinished:
        effect = luck.choice(world.machines["A"].in_hand)
        assert len(world.machines["A"].in_hand) <= threads
        unfinished -= {message.offset for message in effect.messages}
        world.consumed("A", effect, Consumed(token=effect.token))
        world.run(luck.choice([1, 1, 6_000]))
        noted = member.offsets.in_memory(EAST) or 0
        assert noted == min(unfinished, default=count)
        assert (stored(world) or 0) <= noted
    world.run(6_000)
    assert stored(world) == count


def test_one_slow_message_holds_back_all_later_ones() -> None:
    world, member = running()
    by_hand(world)
    world.put(EAST, 5)
    world.run(10)

    for offset in (1, 2, 3, 4):
        finish(world, offset)

    assert member.offsets.in_memory(EAST) == 0
    finish(world, 0)
    assert member.offsets.in_memory(EAST) == 5


def test_the_result_of_a_dropped_queue_is_thrown_away() -> None:
    world, _ = running()
    by_hand(world)
    world.put(EAST, 1)
    world.run(10)
    world.broker("east").members["G"] = {"0": {}, "A": {}}
    world.hear_notification("A", "G")
    world.run(1_000)
    assert "A drops orders/east/0 at None: not in target" in told(world)

    finish(world, 0)
    world.run(6_000)

    assert stored(world) is None


@pytest.mark.parametrize(("profile", "is_sent_back"), [(JAVA, False), (GO, False), (CPP, True)], ids=str)
def test_only_cpp_sends_back_what_failed_in_a_dropped_queue(profile: Profile, is_sent_back: bool) -> None:
    world, member = running(profile)
    by_hand(world)
    world.put(EAST, 1)
    world.run(10)
    world.broker("east").members["G"] = {"0": {}, "A": {}}
    world.hear_notification("A", "G")
    world.run(1_000)
    assert EAST not in member.table

    finish(world, 0, result=Result.LATER)
    world.run(6_000)

    assert bool(world.broker("east").sent_back) is is_sent_back
    assert stored(world) in (None, -1)


@pytest.mark.parametrize(("profile", "batches"), [(JAVA, [2, 2, 1]), (GO, [2, 2, 1]), (CPP, [5])], ids=str)
def test_cpp_gives_a_listener_all_that_a_pull_found(profile: Profile, batches: list[int]) -> None:
    world, _ = running(profile, batch=2)
    by_hand(world)

    world.put(EAST, 5)
    world.run(10)

    assert [len(effect.messages) for effect in world.machines["A"].in_hand] == batches


def test_failed_messages_go_back_to_their_broker_and_count_as_done() -> None:
    world, member = running(batch=3)
    by_hand(world)
    world.put(EAST, 3)
    world.run(10)

    finish(world, 0, done=1, delay_level=4)
    world.run(10)

    back = world.broker("east").sent_back
    assert [(each.offset, each.delay_level, each.max_reconsume_times) for each in back] == [
        (1001, 4, 16),
        (1002, 4, 16),
    ]
    assert member.offsets.in_memory(EAST) == 3


def test_what_the_broker_does_not_take_back_is_tried_here_again() -> None:
    world, member = running(batch=2)
    by_hand(world)
    world.put(EAST, 2)
    world.run(10)
    world.broker("east").answers["ConsumerSendMsgBack"] = [Refused(code=ResponseCode.SYSTEM_ERROR)]

    finish(world, 0, result=Result.LATER)
    world.run(4_999)
    assert (in_hand(world), member.offsets.in_memory(EAST)) == ([], 0)
    world.run(10)

    effect = world.machines["A"].in_hand[0]
    assert [(message.offset, message.reconsume_times) for message in effect.messages] == [(0, 1)]
    finish(world, 0)
    assert member.offsets.in_memory(EAST) == 2


def test_cpp_tries_again_sooner_and_sends_nothing_back_that_takes_long() -> None:
    assert (CPP.local_retry, CPP.cleans_expired) == (1_000, False)
    world, _ = running(CPP, consume_timeout_ms=2_000)
    by_hand(world)
    world.put(EAST, 1)
    world.shown = {"ConsumerSendMsgBack"}
    told(world)
    world.run(10_000)
    assert told(world) == []
    world.broker("east").answers["ConsumerSendMsgBack"] = [Refused(code=ResponseCode.SYSTEM_ERROR)]

    finish(world, 0, result=Result.LATER)
    world.run(999)
    assert in_hand(world) == []
    world.run(10)

    assert in_hand(world) != []


def test_a_broadcasting_consumer_gives_nothing_back() -> None:
    world, member = running(model=MessageModel.BROADCASTING, settle_ms=35_000)
    by_hand(world)
    world.put(EAST, 1)
    world.run(10)

    finish(world, 0, result=Result.LATER)
    world.run(10)

    assert world.broker("east").sent_back == []
    assert member.offsets.in_memory(EAST) == 1


def test_messages_that_the_listener_never_finishes_are_sent_back_after_a_quarter_of_an_hour() -> None:
    world, member = running(java("5.5.0"), consume_timeout_ms=900_000)
    by_hand(world)
    world.put(EAST, 2)
    world.run(1_800_000 - 5_001)
    assert world.broker("east").sent_back == []

    world.run(10)

    assert [(each.offset, each.delay_level) for each in world.broker("east").sent_back] == [(1000, 3), (1001, 3)]
    assert member.table[EAST].count == 0
    finish(world, 0, result=Result.LATER)
    world.run(10)
    assert len(world.broker("east").sent_back) == 2
