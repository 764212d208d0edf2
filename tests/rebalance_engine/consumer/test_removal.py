import pytest

from rebalance_engine.consumer import CPP, GO, Profile, Suspend, java
from rebalance_engine.consumer.peer import running_info
from rebalance_engine.consumer.removal import let_go
from rebalance_engine.consumer.threads import Code
from rebalance_engine.events import DropReason
from tests.rebalance_engine.consumer.running import EAST, running, told

OLD, NEW = java("5.1.4"), java("5.2.0")
UNLOCKED = "A gives back the lock of orders/east/0"


def letting_go(profile: Profile, *, busy: bool, cached: bool = False, renewed_ms_ago: int = 5_000) -> tuple:
    """What was told after 10 s and after 30 s, and how it ended when."""
    world, member = running(profile, orderly=True)
    pq = member.table[EAST]
    pq.is_locked = True
    if cached:
        world.machines["A"].listener_ms = None
        world.put(EAST, 3)
        world.run(3_000)
        world.machines["A"].in_hand.clear()
        pq.consume_lock.is_held = False
    pq.consume_lock.is_held = busy
    pq.last_lock = world.at - renewed_ms_ago
    ended: list[tuple[bool, int]] = []
    world.hear("A", Suspend("G"))
    member.drop(pq, DropReason.NOT_IN_TARGET)
    member.table.pop(EAST)
    told(world)
    began = world.at

    def code() -> Code[None]:
        ended.append(((yield from let_go(member, pq)), world.at - began))

    world.machines["A"].client.desk.threads.spawn(code())
    world.hear("A", Suspend("G"))
    world.run(10_000)
    soon = UNLOCKED in told(world)
    world.run(20_000)
    return *ended[0], soon, soon or UNLOCKED in told(world)


@pytest.mark.parametrize("cached", [False, True])
def test_from_5_2_on_an_idle_queue_is_unlocked_at_once(cached: bool) -> None:
    assert letting_go(NEW, busy=False, cached=cached) == (True, 0, True, True)


def test_from_5_2_on_a_busy_queue_is_waited_for_half_a_second() -> None:
    assert letting_go(NEW, busy=True) == (False, 500, False, False)


def test_from_5_2_on_a_busy_queue_is_forced_20_s_after_its_last_renewal() -> None:
    assert letting_go(NEW, busy=True, renewed_ms_ago=20_000) == (False, 500, False, False)
    assert letting_go(NEW, busy=True, renewed_ms_ago=20_001) == (True, 0, True, True)


def test_before_5_2_a_queue_without_messages_is_unlocked_at_once() -> None:
    assert letting_go(OLD, busy=False) == (True, 0, True, True)


def test_before_5_2_cached_messages_delay_the_unlock_by_20_s() -> None:
    assert letting_go(OLD, busy=False, cached=True) == (True, 0, False, True)


def test_before_5_2_a_busy_queue_is_waited_for_one_second_however_long_ago_it_was_renewed() -> None:
    assert letting_go(OLD, busy=True, renewed_ms_ago=60_000) == (False, 1_000, False, False)


def test_cpp_unlocks_a_busy_queue_at_once_and_waits_for_the_answer() -> None:
    assert letting_go(CPP, busy=True) == (True, 1, True, True)


@pytest.mark.parametrize("is_silent", [False, True])
def test_cpp_throws_away_what_is_cached_once_its_unlock_was_answered(is_silent: bool) -> None:
    world, member = running(CPP, orderly=True)
    world.machines["A"].listener_ms = None
    world.put(EAST, 3)
    world.run(10)
    pq = member.table[EAST]
    if is_silent:
        world.broker("east").silent.add("UnlockBatchMq")
    member.drop(pq, DropReason.NOT_IN_TARGET)

    world.machines["A"].client.desk.threads.spawn(let_go(member, pq))
    world.hear("A", Suspend("G"))
    assert pq.count == 3
    world.run(999 if is_silent else 0)
    assert pq.count == 3
    world.run(1)

    assert pq.count == 0


def test_go_never_unlocks() -> None:
    assert letting_go(GO, busy=False) == (True, 0, False, False)


@pytest.mark.parametrize("profile", [OLD, NEW], ids=str)
def test_each_wait_in_vain_is_counted_and_shown(profile: Profile) -> None:
    world, member = running(profile, orderly=True)
    pq = member.table[EAST]
    pq.consume_lock.is_held = True
    pq.last_lock = world.at + 60_000  # not forced

    for _ in range(2):
        world.machines["A"].client.desk.threads.spawn(let_go(member, pq))
        world.hear("A", Suspend("G"))
        world.run(1_000)

    assert running_info(member.desk, member).mq_table[EAST].try_unlock_times == 2


def test_from_5_2_on_an_orderly_queue_is_stored_before_and_after_the_wait_and_then_forgotten() -> None:
    world, member = running(NEW, orderly=True)
    member.offsets.update(EAST, 7)
    world.shown = {"UpdateConsumerOffset"}
    told(world)

    world.machines["A"].client.desk.threads.spawn(let_go(member, member.table[EAST]))
    world.hear("A", Suspend("G"))

    stored = "A -> east UpdateConsumerOffset topic=orders queue_id=0 commit_offset=7"
    assert told(world) == [stored, stored, UNLOCKED]
    assert member.offsets.in_memory(EAST) is None
    assert not member.table[EAST].is_locked


@pytest.mark.parametrize(("profile", "busy"), [(OLD, False), (OLD, True), (CPP, True), (GO, True)], ids=str)
def test_others_store_and_forget_an_orderly_queue_before_they_wait(profile: Profile, busy: bool) -> None:
    world, member = running(profile, orderly=True)
    member.offsets.update(EAST, 7)
    member.table[EAST].consume_lock.is_held = busy
    world.shown = {"UpdateConsumerOffset"}
    told(world)

    world.machines["A"].client.desk.threads.spawn(let_go(member, member.table[EAST]))
    world.hear("A", Suspend("G"))

    assert told(world)[:1] == ["A -> east UpdateConsumerOffset topic=orders queue_id=0 commit_offset=7"]
    assert member.offsets.in_memory(EAST) is None
