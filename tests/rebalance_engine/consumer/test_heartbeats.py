from dataclasses import replace

import pytest

from rebalance_engine.consumer import Suspend, java
from rebalance_engine.consumer.desk import Desk
from rebalance_engine.consumer.heartbeats import _data, fingerprint, heartbeat_all, heartbeat_on_open
from rebalance_engine.consumer.profiles import GO, Profile
from rebalance_engine.consumer.threads import Code
from rebalance_engine.model import MessageModel
from rebalance_engine.remoting.bodies.clients import ConsumerData, HeartbeatData, SubscriptionData
from rebalance_engine.remoting.codes import ResponseCode
from rebalance_engine.remoting.requests.contract import Refused
from tests.rebalance_engine.consumer.running import running, told
from tests.rebalance_engine.consumer.world import World


def test_one_heartbeat_carries_all_groups_with_all_topics() -> None:
    world, _ = running(settle_ms=100)
    world.shown = {"HeartBeat"}

    world.start("A", "H", "orders,bills")
    world.run(100)

    assert "A -> east HeartBeat G[orders %RETRY%G] H[orders bills %RETRY%H]" in told(world)


@pytest.mark.parametrize(
    ("profile", "groups"),
    [(java("4.9.7"), ["CLIENT_INNER_PRODUCER"]), (java("5.5.0"), ["CLIENT_INNER_PRODUCER"]), (GO, [])],
)
def test_one_heartbeat_of_a_java_client_carries_its_own_producer_too(profile: Profile, groups: list[str]) -> None:
    world = World()
    world.topic("orders", "east=1")
    desk = world.make_client("A", profile).desk

    assert [each.group_name for each in _data(desk).producer_data_set] == groups


def test_whoever_sends_while_another_does_skips_his() -> None:
    world, member = running()
    world.delays["east"] = 500
    heard: list[bool] = []

    def code() -> Code[None]:
        heard.append((yield from heartbeat_all(member.desk)))

    member.desk.threads.spawn(code())
    member.desk.threads.spawn(code())
    world.hear("A", Suspend("G"))
    world.run(1_000)

    assert heard == [False, True]


def versions_after_a_change_during_heartbeats(model: MessageModel, *, waits: bool) -> tuple[int, int, int]:
    """Give the newest version, that which the broker knows, and how many heartbeats it took there."""
    world = World()
    world.topic("orders", "east=1")
    world.topic("bills", "west=1")
    client = world.make_client("A", java("5.3.3"), waits_to_heartbeat=waits)
    world.start("A", "G", "orders,bills", model=model)
    world.run(500)
    world.delays |= {"east": 10, "west": 1_000}
    world.shown = {"HeartBeat"}
    told(world)

    world.run(8_000)  # the first round and the second heartbeat are both due after a second

    newest = client.member("G").subscriptions.all[0].sub_version
    known = world.broker("east").members["G"]["A"]["orders"]
    return newest, known, sum("A -> east HeartBeat" in line for line in told(world))


@pytest.mark.parametrize("model", MessageModel)
def test_a_new_version_waits_for_the_heartbeats_under_way_if_it_should(model: MessageModel) -> None:
    newest, known, count = versions_after_a_change_during_heartbeats(model, waits=True)

    assert known == newest and count > 1


def test_a_new_version_is_not_told_by_java_while_heartbeats_are_under_way() -> None:
    newest, known, count = versions_after_a_change_during_heartbeats(MessageModel.BROADCASTING, waits=False)

    assert known < newest and count == 1


def two_brokers() -> tuple[World, Desk]:
    """A client whose heartbeats wait for those under way, beside east and west."""
    world = World()
    world.topic("orders", "east=1", "west=1")
    desk = world.make_client("A", java("5.3.3"), waits_to_heartbeat=True).desk
    world.start("A", "G", "orders")
    world.run(5_000)
    world.shown = {"HeartBeat"}
    told(world)
    return world, desk


def beat(world: World, desk: Desk, *codes: Code[object]) -> list[int]:
    """Let threads send heartbeats, all from now on; give how long each took."""
    took: list[int] = []

    def code(sending: Code[object]) -> Code[None]:
        began = desk.at
        yield from sending
        took.append(desk.at - began)

    for sending in codes:
        desk.threads.spawn(code(sending))
    world.hear("A", Suspend("G"))
    world.run(10_000)
    return took


def beats_to(world: World, broker: str) -> int:
    return sum(f"A -> {broker} HeartBeat" in line for line in told(world))


