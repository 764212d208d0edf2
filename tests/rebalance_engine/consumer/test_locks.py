import pytest

from rebalance_engine.consumer import CPP, GO, Profile, Stop, java
from rebalance_engine.remoting.codes import ResponseCode
from rebalance_engine.remoting.requests.contract import Refused
from tests.rebalance_engine.consumer.running import EAST, running, told


@pytest.mark.parametrize("version", ["4.9.7", "5.1.4"])
def test_locks_are_renewed_a_second_after_the_start_and_every_20_s(version: str) -> None:
    world, _ = running(java(version), orderly=True, settle_ms=100)
    world.shown = {"LockBatchMq"}
    world.run(62_000)

    times = [int(line[:6]) for line in world.lines if "LockBatchMq %RETRY%G/east/0 orders/east/0" in line]

    assert times == [1_000, 21_000, 41_000, 61_000]


def test_cpp_renews_for_the_first_time_after_20_s() -> None:
    world, _ = running(CPP, orderly=True, settle_ms=10)
    world.shown = {"LockBatchMq"}
    world.run(30_000)

    renewals = [line.split(" LockBatchMq ") for line in world.lines if int(line[:6]) >= 20_000 and "->" in line]
    assert [(int(before[:6]), queues) for before, queues in renewals] == [
        (20_000, "%RETRY%G/east/0"),
        (20_001, "orders/east/0"),
    ]


def test_a_refused_renewal_unlocks_and_a_missing_answer_does_not() -> None:
    world, member = running(orderly=True)
    world.broker("east").silent.add("LockBatchMq")
    world.run(20_000)
    assert member.table[EAST].is_locked
    world.broker("east").silent.clear()
    world.broker("east").locks["G", EAST] = ("B", world.at)
    world.run(20_000)

    assert not member.table[EAST].is_locked
    assert "A is refused the lock of orders/east/0" in told(world)


@pytest.mark.parametrize(
    ("profile", "stays_locked"), [(java("4.9.7"), False), (java("5.5.0"), False), (CPP, True), (GO, True)], ids=str
)
def test_a_refused_renewal_unlocks_in_java_only(profile: Profile, stays_locked: bool) -> None:
    world, member = running(profile, orderly=True)
    world.broker("east").locks["G", EAST] = ("B", world.at)
    world.run(25_000)

    assert "A is refused the lock of orders/east/0" in told(world)
    assert member.table[EAST].is_locked is stays_locked


@pytest.mark.parametrize("profile", [java("4.9.7"), java("5.5.0"), CPP, GO], ids=str)
@pytest.mark.parametrize("fails", ["silent", "refused"])
def test_a_renewal_that_is_not_answered_with_locks_unlocks_nobody(profile: Profile, fails: str) -> None:
    world, member = running(profile, orderly=True)
    assert member.table[EAST].is_locked
    world.shown = {"LockBatchMq"}
    world.machines["A"].listener_ms = None
    told(world)
    if fails == "silent":
        world.broker("east").silent.add("LockBatchMq")
    else:
        world.broker("east").answers["LockBatchMq"] = [Refused(code=ResponseCode.SYSTEM_ERROR)]
    while not told(world):
        world.run(100)
    world.run(1_000)

    assert member.table[EAST].is_locked
    assert "A is refused the lock of orders/east/0" not in told(world)  # nobody said so


@pytest.mark.parametrize("profile", [java("4.9.7"), java("5.5.0"), CPP, GO], ids=str)
@pytest.mark.parametrize("fails", [None, "silent", "refused"])
def test_who_gives_his_locks_back_knows_it_once_the_broker_says_so_but_go_does_not(
    profile: Profile, fails: str | None
) -> None:
    world, member = running(profile, orderly=True)
    held = member.table[EAST]
    assert held.is_locked
    if fails == "silent":
        world.broker("east").silent.add("UnlockBatchMq")
    elif fails == "refused":
        world.broker("east").answers["UnlockBatchMq"] = [Refused(code=ResponseCode.SYSTEM_ERROR)]
    world.hear("A", Stop("G"))
    world.run(5_000)

    assert not member.table
    assert held.is_locked is (fails is not None or profile is GO)


def test_a_dropped_queue_is_renewed_before_5_2_only() -> None:
    for version, renewed in (("5.1.4", True), ("5.2.0", False)):
        world, member = running(java(version), orderly=True)
        member.table[EAST].is_dropped = True
        since = member.table[EAST].last_lock
        member.table[EAST].consume_lock.is_held = True
        world.run(17_000)
        assert (member.table[EAST].last_lock > since) is renewed
