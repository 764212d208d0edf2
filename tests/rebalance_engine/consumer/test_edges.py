"""Rules of pulling, committing and taking that only show at their edges: each is wrong by one word elsewhere."""

from dataclasses import replace

import pytest

from rebalance_engine.consumer import CPP, GO, Consumed, Profile, Result, java
from rebalance_engine.consumer.flow import pull_request
from rebalance_engine.consumer.process_queue import MIB
from rebalance_engine.consumer.rounds import _divide_thresholds
from rebalance_engine.consumer.table import _truncate_popped
from rebalance_engine.remoting.codes import ResponseCode
from rebalance_engine.remoting.requests.consuming import PullMessageResponse
from rebalance_engine.remoting.sysflags import PullFlag
from tests.rebalance_engine.consumer.running import EAST, JAVA, running, stored, told
from tests.rebalance_engine.consumer.world import World, queue

WEST = queue("orders/east/1")


def by_hand(world: World) -> None:
    world.machines["A"].listener_ms = None


def finish(world: World, **how: object) -> None:
    effect = world.machines["A"].in_hand[0]
    world.consumed("A", effect, Consumed(token=effect.token, **how))  # type: ignore[arg-type]


# ---- pulls ----


def test_a_pull_from_a_slave_does_not_say_how_far_the_queue_is() -> None:
    world, member = running()
    route = world.routes["orders"]
    addresses = {0: "east:10911", 1: "slave:10911"}
    world.routes["orders"] = replace(
        route, broker_datas=tuple(replace(each, broker_addrs=addresses) for each in route.broker_datas)
    )
    world.broker("slave")
    world.put(EAST, 3)
    world.run(31_000)  # a route is asked for each 30 s
    assert member.offsets.in_memory(EAST) == 3
    ask_the_slave = PullMessageResponse(
        code=ResponseCode.PULL_NOT_FOUND,
        suggest_which_broker_id=1,
        next_begin_offset=3,
        min_offset=0,
        max_offset=3,
    )
    world.broker("east").answers["PullMessage"] = [ask_the_slave]
    world.shown = {"PullMessage"}
    world.put(EAST, 1)
    world.run(20_000)

    to_slave = [line for line in told(world) if line.startswith("A -> slave PullMessage topic=orders")]
    assert to_slave
    assert all("commit_offset=0" in line for line in to_slave)


def test_a_pull_that_has_nothing_to_commit_does_not_say_that_it_does() -> None:
    _, member = running()
    [subscription] = [each for each in member.subscriptions.all if each.topic == "orders"]

    def flags(commit: int) -> int:
        pq = member.table[EAST]
        return pull_request(member, pq, subscription, 0, batch=32, suspend=15_000, commit=commit).sys_flag

    assert flags(0) & PullFlag.COMMIT_OFFSET == 0
    assert flags(1) & PullFlag.COMMIT_OFFSET


def test_a_span_puts_the_pulls_of_an_orderly_queue_off_never() -> None:
    world, member = running(orderly=True, span=20)
    by_hand(world)

    world.put(EAST, 200)
    world.run(1_000)

    assert (member.table[EAST].count, member.span_controlled) == (200, 0)


def test_mib_are_counted_whole() -> None:
    world, member = running(queue_mib=1)
    by_hand(world)
    world.put(EAST, 1, size=2 * MIB - 1)
    world.run(1_000)
    assert member.flow_controlled == 0

    world.put(EAST, 1, size=1)
    world.run(1_000)
    assert member.flow_controlled > 0


# ---- commits ----


@pytest.mark.parametrize(("profile", "offset"), [(JAVA, 9), (CPP, 1), (GO, 9)], ids=str)
def test_what_a_listener_finishes_moves_an_offset_back_in_cpp_only(profile: Profile, offset: int) -> None:
    world, member = running(profile)
    by_hand(world)
    world.put(EAST, 1)
    world.run(100)
    member.offsets.update(EAST, 9, increase_only=False)

    finish(world)

    assert member.offsets.in_memory(EAST) == offset


@pytest.mark.parametrize("profile", [JAVA, CPP, GO], ids=str)
def test_a_queue_that_is_dropped_while_its_messages_go_back_commits_nothing(profile: Profile) -> None:
    world, member = running(profile)
    by_hand(world)
    world.put(EAST, 1)
    world.run(100)
    world.delays["east ConsumerSendMsgBack"] = 2_000
    finish(world, result=Result.LATER)
    world.broker("east").members["G"] = {"0": {}, "A": {}}
    world.hear_notification("A", "G")
    world.run(1_000)
    assert EAST not in member.table
    before = stored(world)

    world.run(10_000)

    assert member.offsets.in_memory(EAST) in (None, -1)
    assert stored(world) == before


def test_at_most_sixteen_messages_of_a_queue_expire_at_once() -> None:
    world, _ = running(consume_timeout_ms=60_000, threads=20)
    by_hand(world)
    world.put(EAST, 20)

    world.run(120_000)

    assert len(world.broker("east").sent_back) == 16


# ---- what is taken ----


def test_a_refused_lock_is_asked_for_again_half_a_second_later_whatever_else_was_taken() -> None:
    world = World()
    world.topic("orders", "east=2")
    world.broker("east").locks["G", WEST] = ("B", world.at + 10**9)
    world.make_client("A", java("5.1.4"))
    world.shown = {"LockBatchMq"}

    world.start("A", "G", "orders", orderly=True)
    world.run(3_000)

    times = [int(line[:6]) for line in world.lines if "LockBatchMq orders/east/1" in line]
    assert "A takes orders/east/0 at 0" in told(world)
    assert any(at - times[0] in range(500, 505) for at in times), times


def test_limits_are_divided_by_dropped_queues_too_as_long_as_they_stand_in_the_table() -> None:
    _, member = running(queues=4, topic_messages=1_000)
    member.table[EAST].is_dropped = True

    _divide_thresholds(member)

    assert member.queue_messages == 200


def test_whether_brokers_divide_a_topic_is_asked_anew_once_it_was_given_up() -> None:
    _, member = running()
    member.assignment_support = {"orders": True, "given-up": False}

    _truncate_popped(member)

    assert member.assignment_support == {"orders": True}
