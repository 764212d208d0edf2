import pytest

from rebalance_engine.consumer import CPP, GO, Consumed, Drain, Profile, Resume, Stop, Subscribe, Suspend, java
from tests.rebalance_engine.consumer.running import EAST, JAVA, running, stored, told
from tests.rebalance_engine.consumer.world import World


@pytest.mark.parametrize(("profile", "first"), [(java("4.9.7"), 4), (JAVA, 1_003), (GO, 4), (CPP, 4)], ids=str)
def test_a_start_leads_to_a_round_at_once_but_not_within_a_second_of_the_client_s_since_5_2(
    profile: Profile, first: int
) -> None:
    world, _ = running(profile)

    assert next(int(line[:6]) for line in world.lines if "takes orders" in line) in range(first, first + 5)


def test_the_second_consumer_of_a_cpp_client_waits_for_the_timer() -> None:
    world, _ = running(CPP)
    told(world)
    world.mark = world.at
    world.broker("east").notifies = False
    world.start("A", "H", "orders")
    world.run(20_000)

    times = [int(line[:6]) for line in world.lines if "takes orders" in line]
    assert times and times[0] in range(5_000, 5_010)


def test_shutting_down_goes_in_rocketmq_s_order() -> None:
    world, _ = running(orderly=True)
    world.put(EAST, 3)
    world.run(100)
    world.shown = {"UnlockBatchMq", "UpdateConsumerOffset", "UnregisterClient"}
    told(world)

    world.hear("A", Stop("G"))
    world.run(100)

    assert [line for line in told(world) if "RETRY" not in line or "Unlock" in line] == [
        "A -> east UnlockBatchMq %RETRY%G/east/0 orders/east/0",
        "A gives back the lock of orders/east/0",
        "A -> east UpdateConsumerOffset topic=orders queue_id=0 commit_offset=3",
        "A -> east UnregisterClient",
        "A drops orders/east/0 at 3: stopped",
    ]


@pytest.mark.parametrize(
    ("profile", "pulls"), [(java("4.9.7"), True), (JAVA, True), (GO, False), (CPP, False)], ids=str
)
def test_who_shuts_down_pulls_on_in_java_only(profile: Profile, pulls: bool) -> None:
    world, _ = running(profile, orderly=True)
    world.broker("east").silent.add("UnlockBatchMq")
    world.hear("A", Stop("G"))
    world.shown = {"PullMessage"}
    told(world)
    world.put(EAST, 1)
    world.run(500)

    assert any("PullMessage" in line for line in told(world)) is pulls


@pytest.mark.parametrize("profile", [JAVA, GO, CPP], ids=str)
def test_after_the_last_consumer_nothing_happens_any_more(profile: Profile) -> None:
    world, _ = running(profile)
    world.hear("A", Stop("G"))
    world.run(60_000)
    world.shown = {"HeartBeat", "GetConsumerListByGroup", "PullMessage", "GetRouteInfoByTopic"}
    told(world)

    world.run(120_000)

    assert told(world) == []


def test_a_client_lives_on_with_its_other_consumers_and_can_start_again() -> None:
    world, _ = running()
    world.start("A", "H", "orders")
    world.run(5_000)

    world.hear("A", Stop("G"))
    world.run(5_000)
    client = world.machines["A"].client
    assert client.groups == ("H",) and client.member("H").held()
    world.hear("A", Stop("H"))
    world.run(5_000)
    world.start("A", "G", "orders")
    world.run(5_000)

    assert client.member("G").held()


def test_go_says_no_good_bye() -> None:
    world, _ = running(GO)
    world.shown = {"UnregisterClient"}
    told(world)

    world.hear("A", Stop("G"))
    world.run(100)

    assert "A -> east UnregisterClient" not in told(world)


def pulls(world: World, ms: int) -> int:
    world.shown = {"PullMessage"}
    told(world)
    world.run(ms)
    return len([line for line in told(world) if "PullMessage" in line])


def test_who_is_suspended_pulls_nothing_until_he_goes_on() -> None:
    world, member = running()
    world.hear("A", Suspend("G"))
    world.run(20_000)
    assert pulls(world, 10_000) == 0

    world.hear("A", Resume("G"))

    assert pulls(world, 2_000) == 2
    assert not member.is_paused


def test_cpp_forgets_the_first_lock_of_each_broker_when_it_shuts_down() -> None:
    world, _ = running(CPP, orderly=True)
    told(world)

    world.hear("A", Stop("G"))
    world.run(100)

    assert [line for line in told(world) if "gives back" in line] == ["A gives back the lock of orders/east/0"]
    assert len(world.broker("east").locks) == 1


@pytest.mark.parametrize(("profile", "waits"), [(java("5.5.0"), False), (GO, False), (CPP, True)], ids=str)
def test_cpp_waits_at_its_shutdown_for_what_its_listener_has(profile: Profile, waits: bool) -> None:
    world, member = running(profile)
    world.machines["A"].listener_ms = 3_000
    world.put(EAST, 1)
    world.run(10)

    world.hear("A", Stop("G"))
    world.run(2_000)
    assert member.is_running is waits
    world.run(2_000)

    assert not member.is_running
    assert (stored(world) == 1) is waits


def test_a_shutdown_waits_for_the_start_before_it_and_a_second_one_does_nothing() -> None:
    world, _ = running(settle_ms=1)
    world.shown = {"HeartBeat", "UnregisterClient"}

    world.hear("A", Stop("G"))
    world.hear("A", Stop("G"))
    world.run(100)

    assert told(world) == ["A -> east HeartBeat G[orders %RETRY%G]", "A -> east UnregisterClient"]


def test_a_further_topic_is_told_at_once_and_taken_by_the_next_round() -> None:
    world, member = running()
    world.topic("bills", "east=1")
    world.shown = {"HeartBeat"}
    told(world)

    world.hear("A", Subscribe("G", "bills"))
    world.run(100)
    assert told(world)[0].endswith("G[orders %RETRY%G bills]")
    world.run(50_000)

    assert member.held("bills")


@pytest.mark.parametrize("orderly", [False, True])
def test_what_the_listener_has_in_hand_still_counts_while_a_consumer_drains(orderly: bool) -> None:
    world, member = running(orderly=orderly, threads=1)
    machine = world.machines["A"]
    machine.listener_ms = None
    world.put(EAST, 3)
    world.run(100)

    world.hear("A", Drain("G"))
    world.consumed("A", machine.in_hand[0], Consumed(token=machine.in_hand[0].token))
    world.run(2_000)

    assert member.offsets.in_memory(EAST) == 1
    assert member.held("orders") == {EAST}
    world.hear("A", Stop("G"))
    world.run(100)
    assert stored(world) == 1


def test_messages_that_wait_for_a_thread_do_not_begin_while_a_consumer_drains() -> None:
    world, _ = running(threads=1)
    machine = world.machines["A"]
    machine.listener_ms = None
    world.put(EAST, 3)
    world.run(100)

    world.hear("A", Drain("G"))
    world.consumed("A", machine.in_hand[0], Consumed(token=machine.in_hand[0].token))
    world.run(2_000)

    assert machine.in_hand == []
