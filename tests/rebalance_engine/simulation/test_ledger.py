from contextlib import nullcontext

import pytest

from rebalance_engine.consumer import java
from rebalance_engine.consumer.application import Result
from rebalance_engine.events import DropReason
from rebalance_engine.simulation.breach import Breach, Rule
from rebalance_engine.simulation.store import Store
from rebalance_engine.simulation.timers import FLUSHED_EVERY, ON_THE_WAY, PULLED, ROUND, STORED_LATE, WAITS
from tests.rebalance_engine.simulation.stage import QUEUE, Stage


@pytest.fixture
def stage() -> Stage:
    return Stage()


def test_an_ordinary_life_breaks_nothing(stage: Stage) -> None:
    stage.take(stage.a)
    stage.consume(stage.a, *range(6))
    stage.commit(stage.a, 6)
    stage.drop(stage.a, committed=6)
    stage.wait(50)
    stage.take(stage.b, at=6)
    stage.consume(stage.b, *range(6, 10))

    stage.ledger.check_finished(QUEUE)
    assert stage.ledger.held(stage.b) == {QUEUE}
    assert (stage.ledger.figures.moves, stage.ledger.figures.duplicates) == (1, 0)
    assert [span.duration_ms for span in stage.ledger.figures.unowned] == [50]


def test_an_offset_past_a_message_that_nobody_finished(stage: Stage) -> None:
    stage.take(stage.a)
    stage.consume(stage.a, 0, 2)

    with pytest.raises(Breach, match=r"commits 3 of .*nobody finished 1"):
        stage.commit(stage.a, 3)


def test_a_start_past_a_message_that_nobody_finished(stage: Stage) -> None:
    with pytest.raises(Breach, match="at 4; nobody finished 0"):
        stage.take(stage.a, at=4)


def test_a_commit_of_a_queue_that_was_never_held(stage: Stage) -> None:
    with pytest.raises(Breach, match="never held"):
        stage.commit(stage.a, 0)


def test_a_commit_long_after_the_drop(stage: Stage) -> None:
    stage.take(stage.a)
    stage.drop(stage.a)
    stage.wait(ON_THE_WAY)
    stage.commit(stage.a, 0)
    stage.wait(1)

    with pytest.raises(Breach, match="which it dropped"):
        stage.commit(stage.a, 0)


def test_messages_of_a_queue_that_is_not_held(stage: Stage) -> None:
    stage.take(stage.a)
    stage.drop(stage.a)

    with pytest.raises(Breach, match="does not hold"):
        stage.give(stage.a, 0)


def test_a_message_twice_without_a_reason(stage: Stage) -> None:
    stage.take(stage.a)
    stage.consume(stage.a, 0)

    with pytest.raises(Breach, match="again without any reason"):
        stage.give(stage.a, 0)


def test_a_message_again_because_the_listener_asked_for_it(stage: Stage) -> None:
    stage.take(stage.a)
    stage.consume(stage.a, 0, result=Result.LATER)

    stage.consume(stage.a, 0)

    assert stage.ledger.figures.duplicates == 0


def test_duplicates_of_a_handoff_are_counted_and_explained(stage: Stage) -> None:
    stage.take(stage.a)
    stage.consume(stage.a, 0, 1, 2)
    stage.take(stage.b, at=0)
    stage.consume(stage.b, 0, 1, 2)
    stage.drop(stage.a, committed=3)

    assert stage.ledger.figures.duplicates == 3
    assert len(stage.ledger.figures.overlaps) == 1


@pytest.mark.parametrize(("stops", "is_allowed"), [(True, True), (False, False)])
def test_who_stood_still_begins_where_he_was_told_before(stage: Stage, stops: bool, is_allowed: bool) -> None:
    stage.take(stage.a)
    stage.consume(stage.a, 0, 1, 2)
    stage.wait(20_000)
    now = stage.network.clock.now
    if stops:
        stage.weather.stops(now - 15_000, now, "B")

    if is_allowed:
        stage.take(stage.b, at=0)
    else:
        with pytest.raises(Breach, match="nothing explains that 3 messages come again"):
            stage.take(stage.b, at=0)


