from functools import partial
from itertools import pairwise

import pytest

from rebalance_engine.consumer import CPP, GO, Profile, java
from tests.rebalance_engine.consumer.running import EAST, JAVA, running
from tests.rebalance_engine.consumer.world import World


def rounds(world: World, ms: int) -> list[int]:
    """When the client asked who else is there, from now on."""
    world.shown, world.mark, world.lines = {"GetConsumerListByGroup"}, world.at, []
    world.run(ms)
    return [int(line[:6]) for line in world.lines if "GetConsumerList" in line][::2]  # two topics a round


@pytest.mark.parametrize(
    ("profile", "every"),
    [(java("4.9.7"), 20_000), (java("5.1.4"), 20_000), (JAVA, 20_000), (GO, 20_000), (CPP, 10_000)],
    ids=str,
)
def test_without_any_cause_a_round_comes_by_time(profile: Profile, every: int) -> None:
    world, _ = running(profile, settle_ms=30_000)
    times = rounds(world, 100_000)

    assert all(every <= after - before <= every + 10 for before, after in pairwise(times))
    assert len(times) in (100_000 // every, 100_000 // every - 1)


@pytest.mark.parametrize(("version", "second"), [("5.1.4", 100), ("5.2.0", 1_000)])
def test_from_5_2_on_rounds_are_a_second_apart(version: str, second: int) -> None:
    world, _ = running(java(version), settle_ms=10_000)
    world.hear_notification("A", "G")
    world.later(100, lambda: world.hear_notification("A", "G"))

    first, again = rounds(world, 3_000)

    assert first <= 5
    assert again - first in range(second, second + 5) or again == second


def test_a_burst_of_notifications_makes_one_further_round() -> None:
    for version in ("4.9.7", "5.5.0"):
        world, _ = running(java(version), settle_ms=10_000)
        world.delays["east"] = 300
        world.hear_notification("A", "G")
        for ms in (50, 60, 70):
            world.later(ms, partial(world.hear_notification, "A", "G"))
        assert len(rounds(world, 5_000)) == 2


def test_an_unbalanced_group_rebalances_each_second_from_5_2_on() -> None:
    for version, count in (("5.1.4", 0), ("5.2.0", 9)):
        world, member = running(java(version), settle_ms=10_000)
        member.table[EAST].is_dropped = True
        world.hear_notification("A", "G")
        assert len(rounds(world, 10_000)) - 1 == count


def test_offsets_are_stored_every_5_s_and_routes_and_heartbeats_every_30_s() -> None:
    world, _ = running(settle_ms=10_500)
    world.put(EAST, 1)
    world.shown = {"UpdateConsumerOffset", "HeartBeat", "GetRouteInfoByTopic"}
    world.lines = []
    world.run(61_000)

    def times(kind: str) -> list[int]:
        return [int(line[:6]) for line in world.lines if kind in line]

    assert times("topic=orders queue_id=0 commit")[:3] == [15_000, 20_000, 25_000]
    assert times("HeartBeat") == [31_000, 61_000]
    assert times("GetRoute") == [30_010, 30_011, 60_010, 60_011]


def test_what_is_woken_is_every_group_but_in_cpp_the_named_one_only() -> None:
    for profile, names in ((JAVA, {"G", "H"}), (GO, {"G", "H"}), (CPP, {"G"})):
        world, _ = running(profile)
        world.start("A", "H", "orders")
        world.run(15_500)
        for group in ("G", "H"):
            world.broker("east").members[group] = {"0": {}, "A": {}}  # which takes everything from A
        world.broker("east").notifies = False
        world.hear_notification("A", "G")
        world.run(2_000)
        client = world.machines["A"].client
        assert {group for group in client.groups if not client.member(group).held()} == names
