import pytest

from rebalance_engine.consumer import CPP, GO, Profile, java
from rebalance_engine.events import DropReason
from rebalance_engine.model import MessageQueue
from rebalance_engine.simulation.breach import Breach, Rule
from rebalance_engine.simulation.timers import BELIEVED, LOCK_ANSWERED, ON_THE_WAY, ROUND
from tests.rebalance_engine.simulation.stage import QUEUE, Stage

NEXT = MessageQueue("orders", "east", 1)


def test_an_orderly_queue_out_of_order() -> None:
    stage = Stage(is_orderly=True)
    stage.ledger.ordering.locks.granted("A", [QUEUE], stage.network.clock.now)
    stage.take(stage.a)
    stage.consume(stage.a, 0)

    with pytest.raises(Breach, match=r"is given .* 2, and nobody finished 1"):
        stage.give(stage.a, 2)


def both_have_one(stage: Stage) -> None:
    stage.ledger.ordering.locks.granted("A", [QUEUE], stage.network.clock.now)
    stage.take(stage.a)
    stage.give(stage.a, 0)
    stage.take(stage.b)


def test_two_listeners_of_an_orderly_queue_at_a_time() -> None:
    stage = Stage(is_orderly=True)
    both_have_one(stage)

    with pytest.raises(Breach, match="both consume"):
        stage.give(stage.b, 0)


@pytest.mark.parametrize(("after_ms", "is_allowed"), [(20_001, True), (20_000, False)])
def test_a_lock_may_be_forced_open_20_s_after_its_renewal(after_ms: int, is_allowed: bool) -> None:
    stage = Stage(is_orderly=True)
    both_have_one(stage)
    stage.wait(after_ms)
    stage.drop(stage.a)
    stage.ledger.ordering.locks.released("A", [QUEUE], stage.network.clock.now, "A")
    stage.ledger.ordering.locks.granted("B", [QUEUE], stage.network.clock.now)

    if is_allowed:
        stage.give(stage.b, 0)
    else:
        with pytest.raises(Breach, match="both consume"):
            stage.give(stage.b, 0)


def test_a_broker_that_was_restarted_excuses_two_listeners() -> None:
    stage = Stage(is_orderly=True)
    both_have_one(stage)

    stage.ledger.restarted("east", stage.network.clock.now)
    stage.ledger.ordering.locks.granted("B", [QUEUE], stage.network.clock.now)
    stage.ledger.ordering.locks.forgotten("east", stage.network.clock.now)
    stage.give(stage.b, 0)


def test_a_lock_that_is_kept_after_the_drop() -> None:
    stage = Stage(is_orderly=True)
    both_have_one(stage)
    stage.drop(stage.a)
    stage.ledger.ordering.refused(QUEUE)
    stage.wait(10_000)

    with pytest.raises(Breach, match="still has its lock"):
        stage.ledger.ordering.refused(QUEUE)


def test_who_asks_for_his_lock_again_may_have_it() -> None:
    stage = Stage(is_orderly=True)
    both_have_one(stage)
    stage.drop(stage.a)
    stage.wait(10_000)

    stage.ledger.ordering.locks.granted("A", [QUEUE], stage.network.clock.now)
    stage.ledger.ordering.refused(QUEUE)


def test_a_lock_of_who_is_gone_runs_out_by_itself() -> None:
    stage = Stage(is_orderly=True)
    both_have_one(stage)
    stage.network.end(stage.a)
    stage.ledger.gone(stage.a)
    stage.wait(50_000)

    stage.ledger.ordering.refused(QUEUE)


def test_a_renewal_that_comes_after_the_release_leaks_the_lock() -> None:
    stage = Stage(is_orderly=True)
    both_have_one(stage)
    stage.drop(stage.a)
    stage.ledger.ordering.locks.released("A", [QUEUE], stage.network.clock.now)
    before = stage.ledger.ordering.has_leaked_locks()
    stage.wait(1)

    stage.ledger.ordering.locks.granted("A", [QUEUE], stage.network.clock.now)
    stage.wait(50_000)
    stage.ledger.ordering.refused(QUEUE)

    assert (before, stage.ledger.ordering.has_leaked_locks()) == (False, True)


# ---- the lock ----


def holds_it() -> Stage:
    stage = Stage(is_orderly=True)
    stage.ledger.ordering.locks.granted("A", [QUEUE], stage.network.clock.now)
    stage.take(stage.a)
    return stage


