from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dashboard.plans import assignments
from dashboard.plans.assignments import MOST_CLIENTS, MOST_PROBLEMS, BadAssignment, read, write
from rebalance_engine.model import MessageQueue

TOPICS = st.text(min_size=1, max_size=8)
BROKERS = st.text(min_size=1, max_size=6).filter(lambda name: "/" not in name)
QUEUES = st.builds(MessageQueue, TOPICS, BROKERS, st.integers(0, 12))
ASSIGNMENTS = st.dictionaries(st.text(min_size=1, max_size=10), st.lists(QUEUES, max_size=8).map(sorted).map(tuple))


@given(ASSIGNMENTS)
def test_what_is_written_is_read_as_it_was(assignment: dict[str, tuple[MessageQueue, ...]]) -> None:
    text = write(assignment)

    assert text.isascii()
    assert {client: tuple(sorted(queues)) for client, queues in read(text).items()} == assignment


def test_neighbours_are_written_together() -> None:
    queues = [MessageQueue("orders", "broker-a", number) for number in (3, 0, 1, 2, 7)]

    assert json.loads(write({"A": queues, "B": []})) == {"A": ["orders/broker-a/0-3", "orders/broker-a/7"], "B": []}


def test_a_client_that_stands_there_twice_has_both_lists() -> None:
    both = read('{"A": ["orders/east/0"], "A": ["orders/east/0-1"]}')

    assert [queue.queue_id for queue in both["A"]] == [0, 0, 1]


def test_nothing_is_an_empty_assignment() -> None:
    assert read("") == read("{}") == {}
    assert write({}) == "{}\n"


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("{", "This is no JSON"),
        ("[" * 100_000, "This is no JSON"),
        ("[]", "Needed is a JSON object"),
        ('{"\\ud800": []}', "A name has half a character"),
        ('{"A": ["\\ud800/east/0"]}', "A name has half a character"),
        ('{"A": "orders/east/0"}', "A has no list of queues"),
        ('{"A": {"x": 1}}', "A has no list of queues"),
        ('{"A": [7]}', "A is given 7; needed is TOPIC/BROKER/NUMBER"),
        ('{"A": ["orders/0"]}', "needed is TOPIC/BROKER/NUMBER"),
        ('{"A": ["orders/east/3-1"]}', "needed is TOPIC/BROKER/NUMBER"),
        ('{"A": ["orders/east/-1"]}', "needed is TOPIC/BROKER/NUMBER"),
        ('{"A": ["orders/east/9999999999"]}', "needed is TOPIC/BROKER/NUMBER"),
        ('{"A": ["orders/east/0-2000000000"]}', "More than 200,000 queues"),
        ('{"": ["orders/east/0"]}', "A client id is empty"),
        ('{"%s": []}' % ("A" * 100_000), r"^The client id A+…A+ has 100,000 characters; a name has 400 at most"),
        ('{"%s": []}' % ("四" * 201), "has 201 characters; a name has 400 at most, and 600 bytes"),
        ('{"A": ["%s/east/0"]}' % ("o" * 401), "The topic o+…o+ has 401 characters"),
        ('{"A": ["orders/%s/0"]}' % ("b" * 401), "The broker b+…b+ has 401 characters"),
    ],
)
def test_what_is_no_assignment_is_refused_with_a_reason(text: str, why: str) -> None:
    with pytest.raises(BadAssignment, match=why):
        read(text)


def test_documents_have_bounds() -> None:
    with pytest.raises(BadAssignment, match="characters; at most"):
        read(" " * (assignments.LONGEST + 1))
    with pytest.raises(BadAssignment, match="clients are named"):
        read(json.dumps({str(number): [] for number in range(MOST_CLIENTS + 1)}))
    with pytest.raises(BadAssignment) as bad:
        read(json.dumps({"A": ["x"] * 100}))
    assert len(bad.value.problems) == MOST_PROBLEMS + 1
