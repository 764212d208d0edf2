from contextlib import nullcontext

import pytest

from rebalance_engine.consumer import CPP, GO, Profile, java
from rebalance_engine.events import DropReason
from rebalance_engine.simulation.breach import Breach
from rebalance_engine.simulation.dues import FIRST_STORED, Dues
from rebalance_engine.simulation.sessions import QueueBook, Session
from rebalance_engine.simulation.timers import FIRST_PERSISTED, ON_THE_WAY, REPAIR, RESET, STORED_LATE
from tests.rebalance_engine.simulation.stage import QUEUE, Stage


@pytest.fixture
def stage() -> Stage:
    return Stage()


BOOK = QueueBook(QUEUE)


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

    assert dues(stage).had_to_store(BOOK, session).offset == due


def test_what_was_dropped_a_moment_ago_may_be_on_its_way(stage: Stage) -> None:
    session = ended(stage, DropReason.NOT_IN_TARGET, after=40_000)
    stage.wait(40_000 + ON_THE_WAY)

    assert dues(stage).had_to_store(BOOK, session).offset == 1


def test_nothing_is_due_before_the_first_timer(stage: Stage) -> None:
    session = ended(stage, DropReason.LOST, after=FIRST_STORED - 1)
    stage.wait(60_000)

    assert dues(stage).had_to_store(BOOK, session).offset == 0


def test_who_dies_while_it_gives_orderly_queues_up_had_the_timer_only(stage: Stage) -> None:
    session = ended(stage, DropReason.NOT_IN_TARGET, after=40_000)
    made = dues(stage, is_orderly=True)
    stage.wait(40_000 + STORED_LATE)
    made.gone(stage.a)
    stage.wait(60_000)

    assert made.had_to_store(BOOK, session).offset == 1


# ---- what Go forgets ----


def held(stage: Stage, finished_after: int) -> tuple[QueueBook, Session]:
    """Give a book with a hold in it that finished a message so long after now."""
    now = stage.network.clock.now
    session = Session(stage.a, began_at=now, start_offset=0)
    session.finish(0, now + finished_after)
    return QueueBook(QUEUE, sessions=[session], live=[session]), session


@pytest.fixture
def go() -> Stage:
    """A stage on which A and B are in Go, and their first timer is long over."""
    stage = Stage(profile=GO)
    stage.wait(60_000)
    return stage


@pytest.mark.parametrize(("forgotten_after", "is_found"), [(STORED_LATE + 1, True), (STORED_LATE, False), (500, False)])
def test_what_go_forgets_after_its_timer_had_the_time_to_store_it_is_due(
    go: Stage, forgotten_after: int, is_found: bool
) -> None:
    book, session = held(go, finished_after=0)
    made = dues(go)
    go.wait(forgotten_after)
    made.forget_others(go.a, DropReason.NOT_IN_TARGET, [book])
    go.wait(60_000)

    assert made.had_to_store(book, session).offset == int(is_found)
    with pytest.raises(Breach, match="had finished orders/east/0 up to 1") if is_found else nullcontext():
        made.check_stored(book, session)


@pytest.mark.parametrize(("foul_after", "is_found"), [(STORED_LATE, False), (STORED_LATE + 1, True)])
@pytest.mark.parametrize("name", ["A", "east"])
def test_foul_weather_excuses_what_go_forgets_only_while_the_timer_had_to_store_it(
    go: Stage, name: str, foul_after: int, is_found: bool
) -> None:
    book, session = held(go, finished_after=0)
    made, now = dues(go), go.network.clock.now
    go.weather.turns_foul(now + foul_after, now + 30_000, name)
    go.wait(20_000)
    made.forget_others(go.a, DropReason.NOT_IN_TARGET, [book])
    go.wait(60_000)

    assert made.had_to_store(book, session).offset == int(is_found)


def test_what_go_finished_before_is_due_though_it_forgot_what_came_last(go: Stage) -> None:
    book, session = held(go, finished_after=0)
    session.finish(1, go.network.clock.now + 30_000)
    made = dues(go)
    go.wait(31_000)
    made.forget_others(go.a, DropReason.NOT_IN_TARGET, [book])
    go.wait(60_000)

    assert made.had_to_store(book, session).offset == 1


def test_what_go_finished_before_its_first_timer_may_be_forgotten_until_then() -> None:
    for forgotten_after, due in ((FIRST_PERSISTED + STORED_LATE, 0), (FIRST_PERSISTED + STORED_LATE + 1, 1)):
        stage = Stage(profile=GO)
        book, session = held(stage, finished_after=0)
        made = dues(stage)
        stage.wait(forgotten_after)
        made.forget_others(stage.a, DropReason.NOT_IN_TARGET, [book])
        stage.wait(60_000)
        assert made.had_to_store(book, session).offset == due


def test_what_another_one_set_back_later_go_does_not_know_any_more(go: Stage) -> None:
    book, session = held(go, finished_after=0)
    made, now = dues(go), go.network.clock.now
    go.wait(20_000)
    made.forget_others(go.a, DropReason.NOT_IN_TARGET, [book])
    book.note_commit(0, now + 30_000)
    go.wait(60_000)

    due = made.had_to_store(book, session)
    assert book.was_set_back(0, due.since, session), "nobody stores it again"


@pytest.mark.parametrize(
    ("reason", "after"),
    [
        (DropReason.NOT_IN_TARGET, 0),
        (DropReason.PULL_EXPIRED, 0),
        (DropReason.NOT_SUBSCRIBED, 0),
        (DropReason.OFFSET_ILLEGAL, REPAIR),
        (DropReason.UNKNOWN, RESET),
    ],
)
def test_go_forgets_when_the_other_queue_is_stored(go: Stage, reason: DropReason, after: int) -> None:
    book, session = held(go, finished_after=0)
    dues(go).forget_others(go.a, reason, [book])
    now = go.network.clock.now

    assert session.forgotten_at(now, until=now + after - 1) is None
    assert session.forgotten_at(now, until=now + after) == now + after
    assert session.forgotten_at(now + after + ON_THE_WAY + 1, until=now + 200_000) is None


@pytest.mark.parametrize(
    ("profile", "reason"),
    [
        (GO, DropReason.STOPPED),
        (CPP, DropReason.NOT_IN_TARGET),
        (java("4.9.7"), DropReason.NOT_IN_TARGET),
        (java("5.5.0"), DropReason.OFFSET_ILLEGAL),
    ],
)
def test_who_shuts_down_or_is_not_in_go_forgets_nothing(profile: Profile, reason: DropReason) -> None:
    stage = Stage(profile=profile)
    book, session = held(stage, finished_after=0)
    dues(stage).forget_others(stage.a, reason, [book])

    assert session.forgotten_at(0, until=stage.network.clock.now + 200_000) is None


def test_go_forgets_nothing_of_other_clients(go: Stage) -> None:
    book, session = held(go, finished_after=0)
    dues(go).forget_others(go.b, DropReason.NOT_IN_TARGET, [book])

    assert session.forgotten_at(0, until=go.network.clock.now + 200_000) is None
