"""What the ledger allows who is in Go, and forgets all other queues when it stores one; and nobody else."""

from contextlib import nullcontext

import pytest

from rebalance_engine.consumer import GO, java
from rebalance_engine.events import DropReason
from rebalance_engine.model import MessageQueue
from rebalance_engine.simulation.breach import Breach, Rule
from rebalance_engine.simulation.timers import ON_THE_WAY, STORED_LATE
from tests.rebalance_engine.simulation.stage import QUEUE, Stage

OTHER = MessageQueue("orders", "east", 1)


def stage_of(language: str) -> Stage:
    """A has two queues for a minute, and has just finished three messages of the first."""
    stage = Stage(profile=GO if language == "go" else java("4.9.7"))
    stage.take(stage.a)
    stage.take(stage.a, queue=OTHER)
    stage.wait(60_000)
    for session in stage.ledger.book(QUEUE).sessions:
        session.refused_at = stage.network.clock.now  # so that what it is given now has not waited
    stage.consume(stage.a, 0, 1, 2)
    return stage


@pytest.mark.parametrize(("language", "is_allowed"), [("go", True), ("java", False)])
def test_only_go_drops_a_queue_at_nothing_once_another_one_is_stored(language: str, is_allowed: bool) -> None:
    stage = stage_of(language)
    stage.drop(stage.a, queue=OTHER)

    with nullcontext() if is_allowed else pytest.raises(Breach, match="at 0; it has finished it up to 3"):
        stage.drop(stage.a, committed=None)


def test_go_knows_how_far_it_is_while_no_other_queue_is_stored() -> None:
    stage = stage_of("go")

    with pytest.raises(Breach, match="at 0; it has finished it up to 3") as broken:
        stage.drop(stage.a, committed=None)
    assert broken.value.rule is Rule.CLAIM


def test_go_forgets_how_far_it_is_and_does_not_say_something_else() -> None:
    stage = stage_of("go")
    stage.drop(stage.a, queue=OTHER)

    with pytest.raises(Breach, match="at 2; it has finished it up to 3"):
        stage.drop(stage.a, committed=2)


def test_go_knows_what_it_has_finished_since() -> None:
    stage = stage_of("go")
    stage.drop(stage.a, queue=OTHER)
    stage.wait(ON_THE_WAY + 1)
    stage.consume(stage.a, 3)

    with pytest.raises(Breach, match="at 0; it has finished it up to 4"):
        stage.drop(stage.a, committed=None)


@pytest.mark.parametrize("reason", [DropReason.UNKNOWN, DropReason.OFFSET_ILLEGAL])
def test_go_knows_how_far_it_is_until_a_stopped_queue_is_stored(reason: DropReason) -> None:
    stage = stage_of("go")
    stage.drop(stage.a, queue=OTHER, reason=reason)
    stage.wait(9_999)

    with pytest.raises(Breach, match="at 0; it has finished it up to 3"):
        stage.drop(stage.a, committed=None)


@pytest.mark.parametrize("reason", [DropReason.UNKNOWN, DropReason.OFFSET_ILLEGAL])
def test_go_may_forget_once_a_stopped_queue_is_stored(reason: DropReason) -> None:
    stage = stage_of("go")
    stage.drop(stage.a, queue=OTHER, reason=reason)
    stage.commit(stage.a, 3)  # the timer
    stage.wait(10_000)

    stage.drop(stage.a, committed=None)


@pytest.mark.parametrize(("language", "is_explained"), [("go", True), ("java", False)])
def test_what_go_forgot_before_its_timer_could_store_it_may_come_again(language: str, is_explained: bool) -> None:
    stage = stage_of(language)
    stage.drop(stage.a, queue=OTHER)
    stage.drop(stage.a, committed=None if language == "go" else 3)
    stage.wait(60_000)

    with nullcontext() if is_explained else pytest.raises(Breach, match="nothing explains that 3 messages come again"):
        stage.take(stage.b, at=0)


def test_what_gos_timer_had_the_time_to_store_is_missed_though_it_is_forgotten_then() -> None:
    stage = stage_of("go")
    stage.wait(STORED_LATE + 1)
    stage.drop(stage.a, queue=OTHER)

    with pytest.raises(Breach, match="had finished orders/east/0 up to 3 8000 ms ago; it stored 0") as broken:
        stage.drop(stage.a, committed=None)
    assert broken.value.rule is Rule.STORED
