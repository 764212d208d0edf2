from rebalance_engine.consumer import Suspend, java
from rebalance_engine.consumer.heartbeats import heartbeat_all
from rebalance_engine.consumer.threads import Code
from tests.rebalance_engine.consumer.running import running, told


def test_one_heartbeat_carries_all_groups_with_all_topics() -> None:
    world, _ = running(settle_ms=100)
    world.shown = {"HeartBeat"}

    world.start("A", "H", "orders,bills")
    world.run(100)

    assert "A -> east HeartBeat G[orders %RETRY%G] H[orders bills %RETRY%H]" in told(world)


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
