import pytest

from rebalance_engine import MessageQueue
from rebalance_engine.findings.finding import MOST_ROWS, FindingKind, clock, count_of, first_rows, retry_topic, spell


def test_each_kind_has_a_name_of_its_own() -> None:
    assert len({kind.value for kind in FindingKind}) == len(FindingKind)


def test_a_queue_is_spelled_with_its_topic_and_broker() -> None:
    assert spell(MessageQueue("orders", "east", 7)) == "orders/east/7"
    assert retry_topic("g") == "%RETRY%g"


@pytest.mark.parametrize(("at", "words"), [(0, "00:00:00 UTC"), (86_399_999, "23:59:59 UTC")])
def test_an_instant_is_written_as_its_time_of_the_day(at: int, words: str) -> None:
    assert clock(at) == words


def test_one_of_something_is_not_many() -> None:
    assert [count_of(n, "queue", "queues") for n in (0, 1, 2)] == ["0 queues", "1 queue", "2 queues"]


def test_rows_are_kept_to_what_a_person_reads() -> None:
    assert first_rows("ab") == ("a", "b")
    assert first_rows(map(str, range(MOST_ROWS + 2)))[-1] == "and 2 more alike"
