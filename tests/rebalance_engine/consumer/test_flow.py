from collections.abc import Callable, Iterator
from itertools import pairwise
from typing import Any

import pytest

from rebalance_engine.consumer import CPP, GO, Message, Mode, Profile, java
from rebalance_engine.consumer.flow import PullLoop
from rebalance_engine.consumer.messages import read_stored
from rebalance_engine.consumer.process_queue import MIB, ProcessQueue
from rebalance_engine.consumer.threads import Code
from rebalance_engine.model import MessageQueue
from rebalance_engine.remoting.codes import ResponseCode
from rebalance_engine.remoting.errors import TooMuch
from rebalance_engine.remoting.requests.consuming import PullMessageResponse
from rebalance_engine.remoting.requests.contract import Refused
from tests.rebalance_engine.consumer.broker import read as broker_read
from tests.rebalance_engine.consumer.running import EAST, JAVA, running, told
from tests.rebalance_engine.consumer.world import World


def pull_times(world: World, ms: int) -> list[int]:
    world.shown, world.mark, world.lines = {"PullMessage"}, world.at, []
    world.run(ms)
    return [int(line[:6]) for line in world.lines if "PullMessage topic=orders" in line]


def refuse(world: World, code: int, times: int = 1) -> None:
    world.broker("east").answers["PullMessage"] = [Refused(code=code)] * times


@pytest.mark.parametrize(
    ("profile", "delay"), [(java("4.9.7"), 0), (java("5.0.0"), 500), (JAVA, 500), (GO, 0), (CPP, 0)], ids=str
)
def test_the_first_pull_comes_so_long_after_the_take(profile: Profile, delay: int) -> None:
    world, _ = running(profile)
    taken = next(int(line[:6]) for line in world.lines if "takes orders" in line)
    pulled = next(int(line[:6]) for line in world.lines if "pulls orders" in line)

    assert pulled - taken in range(delay, delay + 10)


@pytest.mark.parametrize(("profile", "suspend"), [(JAVA, 15_001), (CPP, 15_001), (GO, 20_001)], ids=str)
def test_an_idle_queue_is_pulled_again_as_soon_as_the_broker_answers(profile: Profile, suspend: int) -> None:
    world, _ = running(profile, settle_ms=1_600)
    times = pull_times(world, 60_000)

    assert {after - before for before, after in pairwise(times)} == {suspend}


@pytest.mark.parametrize(
    ("profile", "code", "delay"),
    [
        (JAVA, ResponseCode.SUBSCRIPTION_NOT_LATEST, 1_000),
        (JAVA, ResponseCode.SYSTEM_ERROR, 1_000),
        (JAVA, ResponseCode.FLOW_CONTROL, 20),
        (GO, ResponseCode.SYSTEM_ERROR, 3_000),
        (CPP, ResponseCode.SYSTEM_ERROR, 1_000),
    ],
    ids=str,
)
def test_after_a_refusal_a_pull_waits(profile: Profile, code: int, delay: int) -> None:
    world, _ = running(profile, settle_ms=10_000)
    refuse(world, code, times=6)
    world.put(EAST, 1)
    times = pull_times(world, 9_000)

    assert times[1] - times[0] == delay + 1
    assert f"A is refused orders/east/0: {int(code)}" in "".join(world.lines)


def test_a_pull_without_an_answer_is_tried_again_a_second_later() -> None:
    world, _ = running(settle_ms=1_400)
    world.broker("east").silent.add("PullMessage")

    times = pull_times(world, 40_000)

    assert times[1] - times[0] == 31_000


def test_full_caches_put_pulls_off() -> None:
    cases: list[tuple[dict[str, Any], int]] = [({"queue_messages": 10}, 1), ({"queue_mib": 1}, MIB), ({"span": 20}, 1)]
    for limits, size in cases:
        world, member = running(settle_ms=1_400, **limits)
        world.machines["A"].listener_ms = None
        world.put(EAST, 200, size=size)
        world.run(1_000)
        assert member.table[EAST].count == 32
        assert (member.flow_controlled, member.span_controlled) in ((18, 0), (17, 0), (0, 18), (0, 17))
        world.machines["A"].listener_ms = 0
        assert pull_times(world, 3_000) == []


def test_the_limits_may_be_reached_but_not_passed() -> None:
    world, member = running(settle_ms=1_400, queue_messages=32)
    world.machines["A"].listener_ms = None
    world.put(EAST, 200)
    world.run(1_000)

    assert member.table[EAST].count == 64