@pytest.mark.parametrize(("lives_ms", "is_allowed"), [(230, True), (STORED_LATE + 1, False)])
def test_an_orderly_member_may_die_while_it_gives_queues_up_one_after_the_other(
    lives_ms: int, is_allowed: bool
) -> None:
    stage = Stage(is_orderly=True)
    stage.ledger.ordering.locks.granted("A", [QUEUE], stage.network.clock.now)
    stage.take(stage.a)
    stage.consume(stage.a, 0)
    stage.drop(stage.a, committed=1)
    stage.wait(lives_ms)
    stage.ledger.gone(stage.a)
    stage.wait(60_000)

    if is_allowed:
        stage.take(stage.b, at=0)
    else:
        with pytest.raises(Breach, match="nothing explains that 1 messages come again"):
            stage.take(stage.b, at=0)


def test_a_start_behind_an_offset_that_was_never_stored(stage: Stage) -> None:
    stage.take(stage.a)
    stage.consume(stage.a, 0, 1, 2)
    stage.drop(stage.a, committed=3)
    stage.wait(ON_THE_WAY + 1)

    with pytest.raises(Breach, match="nothing explains that 3 messages come again"):
        stage.take(stage.b, at=0)


def test_a_start_behind_may_be_the_fault_of_the_weather(stage: Stage) -> None:
    stage.take(stage.a)
    stage.consume(stage.a, 0, 1, 2)
    stage.drop(stage.a, committed=3)
    stage.weather.turns_foul(stage.network.clock.now, stage.network.clock.now + 10, "east")
    stage.wait(ON_THE_WAY + 1)

    stage.take(stage.b, at=0)


def test_a_start_behind_the_stored_offset(stage: Stage) -> None:
    stage.take(stage.a)
    stage.consume(stage.a, 0, 1, 2)
    stage.commit(stage.a, 3)
    stage.wait(ON_THE_WAY + 1)

    with pytest.raises(Breach, match="at 1; 3 is stored"):
        stage.take(stage.b, at=1)


def test_a_restarted_broker_may_have_forgotten_offsets(stage: Stage) -> None:
    stage.take(stage.a)
    stage.consume(stage.a, 0, 1, 2)
    stage.commit(stage.a, 3)
    stage.wait(ON_THE_WAY + 1)

    stage.ledger.restarted("east", stage.network.clock.now)
    stage.take(stage.b, at=0)


def test_a_restarted_broker_knows_what_it_had_flushed(stage: Stage) -> None:
    stage.take(stage.a)
    stage.consume(stage.a, 0, 1, 2)
    stage.commit(stage.a, 2)
    stage.wait(1)
    stage.commit(stage.a, 3)
    stage.wait(FLUSHED_EVERY + 1)

    stage.ledger.restarted("east", stage.network.clock.now)
    stage.wait(20_000)

    with pytest.raises(Breach, match="at 2; 3 is stored"):
        stage.take(stage.b, at=2)


def test_a_message_that_came_back_is_finished_here(stage: Stage) -> None:
    store = Store("east")
    store.append(QUEUE, 0)
    stage.take(stage.a)
    stage.consume(stage.a, 0, result=Result.LATER)

    stage.ledger.returned(stage.a, store.take_back("g", 0, 0, 16, 0)[1])
    stage.commit(stage.a, 1)


def test_a_message_that_is_sent_back_more_often_than_its_listener_asked(stage: Stage) -> None:
    store = Store("east")
    store.append(QUEUE, 0)
    stage.take(stage.a)
    stage.consume(stage.a, 0, result=Result.LATER)
    stage.ledger.returned(stage.a, store.take_back("g", 0, 0, 16, 0)[1])

    with pytest.raises(Breach, match="back 2 times; its listener asked for it 1 times") as broken:
        stage.ledger.returned(stage.a, store.take_back("g", 0, 0, 16, 0)[1])
    assert broken.value.rule is Rule.RETURNED