def test_who_waited_asks_no_broker_again_that_was_silent_just_now() -> None:
    world, desk = two_brokers()
    world.broker("west").silent.add("HeartBeat")

    took = beat(world, desk, *(heartbeat_all(desk) for _ in range(3)))
    sent = [line for line in told(world) if "A -> " in line]

    assert [ms // 100 for ms in took] == [30, 30, 30]
    assert sum("-> east" in line for line in sent) - sum("-> west" in line for line in sent) == 2

    world.broker("west").silent.clear()
    world.run(60_000)
    assert not desk.unheard


def test_who_waited_asks_a_broker_that_was_silent_before_he_waited() -> None:
    world, desk = two_brokers()
    east, west = desk.routes.master("east"), desk.routes.master("west")
    assert east and west
    world.broker("west").silent.add("HeartBeat")
    beat(world, desk, heartbeat_all(desk))
    assert desk.unheard == {west}
    world.broker("west").silent.clear()
    told(world)

    beat(world, desk, heartbeat_on_open(desk, east), heartbeat_all(desk, anew=True))

    assert beats_to(world, "west") == 1


def test_who_waited_asks_a_broker_again_that_refused() -> None:
    world, desk = two_brokers()
    world.broker("west").answers["HeartBeat"] = [Refused(code=ResponseCode.SYSTEM_BUSY)]

    beat(world, desk, heartbeat_all(desk), heartbeat_all(desk))

    assert beats_to(world, "west") == 2


def test_whose_consumers_leave_while_he_waits_to_send_sends_nothing_and_what_is_only_due_never_waits() -> None:
    world = World()
    world.topic("orders", "east=1")
    desk = world.make_client("A", java("5.3.3"), waits_to_heartbeat=True).desk
    world.start("A", "G", "orders")
    world.run(5_000)
    heard: list[bool] = []

    def code(*, has_news: bool) -> Code[None]:
        heard.append((yield from heartbeat_all(desk, has_news=has_news)))

    desk.threads.try_take(desk.heartbeat_lock)
    for has_news in (True, False):
        desk.threads.spawn(code(has_news=has_news))
    world.hear("A", Suspend("G"))
    assert heard == [False]

    del desk.members["G"]
    desk.threads.release(desk.heartbeat_lock)
    desk.threads.run()

    assert (heard, desk.heartbeat_lock.is_held) == ([False, False], False)


def test_a_channel_that_opens_makes_a_heartbeat_and_a_round_from_5_2_on() -> None:
    for version, told_at_once in (("5.1.4", 0), ("5.2.0", 1)):
        world, _ = running(java(version), settle_ms=10_000)
        world.sends_channels.add("A")
        world.shown = {"HeartBeat"}
        told(world)
        world.run(19_000)
        assert len([line for line in told(world) if "HeartBeat" in line]) == told_at_once


def test_silent_brokers_do_not_matter_to_who_only_wants_to_know_whether_there_is_one() -> None:
    world, member = running()
    world.broker("east").silent.add("HeartBeat")
    heard: list[bool] = []

    def code() -> Code[None]:
        heard.append((yield from heartbeat_all(member.desk)))

    member.desk.threads.spawn(code())
    world.hear("A", Suspend("G"))
    world.run(3_000)

    assert heard == [True]


def test_a_fingerprint_is_of_what_is_said_not_of_who_says_it_or_when() -> None:
    def said(client: str, *topics: SubscriptionData) -> int:
        consumer = ConsumerData(group_name="G", subscription_data_set=topics)
        return fingerprint(HeartbeatData(client_id=client, consumer_data_set=(consumer,)))

    orders = SubscriptionData(topic="orders", sub_version=1)

    assert said("A", orders) == said("B", replace(orders, sub_version=2))
    assert said("A", orders) != said("A", orders, SubscriptionData(topic="pay", sub_version=1))
    assert said("A", orders) != said("A", replace(orders, sub_string="red"))


@pytest.mark.parametrize(("version", "marked"), [("5.1.2", False), ("5.1.3", True)])
def test_heartbeats_have_a_second_version_from_5_1_3_on_where_it_is_switched_on(version: str, *, marked: bool) -> None:
    world = World()
    world.topic("orders", "east=1")
    world.broker("east").knows_heartbeat_v2 = True

    world.make_client("A", java(version), heartbeat_v2=True)
    world.start("A", "G", "orders")
    world.run(5_000)

    assert (world.broker("east").fingerprints.get("G", 0) != 0) is marked