def test_an_orderly_queue_that_is_not_locked_is_not_pulled() -> None:
    world, member = running(orderly=True)
    member.table[EAST].is_locked = False
    world.broker("east").locks["G", EAST] = ("B", world.at)
    world.put(EAST, 1)
    world.run(5)

    assert pull_times(world, 3_000) == []
    member.table[EAST].is_locked = True
    assert pull_times(world, 1_000) != []


def test_messages_that_nobody_wants_move_the_offset_with_the_next_empty_pull() -> None:
    world, member = running()
    member.subscriptions.add("orders", "A", 1)
    world.put(EAST, 3, tags="B")
    world.run(10)
    assert member.offsets.in_memory(EAST) is None or member.offsets.in_memory(EAST) == 0
    world.run(16_000)

    assert member.offsets.in_memory(EAST) == 3


def test_how_far_it_is_travels_with_each_pull_to_a_master() -> None:
    world, _ = running()
    world.put(EAST, 3)
    world.run(100)
    world.put(EAST, 1)
    world.run(1)

    assert world.broker("east").offsets["G", EAST] == 3


@pytest.mark.parametrize(("version", "ms", "goes_on"), [("5.1.4", 10_000, False), ("5.2.0", 0, True)])
def test_an_offset_that_the_broker_does_not_have_is_repaired(version: str, ms: int, goes_on: bool) -> None:
    world, _ = running(java(version))
    world.put(EAST, 5)
    world.run(100)
    broker = world.broker("east")
    broker.messages[EAST], broker.first[EAST] = [], 100
    told(world)
    world.put(EAST, 1)
    world.run(ms + 50)

    lines = told(world)
    assert "A drops orders/east/0 at 5: offset illegal" in lines
    assert broker.offsets["G", EAST] == 100
    assert ("A takes orders/east/0 at 100" in lines) is goes_on


@pytest.mark.parametrize(("version", "ms", "stored"), [("5.1.4", 10_000, 107), ("5.2.0", 0, 100)])
def test_from_5_2_on_nothing_moves_an_offset_while_it_is_repaired(version: str, ms: int, stored: int) -> None:
    world, member = running(java(version))
    updated: list[int] = []
    persist = member.offsets.persist

    def a_listener_ends_late(mq: MessageQueue) -> Code[None]:
        if not updated:
            updated.append(107)
            member.offsets.update(mq, 107, increase_only=True)
        return persist(mq)

    world.put(EAST, 5)
    world.run(100)
    broker = world.broker("east")
    broker.messages[EAST], broker.first[EAST] = [], 100
    member.offsets.persist = a_listener_ends_late  # type: ignore[method-assign]  # between the repair and its storing
    world.put(EAST, 1)
    world.run(ms + 50)

    assert broker.offsets["G", EAST] == stored
    assert updated


def test_cpp_goes_on_where_a_broker_that_lost_messages_says() -> None:
    world, member = running(CPP)
    world.put(EAST, 5)
    world.run(100)
    broker = world.broker("east")
    told(world)

    broker.messages[EAST] = []
    world.put(EAST, 1)
    world.run(10)
    world.put(EAST, 1)
    world.run(100)
    assert member.offsets.in_memory(EAST) == 2

    broker.messages[EAST] = []
    world.put(EAST, 1)
    world.run(20_000)  # nothing comes for a whole long poll
    assert (member.offsets.in_memory(EAST), broker.offsets["G", EAST]) == (1, 1)
    assert not member.table[EAST].is_dropped and not any("takes" in line for line in told(world))


@pytest.mark.parametrize(("has_messages", "ms_to_unlock"), [(False, 0), (True, 20_000)])
def test_a_repair_gives_the_lock_back_as_the_later_hold_must(ms_to_unlock: int, *, has_messages: bool) -> None:
    world, member = running(java("5.1.4"), orderly=True)
    broker = world.broker("east")
    broker.first[EAST] = 100
    world.put(EAST, 1)
    world.run(50)
    assert member.table.pop(EAST).is_dropped
    later = ProcessQueue(EAST, world.at, is_locked=True)
    member.take(later, 3)
    if has_messages:
        later.put([Message(3, "orders", 100, 1_000, "east-3", None)])
    world.shown, world.mark, world.lines = {"UnlockBatchMq"}, world.at + 9_950, []

    world.run(40_000)

    times = [int(line[:6]) for line in world.lines if "UnlockBatchMq" in line]
    assert len(times) == 1 and times[0] - ms_to_unlock in range(20)