def test_who_never_had_the_lock_does_not_consume() -> None:
    stage = Stage(is_orderly=True)
    stage.take(stage.a)

    with pytest.raises(Breach, match="without ever having had its lock") as broken:
        stage.give(stage.a, 0)
    assert broken.value.rule is Rule.LOCKED


def test_who_gave_the_lock_back_does_not_consume() -> None:
    stage = holds_it()
    stage.wait(10)
    stage.ledger.ordering.locks.released("A", [QUEUE], stage.network.clock.now, "A")

    with pytest.raises(Breach, match="gave its lock back 0 ms ago"):
        stage.give(stage.a, 0)


@pytest.mark.parametrize(("version", "is_allowed"), [("4.9.7", True), ("5.5.0", False)])
def test_an_unlock_of_an_earlier_hold_comes_late_in_old_clients(version: str, is_allowed: bool) -> None:
    stage = Stage(is_orderly=True, profile=java(version))
    stage.ledger.ordering.locks.granted("A", [QUEUE], stage.network.clock.now)
    stage.take(stage.a)
    stage.drop(stage.a)
    stage.wait(10_000)
    stage.take(stage.a)
    stage.wait(10_000)
    stage.ledger.ordering.locks.released("A", [QUEUE], stage.network.clock.now, "A")

    if is_allowed:
        stage.give(stage.a, 0)
    else:
        with pytest.raises(Breach, match="gave its lock back"):
            stage.give(stage.a, 0)


@pytest.mark.parametrize(("after_ms", "is_allowed"), [(20_000, True), (19_999, False)])
def test_a_delayed_unlock_of_an_earlier_hold_lets_another_one_in(after_ms: int, is_allowed: bool) -> None:
    stage = Stage(is_orderly=True, profile=java("5.1.4"))
    stage.ledger.ordering.locks.granted("A", [QUEUE], stage.network.clock.now)
    stage.take(stage.a)
    stage.drop(stage.a)
    stage.wait(1_000)
    stage.take(stage.a)
    stage.give(stage.a, 0)
    stage.wait(after_ms - 1_000)
    stage.ledger.ordering.locks.released("A", [QUEUE], stage.network.clock.now, "A")
    stage.ledger.ordering.locks.granted("B", [QUEUE], stage.network.clock.now)
    stage.take(stage.b)

    if is_allowed:
        stage.give(stage.b, 0)
    else:
        with pytest.raises(Breach, match="both consume"):
            stage.give(stage.b, 0)


def test_two_processes_of_one_client_id_share_the_lock_and_its_loss() -> None:
    stage = holds_it()

    stage.ledger.ordering.locks.released("A", [QUEUE], stage.network.clock.now, "twin")
    stage.give(stage.a, 0)


@pytest.mark.parametrize(("by", "is_allowed"), [("twin", True), ("A", False)])
def test_who_lost_his_lock_by_his_twin_consumes_beside_the_new_holder(by: str, is_allowed: bool) -> None:
    stage = holds_it()
    stage.ledger.ordering.locks.released("A", [QUEUE], stage.network.clock.now, by)
    stage.ledger.ordering.locks.granted("B", [QUEUE], stage.network.clock.now)
    stage.take(stage.b)
    stage.give(stage.b, 0)

    if is_allowed:
        stage.give(stage.a, 0)
    else:
        with pytest.raises(Breach, match="A and B both consume orders/east/0, and B has the lock"):
            stage.give(stage.a, 0)


def test_who_lost_his_lock_by_his_twin_does_not_believe_in_it_for_longer_than_half_a_minute() -> None:
    stage = holds_it()
    stage.ledger.ordering.locks.released("A", [QUEUE], stage.network.clock.now, "twin")
    stage.wait(BELIEVED + ON_THE_WAY + 1)

    with pytest.raises(Breach, match="last renewed its lock 33001 ms ago"):
        stage.give(stage.a, 0)


@pytest.mark.parametrize("how", ["is cut off", "broker was restarted"])
def test_a_client_does_not_believe_in_its_lock_for_longer_than_half_a_minute(how: str) -> None:
    stage = holds_it()
    stage.weather.turns_foul(stage.network.clock.now, stage.network.clock.now + 99_000)
    stage.wait(BELIEVED + ON_THE_WAY)
    stage.consume(stage.a, 0)
    if how != "is cut off":
        stage.ledger.restarted("east", stage.network.clock.now)
    stage.wait(1)

    with pytest.raises(Breach, match="last renewed its lock 33001 ms ago"):
        stage.give(stage.a, 1)


