"""Why a process may consume an orderly queue without having its lock, and why not."""

import pytest

from rebalance_engine.consumer import CPP, GO, Profile, java
from rebalance_engine.events import DropReason
from rebalance_engine.simulation.breach import Breach, Rule
from rebalance_engine.simulation.timers import BELIEVED, ON_THE_WAY, ROUND
from tests.rebalance_engine.simulation.stage import QUEUE, Stage


def holds_it() -> Stage:
    stage = Stage(is_orderly=True)
    stage.ledger.ordering.locks.granted("A", [QUEUE], stage.network.clock.now)
    stage.take(stage.a)
    return stage


def gives_back_what_it_dropped_before(version: str, after_ms: int, *, renewed_after_ms: int = 0) -> Stage:
    stage = Stage(is_orderly=True, profile=java(version))
    locks, clock = stage.ledger.ordering.locks, stage.network.clock
    locks.granted("A", [QUEUE], clock.now)
    stage.take(stage.a)
    stage.drop(stage.a)
    stage.wait(1_000)
    stage.take(stage.a)
    if renewed_after_ms:
        stage.wait(renewed_after_ms - 1_000)
        locks.granted("A", [QUEUE], clock.now)
    stage.wait(after_ms - max(1_000, renewed_after_ms))
    locks.released("A", [QUEUE], clock.now, "A")
    locks.granted("B", [QUEUE], clock.now)
    stage.take(stage.b)
    return stage


@pytest.mark.parametrize(
    ("version", "after_ms", "is_allowed"),
    [("4.9.7", 20_000, True), ("5.1.4", 20_000, True), ("5.1.4", 19_999, False), ("5.5.0", 20_000, False)],
)
def test_who_lost_his_lock_by_his_own_delayed_unlock_consumes_beside_the_new_holder(
    version: str, after_ms: int, is_allowed: bool
) -> None:
    stage = gives_back_what_it_dropped_before(version, after_ms)
    stage.give(stage.b, 0)

    if is_allowed:
        stage.give(stage.a, 0)
    else:
        with pytest.raises(Breach, match="A and B both consume orders/east/0, and B has the lock") as broken:
            stage.give(stage.a, 0)
        assert broken.value.rule is Rule.ALONE


def test_who_lost_his_lock_by_his_own_delayed_unlock_learns_it_with_his_next_renewal() -> None:
    stage = gives_back_what_it_dropped_before("5.1.4", 20_000)
    stage.wait(1_000 + ROUND + ON_THE_WAY - 20_000)
    stage.consume(stage.a, 0)
    stage.commit(stage.a, 1)
    stage.wait(1)

    with pytest.raises(Breach, match="for 23001 ms without renewing its lock"):
        stage.give(stage.a, 1)


def test_who_lost_his_lock_by_his_own_delayed_unlock_believes_in_it_for_half_a_minute_at_most() -> None:
    stage = gives_back_what_it_dropped_before("5.1.4", 20_000)
    stage.weather.turns_foul(stage.network.clock.now, stage.network.clock.now + 99_000)
    stage.wait(BELIEVED + ON_THE_WAY - 20_000 + 1)

    with pytest.raises(Breach, match="last renewed its lock 33001 ms ago"):
        stage.give(stage.a, 0)


@pytest.mark.parametrize("stood_still", [True, False])
def test_who_stood_still_consumes_beside_him_who_got_the_lock_meanwhile(stood_still: bool) -> None:
    stage = holds_it()
    now = stage.network.clock.now
    stage.weather.turns_foul(now, now + 70_000, "A")
    if stood_still:
        stage.weather.stops(now, now + 70_000, "A")
    stage.wait(70_000)
    stage.ledger.ordering.locks.granted("B", [QUEUE], stage.network.clock.now)
    stage.take(stage.b)
    stage.give(stage.b, 0)

    if stood_still:
        stage.give(stage.a, 0)
    else:
        with pytest.raises(Breach, match="both consume orders/east/0, and B has the lock"):
            stage.give(stage.a, 0)


