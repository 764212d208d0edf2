import pytest

from rebalance_engine.events import DropReason
from rebalance_engine.model import MessageQueue
from rebalance_engine.simulation.sessions import MOST_COMMITS, QueueBook, Session
from tests.rebalance_engine.simulation.stage import Stage


@pytest.fixture
def stage() -> Stage:
    return Stage()


def book(messages: int = 5) -> QueueBook:
    return QueueBook(MessageQueue("orders", "east", 0), stored_at=[100 * number for number in range(messages)])


def test_the_watermark_stands_at_the_first_message_that_nobody_finished() -> None:
    made = book()

    for offset in (0, 2, 3):
        made.finish(offset)
    before = made.watermark
    made.finish(1)
    made.finish(0)

    assert (before, made.watermark, made.finished) == (1, 4, set())


def test_a_queue_is_silent_while_messages_wait_only() -> None:
    made = book()

    first = made.note_given(0, 1_000)
    waited = made.note_given(1, 5_000)
    again = made.note_given(0, 9_000)
    made.stored_at[2] = 9_500
    fresh = made.note_given(2, 9_600)

    assert (first, waited, again, fresh) == (1_000, 4_000, 4_000, 100)
    assert (made.reached, made.end) == (3, 5)


def test_a_queue_without_waiting_messages_is_not_silent() -> None:
    made = book(messages=1)
    made.note_given(0, 1_000)

    assert made.note_given(0, 90_000) == 0


def test_it_knows_the_least_offset_that_was_stored_in_a_while() -> None:
    made = book()
    for at, offset in ((10, 5), (20, 3), (30, 8)):
        made.note_commit(offset, at)

    assert [made.least_stored_since(at) for at in (40, 30, 20, 10, 11)] == [8, 3, 3, 0, 3]


def test_only_who_left_a_queue_himself_was_the_one_who_left_it(stage: Stage) -> None:
    made = book()
    made.sessions.append(Session(stage.a, began_at=0, start_offset=0, ended_at=1_000, given={0: None, 1: None}))

    assert made.was_left_at(2, stage.a, since=1_000)
    assert not made.was_left_at(2, stage.b, since=1_000)
    assert not made.was_left_at(2, stage.a, since=1_001)
    assert not made.was_left_at(1, stage.a, since=1_000)


def test_who_was_given_nothing_left_a_queue_where_he_began(stage: Stage) -> None:
    made = book()
    made.sessions.append(Session(stage.a, began_at=0, start_offset=3, ended_at=1_000))

    assert [made.was_left_at(offset, stage.a, since=0) for offset in (0, 2, 3, 4)] == [False, False, True, False]


def test_a_queue_is_repaired_for_whose_last_offset_was_illegal(stage: Stage) -> None:
    made = book()
    assert not made.is_being_repaired(stage.a)
    for reason, is_repaired in ((DropReason.OFFSET_ILLEGAL, True), (DropReason.STOPPED, False)):
        made.sessions.append(Session(stage.a, began_at=0, start_offset=0, ended_at=1_000, reason=reason))
        made.sessions.append(Session(stage.b, began_at=0, start_offset=0, ended_at=1_000))
        assert made.is_being_repaired(stage.a) is is_repaired
        assert not made.is_being_repaired(stage.b)


def test_it_forgets_commits_of_long_ago() -> None:
    made = book()

    for at in range(10 * MOST_COMMITS):
        made.note_commit(at, at)

    assert len(made.commits) <= MOST_COMMITS
    assert made.least_stored_since(10 * MOST_COMMITS) == 10 * MOST_COMMITS - 1


def test_a_hold_knows_since_when_it_was_how_far(stage: Stage) -> None:
    session = Session(stage.a, began_at=0, start_offset=0)
    session.finish(0, 1_000)
    session.finish(1, 20_000)

    assert list(session.finished_until(20_000)) == [(20_000, 2), (1_000, 1), (0, 0)]
    assert list(session.finished_until(19_999)) == [(1_000, 1), (0, 0)]
    assert [session.finished_at(at) for at in (-1, 0, 1_000, 32_000)] == [0, 0, 1, 2]


def test_a_hold_knows_when_its_client_may_first_have_forgotten_it(stage: Stage) -> None:
    session = Session(stage.a, began_at=0, start_offset=0)
    session.forget(22_000, 25_000)
    session.forget(40_000, 43_000)

    assert session.forgotten_at(20_000, until=60_000) == 22_000
    assert session.forgotten_at(24_000, until=60_000) == 24_000, "it may still come"
    assert session.forgotten_at(25_001, until=60_000) == 40_000
    assert session.forgotten_at(20_000, until=21_999) is None
    assert session.forgotten_at(43_001, until=60_000) is None


def test_what_is_finished_after_it_was_forgotten_is_known_again(stage: Stage) -> None:
    session = Session(stage.a, began_at=0, start_offset=0)
    session.finish(0, 1_000)
    session.forget(11_000, 14_000)
    before, after = session.is_forgotten(10_999), session.is_forgotten(11_000)
    session.finish(1, 14_001)

    assert (before, after, session.is_forgotten(60_000)) == (False, True, False)


def test_a_hold_remembers_no_forgetting_that_is_older_than_its_progress(stage: Stage) -> None:
    session = Session(stage.a, began_at=10_000, start_offset=0)
    session.forget(1_000, 2_000)
    session.forget(20_000, 23_000)

    assert session.forgotten_at(0, until=60_000) == 20_000
