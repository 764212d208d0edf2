"""What only clients in C++ and Go may do, and how far."""

import pytest

from rebalance_engine.consumer import CPP, GO, Profile, java
from rebalance_engine.consumer.application import Result
from rebalance_engine.simulation.breach import Breach, Rule
from rebalance_engine.simulation.store import Store
from rebalance_engine.simulation.timers import LOCK_ANSWERED, ON_THE_WAY, RUN
from tests.rebalance_engine.simulation.stage import QUEUE, Stage

JAVA = java("5.5.0")
FOR_EVER = 2**62


# ---- runs of C++ ----


def in_a_run(profile: Profile = CPP, ms: int = 0) -> Stage:
    """A has had message 0 for a while and succeeds now; its lock went to B meanwhile."""
    stage = Stage(is_orderly=True, profile=profile)
    stage.weather.turns_foul(0, FOR_EVER)  # nothing is said of renewals here
    locks, clock = stage.ledger.ordering.locks, stage.network.clock
    locks.granted("A", [QUEUE], clock.now, "A")
    stage.take(stage.a)
    deliver = stage.give(stage.a, 0)
    stage.wait(ms)
    locks.released("A", [QUEUE], clock.now, "A")
    locks.granted("B", [QUEUE], clock.now, "B")
    stage.ledger.consumed(stage.a, deliver, Result.SUCCESS)
    return stage


@pytest.mark.parametrize(
    ("profile", "ms", "is_allowed"),
    [(CPP, RUN, True), (CPP, RUN + 1, False), (GO, 10, False), (JAVA, 10, False)],
    ids=str,
)
def test_within_a_run_of_a_minute_cpp_does_not_look_at_its_lock(profile: Profile, ms: int, is_allowed: bool) -> None:
    stage = in_a_run(profile, ms)

    if is_allowed:
        stage.give(stage.a, 1)
    else:
        with pytest.raises(Breach, match="gave its lock back 0 ms ago") as broken:
            stage.give(stage.a, 1)
        assert broken.value.rule is Rule.LOCKED


def test_a_run_ends_where_no_message_follows_at_once() -> None:
    stage = in_a_run()
    stage.wait(1)

    with pytest.raises(Breach, match="gave its lock back 1 ms ago"):
        stage.give(stage.a, 1)


def test_a_run_ends_with_a_message_that_fails() -> None:
    stage = in_a_run()
    stage.consume(stage.a, 1, result=Result.LATER)

    with pytest.raises(Breach, match="gave its lock back 0 ms ago"):
        stage.give(stage.a, 1)


def test_a_run_that_began_without_the_lock_is_no_excuse() -> None:
    stage = Stage(is_orderly=True, profile=CPP)
    stage.take(stage.a)

    with pytest.raises(Breach, match="without ever having had its lock"):
        stage.give(stage.a, 0)


@pytest.mark.parametrize(
    ("late_ms", "stood_still", "is_allowed"),
    [(LOCK_ANSWERED, False, True), (LOCK_ANSWERED + 1, False, False), (LOCK_ANSWERED + 1, True, True)],
)
def test_a_run_goes_on_in_a_dropped_queue_until_its_unlock_is_answered(
    late_ms: int, stood_still: bool, is_allowed: bool
) -> None:
    stage = in_a_run()
    stage.drop(stage.a, committed=1)
    deliver, now = stage.give(stage.a, 1), stage.network.clock.now
    if stood_still:
        stage.weather.stops(now, now + late_ms, "A")
    stage.wait(late_ms)
    stage.ledger.consumed(stage.a, deliver, Result.SUCCESS)

    if is_allowed:
        stage.give(stage.a, 2)
    else:
        with pytest.raises(Breach, match="which it does not hold") as broken:
            stage.give(stage.a, 2)
        assert broken.value.rule is Rule.HOLDING


@pytest.mark.parametrize(("profile", "ms"), [(CPP, 1), (GO, 0), (JAVA, 0)], ids=str)
def test_no_run_begins_in_a_dropped_queue_and_others_do_not_go_on(profile: Profile, ms: int) -> None:
    stage = in_a_run(profile)
    stage.drop(stage.a, committed=1)
    stage.wait(ms)

    with pytest.raises(Breach, match="which it does not hold"):
        stage.give(stage.a, 1)