@pytest.mark.parametrize(
    ("profile", "is_allowed"), [(java("5.5.0"), True), (java("5.1.4"), True), (GO, True), (CPP, False)], ids=str
)
def test_who_shuts_down_consumes_on_without_his_locks_but_cpp_waits_for_its_listeners_first(
    profile: Profile, is_allowed: bool
) -> None:
    stage = Stage(is_orderly=True, profile=profile)
    locks, now = stage.ledger.ordering.locks, stage.network.clock.now
    locks.granted("A", [QUEUE], now, "A")
    stage.take(stage.a)
    stage.a.stop()
    locks.released("A", [QUEUE], now, "A")

    if is_allowed:
        stage.give(stage.a, 0)
    else:
        with pytest.raises(Breach, match="gave its lock back 0 ms ago"):
            stage.give(stage.a, 0)


def test_of_two_without_the_lock_each_needs_a_reason() -> None:
    stage = holds_it()
    stage.give(stage.a, 0)
    locks, now = stage.ledger.ordering.locks, stage.network.clock.now
    locks.released("A", [QUEUE], now, "A")
    locks.granted("B", [QUEUE], now)
    stage.take(stage.b)
    stage.ledger.restarted("east", now)

    with pytest.raises(Breach, match="B and A both consume orders/east/0, and A gave its lock back too soon"):
        stage.give(stage.b, 0)


@pytest.mark.parametrize("was_cut_off", [True, False])
def test_a_delayed_unlock_comes_later_still_where_a_fault_holds_it_up(was_cut_off: bool) -> None:
    stage = gives_back_what_it_dropped_before("5.1.4", 40_000, renewed_after_ms=24_000)
    now = stage.network.clock.now
    if was_cut_off:
        stage.weather.turns_foul(now - 25_000, now, "A")
    stage.give(stage.b, 0)

    if was_cut_off:
        stage.give(stage.a, 0)
    else:
        with pytest.raises(Breach, match="both consume orders/east/0, and B has the lock"):
            stage.give(stage.a, 0)


@pytest.mark.parametrize(
    ("renewed_by", "was_foul", "is_allowed"), [("A", False, False), ("A", True, True), ("twin", False, True)]
)
def test_a_lock_is_forced_open_20_s_after_the_last_renewal_of_which_its_holder_heard(
    renewed_by: str, was_foul: bool, is_allowed: bool
) -> None:
    stage = Stage(is_orderly=True)
    locks, clock = stage.ledger.ordering.locks, stage.network.clock
    locks.granted("A", [QUEUE], clock.now, "A")
    stage.take(stage.a)
    stage.wait(8_000)
    stage.consume(stage.a, 0)
    stage.commit(stage.a, 1)
    stage.wait(7_000)
    locks.granted("A", [QUEUE], clock.now, renewed_by)
    if was_foul:
        stage.weather.turns_foul(clock.now, clock.now, "A")
    stage.give(stage.a, 1)
    stage.wait(6_000)
    stage.drop(stage.a, committed=1)
    locks.released("A", [QUEUE], clock.now, "A")
    locks.granted("B", [QUEUE], clock.now, "B")
    stage.take(stage.b, at=1)

    if is_allowed:
        stage.give(stage.b, 1)
    else:
        with pytest.raises(Breach, match="B and A both consume orders/east/0, and A gave its lock back too soon"):
            stage.give(stage.b, 1)


@pytest.mark.parametrize(
    ("profile", "renewed_before_ms", "is_allowed"), [(CPP, 3_000, True), (CPP, 3_001, False), (java("5.5.0"), 1, False)]
)
def test_an_unlock_that_crosses_an_answer_counts_for_the_hold_before(
    profile: Profile, renewed_before_ms: int, is_allowed: bool
) -> None:
    stage = Stage(is_orderly=True, profile=profile)
    locks, clock = stage.ledger.ordering.locks, stage.network.clock
    stage.take(stage.a)
    locks.granted("A", [QUEUE], clock.now, "A")
    stage.wait(renewed_before_ms)
    stage.drop(stage.a)
    locks.released("A", [QUEUE], clock.now, "A")
    stage.take(stage.a)

    if is_allowed:
        stage.give(stage.a, 0)
    else:
        with pytest.raises(Breach, match="gave its lock back 0 ms ago"):
            stage.give(stage.a, 0)


