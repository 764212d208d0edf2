import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rebalance_engine.consumer import CPP, GO, Consumed, GroupSettings, Profile, Start, Stop, java
from rebalance_engine.effects import Answered, Closed, Failure, Unanswered, Woken
from rebalance_engine.remoting.requests.contract import Response
from tests.rebalance_engine.consumer.crowd import Crowd
from tests.rebalance_engine.consumer.running import EAST, running
from tests.rebalance_engine.consumer.world import World


def test_a_group_that_is_not_here_cannot_be_ordered_about() -> None:
    world, _ = running()

    with pytest.raises(ValueError, match="no consumer of group 'H'; it has G"):
        world.hear("A", Stop("H"))


def test_a_group_that_is_here_cannot_be_started_again() -> None:
    world, _ = running()

    with pytest.raises(ValueError, match="has a consumer of group 'G' already"):
        world.hear("A", Start(settings=GroupSettings(group="G", topics={"orders": "*"})))


def test_it_states_what_it_holds() -> None:
    world, member = running(queues=2)
    member.table[EAST].is_dropped = True

    held = world.machines["A"].client.held("G")

    assert [mq.queue_id for mq in held.queues] == [0, 1] and held.queues[0].topic == "%RETRY%G"
    assert held.dropped == (EAST,)


def test_what_is_heard_too_late_or_from_nowhere_changes_nothing() -> None:
    world, _ = running()
    client = world.machines["A"].client

    for heard in (
        Answered(token=999_999, response=Response(code=0)),
        Unanswered(token=999_999, failure=Failure.CLOSED),
        Consumed(token=999_999),
        Closed(channel=5),
    ):
        assert client.handle(heard, world.at) == []
    assert len(client.handle(Woken(timer="next"), world.at)) == 1  # asks to be woken for what still is to come


STEPS = st.tuples(
    st.sampled_from(["start", "stop", "kill", "notify", "deaf", "silent", "put", "put", "slow", "rest"]),
    st.sampled_from("ABC"),
    st.sampled_from([1, 40, 700, 6_000]),
)
PROFILES = [java("4.9.7"), java("5.1.4"), java("5.3.1"), java("5.5.0"), GO, CPP]


@settings(max_examples=80, deadline=None)
@given(st.sampled_from(PROFILES), st.booleans(), st.lists(STEPS, max_size=25))
def test_whatever_happened_after_a_quiet_time_every_queue_is_held_once_and_consumed(
    profile: Profile, orderly: bool, steps: list[tuple[str, str, int]]
) -> None:
    crowd = Crowd(profile, orderly=orderly)
    for verb, who, ms in [("start", "A", 1), *steps, ("start", "A", 1)]:
        getattr(crowd, verb)(who, ms)
        crowd.world.run(ms)
    crowd.calm_down()

    crowd.world.run(200_000)  # more than the broker's lock, two renewals, two rounds and the longest listener

    assert {mq: len(names) for mq, names in crowd.owners().items()} == dict.fromkeys(crowd.queues, 1)
    crowd.world.run(20_000)
    assert [crowd.left_over(mq) for mq in crowd.queues] == [0] * len(crowd.queues)


@pytest.mark.parametrize("slow_ms", [0, 50])
def test_two_consumers_of_one_client_may_be_stopped_while_the_other_is_leaving(slow_ms: int) -> None:
    world = World()
    world.topic("orders", "east=1", "west=1")
    client = world.make_client("A", java("5.5.0"))
    for group in ("G", "H"):
        world.start("A", group, "orders")
    world.run(5_000)
    world.delays["east"] = slow_ms

    world.hear("A", Stop("G"))
    world.run(1)
    world.hear("A", Stop("H"))
    for _ in range(1_000):
        world.run(1)
        client.check()

    assert not client.is_running and client.groups == ()


def test_threads_without_consumers_and_consumers_without_threads_are_found() -> None:
    world, member = running()
    client = world.machines["A"].client
    services, client._services = client._services, []
    with pytest.raises(AssertionError, match="consumers outlive its threads"):
        client.check()
    client._services = services
    del client.desk.members[member.group]

    with pytest.raises(AssertionError, match="threads outlive its consumers"):
        client.check()


def test_it_runs_until_its_last_consumer_has_left() -> None:
    world, _ = running()
    client = world.machines["A"].client
    seen = [client.is_running]

    world.hear("A", Stop("G"))
    seen.append(client.is_running)
    world.run(10)
    seen.append(client.is_running)

    assert seen == [True, True, False]
