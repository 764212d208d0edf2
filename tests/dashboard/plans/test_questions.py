from __future__ import annotations

from urllib.parse import parse_qs

import pytest

from dashboard.plans.questions import (
    LONGEST,
    MOST_PROBLEMS,
    MOST_QUEUES,
    BadQuestion,
    Changes,
    Question,
    hold_against,
    read_question,
)
from rebalance_engine.model import MessageQueue
from rebalance_engine.tables import ClientTable, QueueTable

MEMBERS = ClientTable.of(["A", "B", "10.0.0.1@7>x, y"])
QUEUES = QueueTable.from_routes([("orders", "east", 4), ("orders", "west", 2), ("%RETRY%g", "east", 1)])


def asked(**values: str | list[str]) -> Question:
    lists = {name: [value] if isinstance(value, str) else value for name, value in values.items()}
    return read_question(lambda name: lists.get(name, []))


def changes(**values: str | list[str]) -> Changes:
    return hold_against(asked(**values), MEMBERS, QUEUES)


def problems(**values: str | list[str]) -> tuple[str, ...]:
    with pytest.raises(BadQuestion) as bad:
        changes(**values)
    return bad.value.problems


def test_a_question_comes_back_from_its_own_query() -> None:
    question = asked(add=["C D", "2"], remove="A", rename="B>Z", queues="orders/*/8", broker="-west", strategy="STICKY")

    again = parse_qs(question.as_query())

    assert read_question(lambda name: again.get(name, [])) == question
    assert not question.is_empty and asked().is_empty
    assert asked(strategy="AVG").as_query(strategy="", remove="A") == "remove=A"
    assert asked(params='{"x": 1}').as_lists() == {"params": '{"x": 1}'}


def test_members_come_and_go() -> None:
    asked_for = changes(add="C, D\nE", remove="A")

    assert asked_for.clients == ("10.0.0.1@7>x, y", "B", "C", "D", "E")
    assert (asked_for.added, asked_for.removed) == (("C", "D", "E"), ("A",))


def test_a_number_is_so_many_newcomers_with_names_that_nobody_has() -> None:
    table = ClientTable.of(["A", "new-1@dry-run"])

    named = hold_against(asked(add=["2", "new-2@dry-run"]), table, QUEUES).added

    assert named == ("new-2@dry-run", "new-3@dry-run", "new-4@dry-run")


def test_a_member_may_have_any_name() -> None:
    assert changes(remove="10.0.0.1@7>x, y").clients == ("A", "B")
    assert changes(rename="B>b").renamed == {"b": "B"}


def test_a_member_comes_back_under_another_id() -> None:
    asked_for = changes(rename="A>C", remove="B")

    assert asked_for.clients == ("10.0.0.1@7>x, y", "C")
    assert asked_for.renamed == {"C": "A"}


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ({"remove": "Z"}, "'Z' is no member, so it cannot leave."),
        ({"add": "A"}, "'A' is a member already."),
        ({"add": "99999"}, "99,999 members are to join; at most 2,000 can."),
        ({"rename": "Z>A"}, "'Z>A' is no member and its new name"),
        ({"rename": "A>B"}, "'A' cannot be 'B'"),
        ({"rename": "A"}, "'A' cannot be nobody"),
        ({"rename": "A>C", "remove": "A"}, "'A' cannot be 'C'"),
        ({"rename": ["A>C", "A>D"]}, "'A' cannot be 'D'"),
        ({"queues": "orders/8"}, "'orders/8' is no TOPIC/BROKER/COUNT of this group"),
        ({"queues": "nope/east/8"}, "it consumes '%RETRY%g', 'orders'"),
        ({"queues": "orders/north/8"}, "'north' has no queue of 'orders'"),
        ({"queues": "orders/east/999999"}, f"a topic can have 0 to {MOST_QUEUES:,} queues on a broker here"),
        ({"queues": "orders/east/9999999999"}, "'orders/east/9999999999' is too much"),
        ({"queues": "orders/*/100000"}, f"at most {MOST_QUEUES:,} can be tried out"),
        ({"queues": "orders/east/-1"}, "'orders/east/-1' is no TOPIC/BROKER/COUNT"),
        ({"queues": "orders/east/²"}, "'orders/east/²' is no TOPIC/BROKER/COUNT"),
        ({"add": "999999"}, "999,999 members are to join; at most 2,000 can."),
        ({"add": "9" * 15_000}, "…', a number of 15,000 digits; at most 2,000 members can join."),
        ({"add": "1" * 30}, f"add is '{'1' * 30}', a number of 30 digits; at most 2,000 members can join."),
        ({"add": " ".join(f"c{n}" for n in range(3_000))}, "3,000 members are to join; at most 2,000 can."),
        ({"add": "0"}, "add is 0; needed are 1 or more members"),
        ({"add": "-5"}, "'-5' is a number; needed is a name of 1 to 255 characters, or as many as are to join, from 1"),
        ({"add": "NaN"}, "'NaN' is a number"),
        ({"add": "1e9"}, "'1e9' is a number"),
        ({"add": "x" * 10_000}, "has 10,000 characters; needed is a name of 1 to 255 characters"),
        ({"rename": "A>" + "x" * 10_000}, "has 10,000 characters; needed is a name of 1 to 255 characters"),
        ({"broker": "x" * 10_000}, "has 10,000 characters; needed is a name of 1 to 255 characters"),
        ({"broker": " ".join(f"b{n}" for n in range(101))}, "101 brokers are to come or go; at most 100 can."),
        ({"broker": "-north"}, "'north' has no queue of this group"),
        ({"broker": "west"}, "'west' has queues of this group already"),
    ],
)
def test_what_makes_no_sense_is_said(values: dict[str, str], expected: str) -> None:
    assert expected in " ".join(problems(**values))


def test_all_that_is_wrong_is_said_at_once() -> None:
    assert len(problems(remove="Z", add="A", broker="west")) == 3


def test_topics_get_more_queues_or_fewer() -> None:
    queues = changes(queues="orders/*/3").queues

    assert [len(queues.of_topic(topic)) for topic in queues.topics] == [1, 6]
    assert MessageQueue("orders", "west", 2) in list(queues)
    assert MessageQueue("orders", "east", 3) not in list(queues)


def test_a_broker_comes_with_as_many_queues_as_the_largest_has_and_one_goes_with_all() -> None:
    came = changes(broker="north").queues
    went = changes(broker="-east").queues

    assert sum(queue.broker == "north" for queue in came) == 5
    assert {queue.broker for queue in went} == {"west"}


def test_a_question_that_changes_no_queue_keeps_the_table() -> None:
    assert changes(add="C").queues is QUEUES


def test_a_parameter_of_no_sensible_length_is_refused() -> None:
    with pytest.raises(BadQuestion, match="add has 20,001 characters; at most 20,000 are read"):
        asked(add="x" * (LONGEST + 1))


@pytest.mark.parametrize("name", ["add", "remove", "rename", "queues", "broker"])
def test_however_much_is_wrong_what_is_said_stays_short(name: str) -> None:
    value = {"add": "A", "rename": "A>B" + "y" * 90, "queues": "y" * 90}.get(name, "-" + "y" * 90)

    found = problems(**{name: " ".join(f"{value}{'' if name == 'add' else n}" for n in range(90))})

    assert 1 <= len(found) <= MOST_PROBLEMS + 1
    assert max(map(len, found)) < 300
