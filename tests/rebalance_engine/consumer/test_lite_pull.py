from typing import Any

import pytest

from rebalance_engine.consumer import Assign, Commit, Mode, Poll, Seek, Stop, Unsubscribe
from rebalance_engine.consumer.process_queue import MIB
from rebalance_engine.model import MessageQueue
from rebalance_engine.remoting.codes import ResponseCode
from rebalance_engine.remoting.requests.consuming import LitePullMessage
from rebalance_engine.remoting.requests.contract import Refused
from tests.rebalance_engine.consumer.running import EAST, running, stored, told
from tests.rebalance_engine.consumer.world import World

WEST = MessageQueue("orders", "east", 1)


def poll(world: World, ms: int = 1_000) -> str:
    told(world)
    world.hear("A", Poll("G", ms))
    world.run(ms + 10)
    return next(line for line in told(world) if "polls" in line)


def test_who_polls_is_woken_by_the_notification_that_his_own_first_heartbeat_causes() -> None:
    world, member = running(mode=Mode.PULL)
    taken = next(int(line[:6]) for line in world.lines if "takes orders" in line)

    assert 1_000 < taken < 1_100
    assert member.held() == {EAST}


def test_a_poll_gives_what_was_pulled_ahead_or_nothing_when_its_time_is_over() -> None:
    world, member = running(mode=Mode.PULL)
    assert poll(world) == "A polls nothing"
    world.put(EAST, 12)
    world.run(10)

    assert poll(world) == "A polls orders/east/0 0,1,2,3,4,5,6,7,8,9"
    assert poll(world) == "A polls orders/east/0 10,11"
    assert member.table[EAST].count == 0


def test_a_poll_waits_for_what_comes() -> None:
    world, _ = running(mode=Mode.PULL)
    world.later(500, lambda: world.put(EAST, 1))
    world.mark = world.at
    world.lines = []
    world.hear("A", Poll("G", 1_000))
    world.run(2_000)

    assert world.lines == ["   501 A polls orders/east/0 0"]


def test_what_was_polled_is_committed_inside_of_a_later_poll_and_stored_by_the_timer() -> None:
    world, member = running(mode=Mode.PULL)
    world.put(EAST, 1)
    world.run(10)
    poll(world)
    world.run(10_000)
    assert member.offsets.in_memory(EAST) is None

    poll(world)

    assert member.offsets.in_memory(EAST) == 1
    world.run(5_000)
    assert stored(world) == 1


def test_who_commits_himself_is_not_committed_for() -> None:
    world, member = running(mode=Mode.PULL, auto_commit_ms=None)
    world.put(EAST, 1)
    world.run(10)
    poll(world)
    poll(world)
    assert member.offsets.in_memory(EAST) is None

    world.hear("A", Commit("G"))

    assert member.offsets.in_memory(EAST) == 1


def test_who_seeks_goes_on_there_and_loses_what_was_pulled_ahead() -> None:
    world, _ = running(mode=Mode.PULL)
    world.put(EAST, 12)
    world.run(10)

    world.hear("A", Seek("G", EAST, 7))
    world.run(10)

    assert poll(world) == "A polls orders/east/0 7,8,9,10,11"


def test_a_queue_that_is_not_assigned_cannot_be_sought() -> None:
    world, _ = running(mode=Mode.PULL)

    with pytest.raises(ValueError, match="is not assigned to group 'G' by the rebalance"):
        world.hear("A", Seek("G", WEST, 7))


def test_a_queue_that_went_is_not_pulled_and_not_polled_any_more() -> None:
    world, member = running(mode=Mode.PULL)
    world.put(EAST, 3)
    world.run(10)
    world.broker("east").members["G"] = {"0": {}, "A": {}}
    world.hear_notification("A", "G")
    world.run(2_000)

    assert not member.held() and not member.polling.positions
    assert poll(world) == "A polls nothing"


def test_queues_can_be_named_instead() -> None:
    world, member = running(queues=2, mode=Mode.ASSIGN)
    assert member.held() == set()
    told(world)

    world.hear("A", Assign("G", (EAST, WEST)))
    world.run(100)
    world.put(WEST, 1)
    world.run(10)
    assert poll(world) == "A polls orders/east/1 0"
    world.hear("A", Assign("G", (EAST,)))
    world.run(30_000)

    assert member.held() == {EAST}
    assert "A drops orders/east/1 at None: not in target" in told(world)