def test_a_process_that_stood_still_takes_old_answers_for_new_ones() -> None:
    stage = holds_it()
    now = stage.network.clock.now
    stage.weather.turns_foul(now, now + 99_000)
    stage.weather.stops(now, now + 40_000, "A")
    stage.wait(40_000)

    stage.give(stage.a, 0)


def test_a_lock_is_renewed_every_20_s_where_nothing_is_wrong() -> None:
    stage = holds_it()
    for offset, ms in enumerate((9_000, 9_000, ROUND + ON_THE_WAY - 18_000)):
        stage.wait(ms)
        stage.consume(stage.a, offset)
        stage.commit(stage.a, offset + 1)
    stage.wait(1)

    with pytest.raises(Breach, match="for 23001 ms without renewing its lock"):
        stage.give(stage.a, 3)


def test_one_process_consumes_a_queue_once_at_a_time() -> None:
    stage = holds_it()
    stage.give(stage.a, 0)
    stage.drop(stage.a)
    stage.take(stage.a)

    with pytest.raises(Breach, match="A consumes orders/east/0 twice at a time"):
        stage.give(stage.a, 0)


@pytest.mark.parametrize(("profile", "is_kept"), [(java("5.5.0"), False), (GO, False), (CPP, True)])
def test_who_shuts_down_gives_all_locks_back_but_cpp_that_of_its_only_queue(profile: Profile, is_kept: bool) -> None:
    stage = Stage(is_orderly=True, profile=profile)
    stage.ledger.ordering.locks.granted("A", [QUEUE], stage.network.clock.now)
    stage.take(stage.a)
    stage.drop(stage.a, reason=DropReason.STOPPED)

    if is_kept:
        stage.ledger.ordering.check_stopped(stage.a, [])
    else:
        with pytest.raises(Breach, match="A has shut down and still has the lock"):
            stage.ledger.ordering.check_stopped(stage.a, [])
        stage.ledger.ordering.check_stopped(stage.a, [stage.a])  # its twin needs the lock


@pytest.mark.parametrize(("kept", "is_allowed"), [(QUEUE, True), (NEXT, False)])
def test_cpp_forgets_the_lock_of_the_least_queue_of_a_broker_only(kept: MessageQueue, is_allowed: bool) -> None:
    stage = Stage(is_orderly=True, profile=CPP)
    ordering, now = stage.ledger.ordering, stage.network.clock.now
    ordering.locks.granted("A", [NEXT, QUEUE], now)
    for queue in (NEXT, QUEUE):
        stage.take(stage.a, queue=queue)
    ordering.locks.released("A", {NEXT, QUEUE} - {kept}, now)
    for queue in (NEXT, QUEUE):
        stage.drop(stage.a, reason=DropReason.STOPPED, queue=queue)

    if is_allowed:
        ordering.check_stopped(stage.a, [])
    else:
        with pytest.raises(Breach, match="A has shut down and still has the lock of orders/east/1"):
            ordering.check_stopped(stage.a, [])


@pytest.mark.parametrize(
    ("profile", "after_ms", "is_allowed"),
    [
        *((profile, 0, False) for profile in (GO, CPP, java("5.5.0"))),
        (GO, 1, True),
        (GO, LOCK_ANSWERED + 1, True),
        (CPP, LOCK_ANSWERED, True),  # it was asked for before, by a pull
        (CPP, LOCK_ANSWERED + 1, False),
        (java("5.5.0"), 1, False),
    ],
    ids=str,
)
def test_a_lock_that_is_granted_in_a_shutdown_stays(profile: Profile, after_ms: int, is_allowed: bool) -> None:
    stage = Stage(is_orderly=True, profile=profile)
    ordering, clock = stage.ledger.ordering, stage.network.clock
    for queue in (QUEUE, NEXT):
        stage.take(stage.a, queue=queue)
    ordering.locks.granted("A", [QUEUE], clock.now)
    stage.a.stop()
    stage.wait(after_ms)
    ordering.locks.granted("A", [NEXT], clock.now)
    ordering.locks.released("A", [QUEUE], clock.now)
    for queue in (QUEUE, NEXT):
        stage.drop(stage.a, reason=DropReason.STOPPED, queue=queue)

    if is_allowed:
        ordering.check_stopped(stage.a, [])
    else:
        with pytest.raises(Breach, match="A has shut down and still has the lock of orders/east/1"):
            ordering.check_stopped(stage.a, [])