@pytest.mark.parametrize(("claim", "is_right"), [(2, False), (3, True), (4, False)])
def test_who_drops_a_queue_knows_how_far_he_is(stage: Stage, claim: int, is_right: bool) -> None:
    stage.take(stage.a)
    stage.consume(stage.a, 0, 1, 2)

    if is_right:
        stage.drop(stage.a, committed=claim)
    else:
        with pytest.raises(Breach, match=f"drops orders/east/0 at {claim}; it has finished it up to 3"):
            stage.drop(stage.a, committed=claim)


def test_who_drops_a_queue_for_an_illegal_offset_knows_how_far_he_is(stage: Stage) -> None:
    stage.take(stage.a)
    stage.consume(stage.a, 0, 1, 2)

    with pytest.raises(Breach, match="drops orders/east/0 at 2; it has finished it up to 3"):
        stage.drop(stage.a, committed=2, reason=DropReason.OFFSET_ILLEGAL)


def test_a_hold_that_ends_with_the_repair_of_an_earlier_one_ends_where_that_goes_on(stage: Stage) -> None:
    stage.take(stage.a)
    stage.consume(stage.a, 0, 1, 2)
    stage.drop(stage.a, committed=3, reason=DropReason.OFFSET_ILLEGAL)
    stage.take(stage.a, at=3)
    stage.consume(stage.a, 3, 4)

    stage.drop(stage.a, committed=1, reason=DropReason.OFFSET_ILLEGAL)

    stage.take(stage.a, at=1)
    stage.consume(stage.a, 1)
    with pytest.raises(Breach, match="drops orders/east/0 at 1; it has finished it up to 2"):
        stage.drop(stage.a, committed=1)


@pytest.mark.parametrize(
    ("claim", "later_ms", "is_right"), [(3, 1_000, True), (2, 1_000, False), (3, PULLED + 1_000, False)]
)
def test_an_answer_to_a_pull_of_an_earlier_hold_may_say_how_far_it_is(
    stage: Stage, claim: int, later_ms: int, is_right: bool
) -> None:
    stage.take(stage.a)
    stage.consume(stage.a, 0, 1, 2)
    stage.drop(stage.a, committed=3)
    stage.weather.turns_foul(0, stage.network.clock.now + 2 * later_ms)  # so that it may begin behind
    stage.wait(later_ms)
    stage.take(stage.a, at=0)
    stage.give(stage.a, 0)

    with nullcontext() if is_right else pytest.raises(Breach, match=f"drops orders/east/0 at {claim}"):
        stage.drop(stage.a, committed=claim)


def test_an_offset_behind_what_was_finished_long_before(stage: Stage) -> None:
    stage.take(stage.a)
    stage.consume(stage.a, 0, 1, 2)
    stage.commit(stage.a, 1)  # it was on its way
    stage.wait(ON_THE_WAY)

    with pytest.raises(Breach, match=r"commits 2 .* it had finished 3 long before"):
        stage.commit(stage.a, 2)


def test_what_is_finished_is_stored_within_seconds(stage: Stage) -> None:
    stage.wait(20_000)
    stage.take(stage.a)
    stage.consume(stage.a, 0)
    stage.wait(STORED_LATE - 1)
    stage.consume(stage.a, 1)
    stage.wait(1)

    with pytest.raises(Breach, match="had finished orders/east/0 up to 1 8000 ms ago; it stored 0"):
        stage.consume(stage.a, 2)


def test_a_start_behind_is_explained_by_a_handoff_that_set_the_offset_back(stage: Stage) -> None:
    stage.take(stage.a)
    stage.take(stage.b)
    stage.consume(stage.a, 0, 1, 2)
    stage.consume(stage.b, 0)
    stage.commit(stage.a, 3)
    stage.drop(stage.a, committed=3)
    stage.commit(stage.b, 1)
    stage.wait(ON_THE_WAY + 1)

    stage.take(stage.a, at=1)