def test_a_repair_ends_a_later_hold_of_its_queue_too() -> None:
    world, member = running(java("5.1.4"))
    broker = world.broker("east")
    broker.first[EAST] = 100
    world.put(EAST, 1)
    world.run(50)
    assert member.table.pop(EAST).is_dropped
    later = ProcessQueue(EAST, world.at, is_locked=False)
    member.take(later, 3)
    told(world)

    world.run(10_000)

    assert later.is_dropped and EAST not in member.table
    assert "A drops orders/east/0 at 100: offset illegal" in told(world)


def test_a_pull_loop_ends_with_its_queue() -> None:
    world, member = running()
    member.table[EAST].is_dropped = True
    world.put(EAST, 1)

    assert pull_times(world, 100) == []


def test_messages_that_cannot_be_read_are_pulled_again_a_second_later() -> None:
    world, member = running(settle_ms=1_400)
    nonsense = PullMessageResponse(
        suggest_which_broker_id=0, next_begin_offset=9, min_offset=0, max_offset=9, body=b"nonsense"
    )
    member.desk.read = read_stored
    world.broker("east").answers["PullMessage"] = [nonsense, nonsense]

    times = pull_times(world, 3_000)

    assert times[1] - times[0] == 1_001
    assert "queue_offset=0" in world.lines[-1]


def too_much_after(count: int) -> Callable[[PullMessageResponse], Iterator[Message]]:
    def read(answer: PullMessageResponse) -> Iterator[Message]:
        for number, message in enumerate(broker_read(answer)):
            if number == count:
                raise TooMuch("more than is read in one go")
            yield message

    return read


@pytest.mark.parametrize("mode", [Mode.PUSH, Mode.PULL])
def test_what_is_too_much_for_one_go_is_pulled_again_and_the_queue_goes_on(mode: Mode) -> None:
    world, member = running(mode=mode)
    member.desk.read = too_much_after(2)

    world.put(EAST, 7)
    world.run(2_000)

    if mode is Mode.PUSH:
        assert member.offsets.in_memory(EAST) == 7
    else:
        assert member.table[EAST].count == 7


def test_a_body_that_cannot_be_read_at_all_is_asked_for_again_each_second() -> None:
    world, member = running()
    member.desk.read = too_much_after(0)

    world.put(EAST, 1)

    assert len(pull_times(world, 3_500)) in (3, 4)


@pytest.mark.parametrize(("profile", "is_served"), [(CPP, True), (GO, False), (JAVA, False)], ids=str)
def test_a_broker_that_forgot_the_group_serves_who_brings_his_subscription(profile: Profile, is_served: bool) -> None:
    world, member = running(profile)
    world.machines["A"].listener_ms = None
    world.broker("east").members.clear()
    world.put(EAST, 1)
    world.run(10)
    world.put(EAST, 1)
    world.run(10)

    assert member.table[EAST].count == (2 if is_served else 1), "the first is the answer to a pull of before"


@pytest.mark.parametrize("code", [ResponseCode.PULL_NOT_FOUND, ResponseCode.PULL_OFFSET_MOVED, ResponseCode.SUCCESS])
def test_a_pull_that_is_to_go_on_where_no_queue_begins_has_failed(code: ResponseCode) -> None:
    _, member = running()
    loop = PullLoop(member, member.table[EAST], 7)
    bad = PullMessageResponse(code=code, suggest_which_broker_id=0, next_begin_offset=-1, min_offset=0, max_offset=0)

    pause = outcome(loop._take_in(bad, member.subscriptions.all[0]))

    assert (pause, loop.next_offset, member.table[EAST].is_dropped) == (JAVA.error_delay, 7, False)


@pytest.mark.parametrize("offset", [-1, 2**63 - 1])
def test_a_message_with_an_offset_that_no_queue_has_is_not_consumed(offset: int) -> None:
    _, member = running()
    loop = PullLoop(member, member.table[EAST], 0)
    member.desk.read = lambda _: (Message(offset=offset, topic="orders"),)
    bad = PullMessageResponse(
        code=ResponseCode.SUCCESS, suggest_which_broker_id=0, next_begin_offset=1, min_offset=0, max_offset=1
    )

    pause = outcome(loop._take_in(bad, member.subscriptions.all[0]))

    assert (pause, loop.next_offset, member.table[EAST].count) == (JAVA.error_delay, 0, 0)


def outcome(code: Code[int]) -> int:
    """Run what waits for nothing to its end."""
    with pytest.raises(StopIteration) as end:
        next(code)
    assert isinstance(end.value.value, int)
    return end.value.value