@pytest.mark.parametrize("has_taken_again", [True, False])
def test_an_unlock_waits_for_the_listener_of_its_own_hold_only(has_taken_again: bool) -> None:
    stage = holds_it()
    stage.give(stage.a, 0)
    stage.drop(stage.a, reason=DropReason.NOT_SUBSCRIBED)
    if has_taken_again:
        stage.take(stage.a)
        stage.drop(stage.a)
    stage.ledger.ordering.locks.released("A", [QUEUE], stage.network.clock.now, "A")
    stage.ledger.ordering.locks.granted("B", [QUEUE], stage.network.clock.now)
    stage.take(stage.b)

    if has_taken_again:
        stage.give(stage.b, 0)
    else:
        with pytest.raises(Breach, match="both consume orders/east/0, and A gave its lock back too soon"):
            stage.give(stage.b, 0)


@pytest.mark.parametrize(("version", "is_allowed"), [("5.1.4", True), ("5.5.0", False)])
def test_only_to_5_1_an_unlock_is_delayed_however_foul_the_weather(version: str, is_allowed: bool) -> None:
    stage = gives_back_what_it_dropped_before(version, 40_000, renewed_after_ms=24_000)
    stage.weather.turns_foul(stage.network.clock.now - 14_000, stage.network.clock.now, "A")
    stage.give(stage.b, 0)

    if is_allowed:
        stage.give(stage.a, 0)
    else:
        with pytest.raises(Breach, match="both consume orders/east/0, and B has the lock"):
            stage.give(stage.a, 0)


def gives_its_lock_back_while_it_consumes(profile: Profile, unrenewed_ms: int) -> Stage:
    stage = Stage(is_orderly=True, profile=profile)
    locks, clock = stage.ledger.ordering.locks, stage.network.clock
    locks.granted("A", [QUEUE], clock.now, "A")
    stage.take(stage.a)
    stage.give(stage.a, 0)
    stage.wait(unrenewed_ms)
    stage.drop(stage.a)
    locks.released("A", [QUEUE], clock.now, "A")
    locks.granted("B", [QUEUE], clock.now, "B")
    stage.take(stage.b)
    return stage


@pytest.mark.parametrize(
    ("profile", "unrenewed_ms", "is_allowed"),
    [
        (CPP, 10_000, True),
        (java("5.5.0"), 20_000, False),
        (java("5.5.0"), 20_001, True),
        (java("5.1.4"), 20_001, False),
        (GO, 20_001, False),
    ],
    ids=str,
)
def test_who_unlocks_beneath_a_listener(profile: Profile, unrenewed_ms: int, is_allowed: bool) -> None:
    stage = gives_its_lock_back_while_it_consumes(profile, unrenewed_ms)

    if is_allowed:
        stage.give(stage.b, 0)
    else:
        with pytest.raises(Breach, match="B and A both consume orders/east/0, and A gave its lock back too soon"):
            stage.give(stage.b, 0)


@pytest.mark.parametrize(("after_ms", "is_allowed"), [(3_000, True), (3_001, False)])
def test_an_unlock_long_after_a_hold_crosses_no_answer_to_it(after_ms: int, is_allowed: bool) -> None:
    stage = Stage(is_orderly=True, profile=CPP)
    locks, clock = stage.ledger.ordering.locks, stage.network.clock
    stage.take(stage.a)
    stage.drop(stage.a)
    stage.wait(after_ms)
    locks.granted("A", [QUEUE], clock.now, "A")
    stage.take(stage.a)
    locks.released("A", [QUEUE], clock.now, "A")

    if is_allowed:
        stage.give(stage.a, 0)
    else:
        with pytest.raises(Breach, match="gave its lock back 0 ms ago"):
            stage.give(stage.a, 0)


@pytest.mark.parametrize("shuts_down", [True, False])
def test_who_shuts_down_consumes_what_it_has_cached_without_its_lock(shuts_down: bool) -> None:
    stage = holds_it()
    if shuts_down:
        stage.a.stop()
    stage.ledger.ordering.locks.released("A", [QUEUE], stage.network.clock.now, "A")

    if shuts_down:
        stage.give(stage.a, 0)
    else:
        with pytest.raises(Breach, match="gave its lock back 0 ms ago"):
            stage.give(stage.a, 0)