@pytest.mark.parametrize(("profile", "is_allowed"), [(CPP, True), (GO, False), (JAVA, False)], ids=str)
def test_two_holds_of_a_process_do_not_wait_for_each_other_in_cpp(profile: Profile, is_allowed: bool) -> None:
    stage = Stage(is_orderly=True, profile=profile)
    stage.ledger.ordering.locks.granted("A", [QUEUE], stage.network.clock.now, "A")
    stage.take(stage.a)
    stage.give(stage.a, 0)
    stage.drop(stage.a)
    stage.take(stage.a)
    if is_allowed:
        stage.give(stage.a, 0)

    with pytest.raises(Breach, match="A consumes orders/east/0 twice at a time") as broken:
        stage.give(stage.a, 0)
    assert broken.value.rule is Rule.ALONE


# ---- what C++ sends back ----


@pytest.mark.parametrize(("profile", "is_allowed"), [(CPP, True), (JAVA, False), (GO, False)], ids=str)
def test_only_cpp_sends_back_what_fails_in_a_dropped_queue(profile: Profile, is_allowed: bool) -> None:
    stage, store = Stage(profile=profile), Store("east")
    store.append(QUEUE, 0)
    stage.take(stage.a)
    deliver = stage.give(stage.a, 0)
    stage.drop(stage.a)
    stage.ledger.consumed(stage.a, deliver, Result.LATER)
    returned = store.take_back("g", 0, 0, 16, 0)[1]

    if is_allowed:
        stage.ledger.returned(stage.a, returned)
    else:
        with pytest.raises(Breach, match="its listener asked for it 0 times") as broken:
            stage.ledger.returned(stage.a, returned)
        assert broken.value.rule is Rule.RETURNED


def test_what_failed_before_the_drop_may_come_back_after_it() -> None:
    stage, store = Stage(), Store("east")
    store.append(QUEUE, 0)
    stage.take(stage.a)
    stage.consume(stage.a, 0, result=Result.LATER)
    stage.drop(stage.a)

    stage.ledger.returned(stage.a, store.take_back("g", 0, 0, 16, 0)[1])


def test_what_comes_back_counts_for_the_hold_whose_listener_asked() -> None:
    stage, store = Stage(profile=CPP), Store("east")
    store.append(QUEUE, 0)
    stage.take(stage.a)
    deliver = stage.give(stage.a, 0)
    stage.drop(stage.a)
    stage.take(stage.a)
    stage.ledger.consumed(stage.a, deliver, Result.LATER)

    stage.ledger.returned(stage.a, store.take_back("g", 0, 0, 16, 0)[1])
    with pytest.raises(Breach, match="its listener asked for it 0 times"):
        stage.ledger.returned(stage.a, store.take_back("g", 0, 0, 16, 0)[1])


# ---- Go, where nothing is stored ----


@pytest.mark.parametrize(
    ("profile", "finished", "is_allowed"), [(GO, 0, True), (GO, 1, False), (JAVA, 0, False), (CPP, 0, False)], ids=str
)
def test_only_go_stores_that_nothing_is_stored_until_it_has_finished_a_message(
    profile: Profile, finished: int, is_allowed: bool
) -> None:
    stage = Stage(profile=profile)
    stage.take(stage.a)
    stage.consume(stage.a, *range(finished))
    stage.wait(ON_THE_WAY)

    if is_allowed:
        stage.commit(stage.a, -1)
    else:
        with pytest.raises(Breach, match="A commits -1 of orders/east/0") as broken:
            stage.commit(stage.a, -1)
        assert broken.value.rule is Rule.STALE


@pytest.mark.parametrize(("profile", "is_allowed"), [(GO, True), (JAVA, False), (CPP, False)], ids=str)
def test_go_remembers_where_it_took_an_orderly_queue_though_it_is_told_less_later(
    profile: Profile, is_allowed: bool
) -> None:
    stage = Stage(is_orderly=True, profile=profile)
    stage.weather.turns_foul(0, FOR_EVER)
    stage.ledger.ordering.locks.granted("A", [QUEUE], stage.network.clock.now, "A")
    stage.ledger.book(QUEUE).watermark = 5
    stage.take(stage.a, at=5)
    stage.give(stage.a, 2)

    if is_allowed:
        stage.drop(stage.a, committed=5)
    else:
        with pytest.raises(Breach, match="drops orders/east/0 at 5; it has finished it up to 2") as broken:
            stage.drop(stage.a, committed=5)
        assert broken.value.rule is Rule.CLAIM
