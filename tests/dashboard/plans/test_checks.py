from __future__ import annotations

from dashboard.plans.checks import MOST_SHOWN, Check, Grade, check, refusals, to_acknowledge
from rebalance_engine.group import GroupView, Member
from rebalance_engine.model import MessageModel, MessageQueue

RETRY = MessageQueue("%RETRY%g", "east", 0)
QUEUES = [MessageQueue("orders", "east", number) for number in range(4)]
BOTH = frozenset({"orders", "%RETRY%g"})


def view(strategy: str = "CONFIG", *, model: MessageModel = MessageModel.CLUSTERING) -> GroupView:
    members = [Member(client_id=name, topics=BOTH, strategy=strategy) for name in "AB"]
    return GroupView.of("g", [*QUEUES, RETRY], members, model)


def checked(lists: dict[str, list[MessageQueue]], *, at: GroupView | None = None) -> dict[str, Check]:
    found = check(lists, at or view(), {"gone"})
    return {each.kind: each for each in found}


GOOD = {"A": [*QUEUES[:2], RETRY], "B": QUEUES[2:]}


def test_a_good_assignment_is_fine_in_every_respect() -> None:
    found = checked(GOOD)

    assert {each.grade for each in found.values()} == {Grade.FINE}
    assert len(found) == 7
    assert to_acknowledge(found.values()) == refusals(found.values()) == []


def test_a_queue_that_is_listed_twice_cannot_be_kept() -> None:
    found = checked({"A": [*QUEUES, RETRY], "B": [QUEUES[0]]})

    assert refusals(found.values()) == [found["listed twice"]]
    assert found["listed twice"].subjects == ("orders/east/0",)


def test_what_would_wait_is_to_be_acknowledged() -> None:
    found = checked({"A": QUEUES[:3], "B": []})

    assert found["without owner"].subjects == ("orders/east/3",)
    assert found["retry left out"].subjects == ("%RETRY%g/east/0",)
    assert found["idle member"].grade is Grade.NOTE
    assert {each.kind for each in to_acknowledge(found.values())} == {"without owner", "retry left out"}


def test_queues_and_clients_that_nobody_knows_are_named() -> None:
    found = checked({**GOOD, "stranger": [MessageQueue("orders", "west", 0)], "gone": []})

    assert found["unknown queue"].subjects == ("orders/west/0",)
    assert found["unknown client"].subjects == ("stranger",)
    assert found["client offline"].subjects == ("gone",)


def test_a_member_that_does_not_subscribe_would_pull_nothing() -> None:
    members = [Member(client_id="A", topics=BOTH), Member(client_id="B", topics=frozenset({"%RETRY%g"}))]

    found = checked(GOOD, at=GroupView.of("g", [*QUEUES, RETRY], members))

    assert found["topic not subscribed"].subjects == ("B: orders",)


def test_what_no_member_subscribes_to_needs_no_owner() -> None:
    members = [Member(client_id="A", topics=frozenset({"%RETRY%g"}))]

    assert checked({"A": [RETRY]}, at=GroupView.of("g", [*QUEUES, RETRY], members))["without owner"].grade is Grade.FINE


def test_of_a_group_that_divides_otherwise_it_is_said() -> None:
    assert "AVG" in checked(GOOD, at=view("AVG"))["not by config"].words
    assert "broadcasts" in checked(GOOD, at=view(model=MessageModel.BROADCASTING))["not divided"].words


def test_who_acknowledges_queues_has_not_acknowledged_others() -> None:
    one, other = checked({"A": QUEUES[:3]})["without owner"], checked({"A": QUEUES[:2]})["without owner"]

    assert one.key != other.key
    assert one.key == checked({"A": QUEUES[:3]})["without owner"].key


def test_of_many_subjects_some_are_shown_and_the_others_counted() -> None:
    many = Check("x", Grade.NOTE, "x", tuple(map(str, range(MOST_SHOWN + 3))))

    assert (len(many.shown), many.more) == (MOST_SHOWN, 3)


def test_a_queue_that_is_listed_twice_for_one_member_is_not_said_to_have_two() -> None:
    found = checked({"A": [*QUEUES, QUEUES[0], RETRY], "B": []})

    assert found["listed twice"].grade is Grade.WRONG
    assert found["listed twice"].words == "1 queue is listed twice for the same member"
    both = check({"A": [*QUEUES, QUEUES[0], RETRY], "B": [QUEUES[1]]}, view(), set())
    assert [each.subjects for each in refusals(both)] == [("orders/east/1",), ("orders/east/0",)]