def test_a_topic_that_is_given_up_is_not_pulled_and_is_dropped_by_the_next_round() -> None:
    world, member = running(mode=Mode.PULL)
    world.put(EAST, 1)
    world.run(10)

    world.hear("A", Unsubscribe("G", "orders"))
    world.put(EAST, 1)
    world.run(10)

    assert not member.polling.positions and not member.table[EAST].is_dropped
    assert poll(world) == "A polls orders/east/0 0"
    world.run(20_000)
    assert EAST not in member.table


def test_full_caches_put_pulls_off() -> None:
    world, member = running(mode=Mode.PULL, queue_messages=10)
    world.put(EAST, 200)
    world.run(1_000)

    assert member.table[EAST].count == 20
    assert member.flow_controlled in (18, 19, 20)


@pytest.mark.parametrize(
    ("limits", "size", "most"),
    [
        ({"queue_messages": 10}, 1, 20),
        ({"queue_mib": 10}, MIB, 20),
        ({"span": 9}, 1, 20),
        ({}, MIB, 110),
        ({}, 1, 1_010),
    ],
)
def test_a_limit_may_be_reached_but_not_passed_by_more_than_one_pull(
    limits: dict[str, Any], size: int, most: int
) -> None:
    world, member = running(mode=Mode.PULL, **limits)
    world.put(EAST, 1_200, size=size)

    world.run(2_000)

    assert member.table[EAST].count == most


def test_what_all_queues_have_pulled_ahead_is_limited_too() -> None:
    world, member = running(mode=Mode.PULL, queues=2, queue_messages=20_000, span=20_000)
    for mq in (EAST, WEST):
        world.put(mq, 9_000)

    world.run(10_000)

    assert 10_000 < sum(pq.count for pq in member.table.values()) <= 10_020


def test_more_queues_than_threads_take_turns() -> None:
    world, _ = running(queues=30, mode=Mode.PULL, settle_ms=10_000)
    world.shown = {"LitePullMessage"}

    assert len(world.held_pulls) == 20
    told(world)
    world.run(25_000)
    queues = {line.split("queue_id=")[1].split()[0] for line in told(world) if "LitePullMessage" in line}
    assert len(queues) >= 20


def test_a_refused_pull_is_tried_again_a_second_later() -> None:
    world, _ = running(mode=Mode.PULL)
    world.broker("east").answers["LitePullMessage"] = [Refused(code=ResponseCode.SYSTEM_ERROR)]
    world.put(EAST, 1)
    world.run(25_000)

    assert "A is refused orders/east/0: 1" in told(world)


def test_shutting_down_ends_all_pulls() -> None:
    world, _ = running(mode=Mode.PULL)
    world.hear("A", Stop("G"))
    world.run(60_000)
    world.shown = {"LitePullMessage"}
    told(world)
    world.run(60_000)

    assert told(world) == []


def test_who_names_his_queues_brings_his_subscription_along_with_each_pull() -> None:
    world, _ = running(mode=Mode.ASSIGN)
    world.hear("A", Assign("G", (EAST,)))
    world.run(3_000)

    (pull,) = [pull for _, pull in world.held_pulls.values()]

    assert isinstance(pull, LitePullMessage)
    assert (pull.sys_flag, pull.subscription, pull.sub_version) == (0x2 | 0x4 | 0x10, "*", 0)


def test_brokers_before_5_are_pulled_from_as_by_any_consumer_and_asked_once_otherwise() -> None:
    world, _ = running(mode=Mode.PULL)
    world.shown = {"LitePullMessage", "PullMessage"}
    unknown = Refused(code=ResponseCode.REQUEST_CODE_NOT_SUPPORTED)
    world.broker("east").answers["LitePullMessage"] = [unknown] * 1_000
    told(world)
    for offset in range(3):
        world.put(EAST, 1)
        world.run(25_000)
        lines = [line for line in told(world) if "east" in line]
        assert any(" PullMessage" in line for line in lines), lines
        if offset > 0:
            assert not any("LitePullMessage" in line for line in lines), lines