def test_a_message_that_waits_while_its_queue_is_held(stage: Stage) -> None:
    stage.take(stage.a)
    stage.consume(stage.a, 0)
    stage.wait(WAITS + 6 * stage.a.listener.high)
    stage.consume(stage.a, 1)
    stage.wait(WAITS + 6 * stage.a.listener.high + 1)

    with pytest.raises(Breach, match="is given orders/east/0 2 only now"):
        stage.give(stage.a, 2)


@pytest.mark.parametrize(("version", "idles_ms"), [("4.9.4", ROUND), ("4.9.5", 0)])
def test_a_new_orderly_queue_may_idle_until_the_next_renewal_up_to_4_9_4(version: str, idles_ms: int) -> None:
    most = WAITS + 6 * Stage().a.listener.high
    for wait, is_late in ((idles_ms + most, False), (idles_ms + most + 1, True)):
        stage = Stage(is_orderly=True, profile=java(version))
        stage.ledger.ordering.locks.granted("A", [QUEUE], stage.network.clock.now)
        stage.take(stage.a)
        stage.wait(wait)
        stage.ledger.ordering.locks.granted("A", [QUEUE], stage.network.clock.now)
        with pytest.raises(Breach, match="only now") if is_late else nullcontext():
            stage.consume(stage.a, 0)


def test_only_the_first_message_of_a_queue_waits_for_the_renewal() -> None:
    stage = Stage(is_orderly=True, profile=java("4.9.4"))
    stage.ledger.ordering.locks.granted("A", [QUEUE], stage.network.clock.now)
    stage.take(stage.a)
    stage.consume(stage.a, 0)
    stage.wait(WAITS + 6 * stage.a.listener.high + 1)

    with pytest.raises(Breach, match="is given orders/east/0 1 only now"):
        stage.give(stage.a, 1)


def test_a_message_that_waits_for_the_topic_to_be_subscribed_to_again(stage: Stage) -> None:
    stage.take(stage.a)
    stage.consume(stage.a, 0)
    stage.wait(2 * WAITS + 6 * stage.a.listener.high)

    stage.ledger.subscribed_again(QUEUE.topic)

    stage.give(stage.a, 1)


def test_a_queue_that_was_dropped_is_not_pulled(stage: Stage) -> None:
    stage.take(stage.a)
    stage.wait(500)
    stage.ledger.pulled(stage.a, QUEUE)
    stage.drop(stage.a)
    stage.wait(ON_THE_WAY)
    stage.ledger.pulled(stage.a, QUEUE)  # it was on its way
    stage.wait(1)

    with pytest.raises(Breach, match="pulls orders/east/0, which it dropped"):
        stage.ledger.pulled(stage.a, QUEUE)
    with pytest.raises(Breach, match="which it never held"):
        stage.ledger.pulled(stage.b, QUEUE)


def test_a_first_pull_waits_for_its_dispatch_delay(stage: Stage) -> None:
    stage.take(stage.a)
    stage.wait(499)

    with pytest.raises(Breach, match="499 ms after it took it, not after 500 ms"):
        stage.ledger.pulled(stage.a, QUEUE)


def test_a_concurrent_consumer_begins_where_it_took_the_queue(stage: Stage) -> None:
    stage.take(stage.a)

    with pytest.raises(Breach, match="at 0 and begins at 1"):
        stage.give(stage.a, 1)


def test_a_message_that_is_never_finished(stage: Stage) -> None:
    with pytest.raises(Breach, match="message 0 of 10 was never finished"):
        stage.ledger.check_finished(QUEUE)


def test_a_drop_of_what_is_not_held(stage: Stage) -> None:
    with pytest.raises(Breach, match=r"drops .* which it does not hold"):
        stage.drop(stage.a)


def test_a_process_that_is_gone_holds_nothing(stage: Stage) -> None:
    stage.take(stage.a)
    stage.give(stage.a, 0)

    assert stage.ledger.gone(stage.a) == (QUEUE,)
    assert stage.ledger.held(stage.a) == frozenset()
