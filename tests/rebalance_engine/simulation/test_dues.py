import pytest

from rebalance_engine.events import DropReason
from rebalance_engine.simulation.dues import FIRST_STORED, Dues
from rebalance_engine.simulation.sessions import Session
from rebalance_engine.simulation.timers import ON_THE_WAY, STORED_LATE
from tests.rebalance_engine.simulation.stage import Stage


@pytest.fixture
def stage() -> Stage:
    return Stage()


def dues(stage: Stage, *, is_orderly: bool = False) -> Dues:
    return Dues(stage.network.clock, stage.weather, is_orderly=is_orderly)


def ended(stage: Stage, reason: DropReason, after: int) -> Session:
    """A hold that finished one message when its last timer had time to store that, and one at its end."""
    began_at = stage.network.clock.now
    at = began_at + after
    session = Session(stage.a, began_at=began_at, start_offset=0)
    session.finish(0, at - STORED_LATE)
    session.finish(1, at)
    session.ended_at, session.reason = at, reason
    return session


@pytest.mark.parametrize(
    ("reason", "due"),
    [
        (DropReason.NOT_IN_TARGET, 2),
        (DropReason.PULL_EXPIRED, 2),
        (DropReason.STOPPED, 1),
        (DropReason.NOT_SUBSCRIBED, 1),
        (DropReason.LOST, 1),
    ],
)
def test_how_far_a_hold_must_be_stored_once_it_has_ended(stage: Stage, reason: DropReason, due: int) -> None:
    session = ended(stage, reason, after=40_000)
    stage.wait(40_000 + ON_THE_WAY + 1)

    assert dues(stage).had_to_store(session) == (due, session.ended_at)


def test_what_was_dropped_a_moment_ago_may_be_on_its_way(stage: Stage) -> None:
    session = ended(stage, DropReason.NOT_IN_TARGET, after=40_000)
    stage.wait(40_000 + ON_THE_WAY)

    assert dues(stage).had_to_store(session) == (1, session.ended_at)


def test_nothing_is_due_before_the_first_timer(stage: Stage) -> None:
    session = ended(stage, DropReason.LOST, after=FIRST_STORED - 1)
    stage.wait(60_000)

    assert dues(stage).had_to_store(session) == (0, session.ended_at)


def test_who_dies_while_it_gives_orderly_queues_up_had_the_timer_only(stage: Stage) -> None:
    session = ended(stage, DropReason.NOT_IN_TARGET, after=40_000)
    made = dues(stage, is_orderly=True)
    stage.wait(40_000 + STORED_LATE)
    made.gone(stage.a)
    stage.wait(60_000)

    assert made.had_to_store(session) == (1, session.ended_at)
