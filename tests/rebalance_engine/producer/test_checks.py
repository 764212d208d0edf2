import pytest

from rebalance_engine.events import SendOutcome
from rebalance_engine.model import MessageQueue
from rebalance_engine.producer import Message, Mode, Outcome, Profile, Sent, java
from rebalance_engine.producer.checks import broken_call, broken_tables
from rebalance_engine.producer.desk import Desk
from rebalance_engine.producer.latency import Lesson
from rebalance_engine.producer.send_loop import Call
from tests.rebalance_engine.producer.luck import SOURCE, TOPIC, WrittenLuck, route, settings

EAST_0 = MessageQueue(TOPIC, "east", 0)


def desk(profile: Profile, *, avoids_faults: bool = True) -> Desk:
    made = Desk(profile, settings(avoids_faults=avoids_faults), luck=WrittenLuck(), source=SOURCE)
    made.book.accept(TOPIC, route("east", "west"), at=0)
    made.faults.learn("east", Lesson.REMOTING_ERROR, 1, at=0)
    return made


def call(mode: Mode = Mode.SYNC, attempts: int = 1) -> Call:
    made = Call(number=0, message=Message(topic=TOPIC), mode=mode, thread="A", began_at=0, timeout_ms=3_000)
    for _ in range(attempts):
        made.begin(EAST_0, "east", 0)
        made.conclude(Outcome(kind=SendOutcome.REMOTING_ERROR), 1)
    return made


@pytest.mark.parametrize("version", ["4.9.7", "5.3.0"])
def test_tables_as_they_should_be_are_not_broken(version: str) -> None:
    assert list(broken_tables(desk(java(version)))) == []


def test_a_rewritten_list_is_broken_from_5_1_4_on() -> None:
    broken = []
    for version in ("4.9.7", "5.3.0"):
        given = desk(java(version))
        info = given.book.info(TOPIC)
        assert info is not None
        info.queues[0] = MessageQueue(TOPIC, "west", 0)
        broken.append(list(broken_tables(given)))

    assert broken == [[], ["orders has queues that its route does not have"]]


def test_a_list_of_another_length_or_topic_is_broken() -> None:
    given = desk(java("4.9.7"))
    info = given.book.info(TOPIC)
    assert info is not None

    info.queues[:] = [MessageQueue("payments", "east", 0)]

    assert list(broken_tables(given)) == [
        "orders has 1 queues, its route 4",
        "orders has queues of another topic",
    ]


def test_a_fault_table_without_fault_avoidance_is_broken() -> None:
    assert list(broken_tables(desk(java("5.3.0"), avoids_faults=False))) == [
        "1 fault items, though fault avoidance is off"
    ]


def test_a_back_off_beyond_the_longest_and_an_unreachable_broker_of_4_x_are_broken() -> None:
    given = desk(java("4.9.7"))
    item = given.faults.item("east")
    assert item is not None

    item.available_from, item.is_reachable = 600_001, False

    assert list(broken_tables(given)) == [
        "east backs off until 600001, more than 600000 ms from 0",
        "east is unreachable, which java 4.9.7 does not know",
    ]


@pytest.mark.parametrize(("mode", "most"), [(Mode.SYNC, 3), (Mode.ASYNC, 3), (Mode.ONEWAY, 3)])
def test_too_many_attempts_are_broken(mode: Mode, most: int) -> None:
    given = desk(java("5.3.0"))

    assert list(broken_call(given, call(mode, most))) == []
    assert list(broken_call(given, call(mode, most + 1))) == [f"call 0 made {most + 1} attempts, at most {most}"]


def test_an_attempt_that_never_ended_is_broken() -> None:
    given, under_way = desk(java("5.3.0")), call()
    under_way.begin(EAST_0, "east", 2)
    assert list(broken_call(given, under_way)) == []

    under_way.begin(EAST_0, "east", 3)
    under_way.result = Sent(queue=EAST_0)

    assert list(broken_call(given, under_way)) == [
        "call 0 began an attempt before the last one ended",
        "call 0 has ended, an attempt of it has not",
    ]
