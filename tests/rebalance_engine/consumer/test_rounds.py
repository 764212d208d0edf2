from collections.abc import Sequence

import pytest

from rebalance_engine.allocation.own import own
from rebalance_engine.consumer import CPP, GO, Profile, java
from rebalance_engine.model import MessageModel, MessageQueue
from rebalance_engine.remoting.codes import ResponseCode
from rebalance_engine.remoting.requests.contract import Refused
from tests.rebalance_engine.consumer.running import EAST, JAVA, running, told

EVERYBODY = [java("4.9.7"), JAVA, GO, CPP]


@pytest.mark.parametrize("profile", EVERYBODY, ids=str)
def test_who_is_not_in_the_list_drops_everything(profile: Profile) -> None:
    world, member = running(profile, queues=2)
    world.broker("east").members["G"] = {"B": {}}
    told(world)

    world.hear_notification("A", "G")
    world.run(2_000)

    assert "A drops orders/east/1 at None: not in target" in told(world)
    assert member.is_running


@pytest.mark.parametrize(("profile", "keeps"), [(java("4.9.7"), True), (JAVA, True), (CPP, True), (GO, False)], ids=str)
def test_an_empty_list_drops_everything_in_go_alone(profile: Profile, keeps: bool) -> None:
    world, member = running(profile)
    world.broker("east").members["G"] = {}
    told(world)

    world.hear_notification("A", "G")
    world.run(2_000)

    assert ("A drops orders/east/0 at None: not in target" not in told(world)) is keeps
    assert member.is_running


@pytest.mark.parametrize("profile", EVERYBODY, ids=str)
def test_a_list_that_does_not_come_changes_nothing(profile: Profile) -> None:
    world, member = running(profile)
    world.broker("east").silent.add("GetConsumerListByGroup")

    world.hear_notification("A", "G")
    world.run(10_000)

    assert EAST in member.held()


@pytest.mark.parametrize("model", MessageModel)
@pytest.mark.parametrize(("profile", "counts"), [(java("4.9.7"), False), (JAVA, True), (CPP, False), (GO, False)])
def test_a_missing_route_makes_a_newer_version_in_each_round_since_5_0(
    profile: Profile, counts: bool, model: MessageModel
) -> None:
    world, member = running(profile, model=model)
    member.subscriptions.add("bills", "*", world.at)
    began = member.subscriptions.all

    world.run(60_000)

    versions = {data.topic: data.sub_version for data in member.subscriptions.all}
    was = {data.topic: data.sub_version for data in began}
    assert (versions["bills"] > was["bills"]) is counts
    assert versions["orders"] == was["orders"]
    assert EAST in member.held()


def test_a_strategy_that_throws_keeps_what_is_held_and_is_tried_again_in_a_second() -> None:
    world, member = running(queues=2)
    held = member.held()
    world.topic("orders", "east=0")  # an empty set of queues makes every strategy throw
    world.run(50_000)
    assert member.held() == held
    world.shown = {"GetConsumerListByGroup"}
    told(world)
    world.run(5_000)

    assert len([line for line in told(world) if "GetConsumerList" in line]) >= 8  # both topics, each second


def test_cpp_does_the_retry_topic_first_and_skips_the_others_when_it_fails() -> None:
    world, _ = running(CPP, settle_ms=100)
    world.broker("east").answers["GetConsumerListByGroup"] = [Refused(code=ResponseCode.SYSTEM_ERROR)]
    world.shown = {"GetConsumerListByGroup"}
    told(world)

    world.hear_notification("A", "G")
    world.run(100)
    world.hear_notification("A", "G")
    world.run(100)

    assert len(told(world)) == 3


def test_limits_of_a_topic_are_divided_by_the_queues_of_the_whole_group() -> None:
    _, member = running(queues=4, topic_messages=1_000, topic_mib=3)

    assert (member.queue_messages, member.queue_mib) == (200, 1)


def test_go_replaces_its_limits_at_the_first_change() -> None:
    _, member = running(GO, queues=3)

    assert (member.queue_messages, member.queue_mib) == (25_600, 12_800)


def test_cpp_neither_divides_limits_nor_makes_a_newer_version() -> None:
    world, member = running(CPP, queues=4, topic_messages=1_000)

    assert member.queue_messages == 1_000
    assert {data.sub_version for data in member.subscriptions.all} == {world.mark}


@pytest.mark.parametrize(("profile", "unit"), [(JAVA, 1), (GO, 1_000_000)], ids=str)
def test_a_change_makes_a_newer_version_in_the_units_of_the_language(profile: Profile, unit: int) -> None:
    world, member = running(profile)
    data = member.subscriptions.get("orders")

    assert data is not None and world.mark < data.sub_version // unit < world.at
    assert world.broker("east").members["G"]["A"]["orders"] == data.sub_version


@pytest.mark.parametrize(("profile", "unit"), [(JAVA, 1), (GO, 1_000_000), (CPP, 1)], ids=str)
def test_the_first_version_is_in_the_units_of_the_language_too(profile: Profile, unit: int) -> None:
    _, member = running(profile, settle_ms=0)

    assert {data.sub_version for data in member.subscriptions.all} == {member.started_at * unit}


def test_who_is_broadcasting_takes_everything_and_asks_nobody() -> None:
    world, member = running(queues=3, model=MessageModel.BROADCASTING)
    world.broker("east").members["G"] = {"B": {}}

    world.hear_notification("A", "G")
    world.run(2_000)

    assert len(member.held("orders")) == len(member.held()) == 3


def test_a_broadcasting_orderly_consumer_asks_for_locks_in_4_only() -> None:
    for version, asks in (("4.9.7", True), ("5.5.0", False)):
        world, _ = running(java(version), orderly=True, model=MessageModel.BROADCASTING)
        assert ("A has the lock of orders/east/0" in told(world)) is asks


def test_a_topic_without_a_route_is_told_as_a_change_each_round() -> None:
    world, member = running()
    member.subscriptions.add("bills", "*", 1)

    world.hear_notification("A", "G")
    world.run(3_000)

    data = member.subscriptions.get("bills")
    assert data is not None and data.sub_version > 1


def test_a_strategy_of_one_s_own_divides_and_when_it_fails_what_is_held_stays() -> None:
    fails: list[bool] = []

    def evens(_: str, queues: Sequence[MessageQueue], __: Sequence[str]) -> list[MessageQueue]:
        if fails:
            raise RuntimeError
        return [queue for queue in queues if queue.queue_id % 2 == 0]

    world, member = running(queues=4, strategy=own(evens))
    held = member.held("orders")
    assert {queue.queue_id for queue in held} == {0, 2}

    fails.append(True)
    world.hear_notification("A", "G")
    world.run(5_000)

    assert member.held("orders") == held
