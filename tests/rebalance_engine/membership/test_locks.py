import pytest

from rebalance_engine.membership.locks import Answer, LockTable
from tests.rebalance_engine.membership.examples import QUEUE

OTHER = QUEUE._replace(queue_id=1)


@pytest.fixture
def table() -> LockTable:
    return LockTable()


def answers(table: LockTable, client: str, at: int) -> list[Answer]:
    return [verdict.answer for verdict in table.lock("g", client, [QUEUE], at)]


def test_a_free_queue_is_granted_renewed_and_refused(table: LockTable) -> None:
    assert answers(table, "A", 0) == [Answer.GRANTED]
    assert answers(table, "A", 20_000) == [Answer.RENEWED]
    assert answers(table, "B", 20_000) == [Answer.REFUSED]
    assert table.holder("g", QUEUE, 20_000) == "A"


@pytest.mark.parametrize("client", ["A", "B"])
def test_a_lock_expires_after_more_than_60_s(table: LockTable, client: str) -> None:
    table.lock("g", "A", [QUEUE], 0)

    assert table.holder("g", QUEUE, 60_000) == "A"
    assert table.holder("g", QUEUE, 60_001) is None
    (verdict,) = table.lock("g", client, [QUEUE], 60_001)
    assert (verdict.answer, verdict.holder, verdict.renewed_at) == (Answer.TAKEN_OVER, "A", 0)
    assert table.holder("g", QUEUE, 60_001) == client


def test_a_refusal_does_not_prolong_anybodys_lock(table: LockTable) -> None:
    table.lock("g", "A", [QUEUE], 0)
    table.lock("g", "B", [QUEUE], 59_000)

    assert answers(table, "B", 60_001) == [Answer.TAKEN_OVER]


def test_each_queue_of_a_batch_is_answered_by_itself_and_once(table: LockTable) -> None:
    table.lock("g", "A", [QUEUE], 0)

    verdicts = table.lock("g", "B", [QUEUE, OTHER, OTHER], 0)

    assert [(verdict.queue, verdict.answer) for verdict in verdicts] == [
        (QUEUE, Answer.REFUSED),
        (OTHER, Answer.GRANTED),
    ]


def test_groups_do_not_share_locks(table: LockTable) -> None:
    table.lock("g", "A", [QUEUE], 0)

    (verdict,) = table.lock("h", "B", [QUEUE], 0)

    assert verdict.answer is Answer.GRANTED


def test_only_the_holders_id_unlocks(table: LockTable) -> None:
    table.lock("g", "A", [QUEUE], 0)

    (refused,) = table.unlock("g", "B", [QUEUE])
    (released,) = table.unlock("g", "A", [QUEUE])
    (missing,) = table.unlock("h", "A", [QUEUE])

    assert [verdict.answer for verdict in (refused, released, missing)] == [
        Answer.NOT_HELD,
        Answer.RELEASED,
        Answer.NOT_HELD,
    ]
    assert table.held("g", 0) == {}


def test_an_expired_lock_can_still_be_unlocked(table: LockTable) -> None:
    table.lock("g", "A", [QUEUE], 0)

    (verdict,) = table.unlock("g", "A", [QUEUE])

    assert verdict.answer is Answer.RELEASED


def test_check_passes_at_the_boundary_and_finds_a_lock_from_the_future(table: LockTable) -> None:
    table.lock("g", "A", [QUEUE], 1_000)

    table.check(61_000)
    table.check(61_001)
    with pytest.raises(AssertionError, match="renewed at 1000"):
        table.check(999)
