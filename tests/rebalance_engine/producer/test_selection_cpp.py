from rebalance_engine.model import MessageQueue
from rebalance_engine.producer import CPP
from rebalance_engine.producer.publish_info import PublishInfo
from rebalance_engine.producer.selection import Choice, Search, Skip, Why
from rebalance_engine.producer.selection_cpp import PARKED_FOR_MS, is_parked, park, select_cpp
from tests.rebalance_engine.producer.luck import TOPIC, WrittenLuck, faults, info

EAST_0 = MessageQueue(TOPIC, "east", 0)


def topic(*brokers: str, at: int = 0) -> PublishInfo:
    return info(CPP, *brokers, luck=WrittenLuck(), at=at)


def choose(
    given: PublishInfo, cursor: int, last_broker: str | None = None, *, at: int = 0, is_active: bool = False
) -> Choice:
    search = Search(given, faults(CPP, WrittenLuck()), CPP, "A", at, last_broker)
    return select_cpp(search, cursor, is_active=is_active)


def test_the_first_attempt_takes_the_position_of_the_shared_number() -> None:
    given = topic("west", "east")

    choice = choose(given, 5)

    assert (choice.position, choice.cursor, choice.why) == (1, 1, Why.IN_TURN)
    assert given.index.shared == 1


def test_a_further_attempt_goes_on_from_there_to_another_broker() -> None:
    given = topic("west", "east")

    choice = choose(given, 1, "west")

    assert (choice.position, choice.cursor, choice.why) == (2, 2, Why.OTHER_BROKER)
    assert given.index.shared == 2  # every look moves the shared number on


def test_on_one_broker_nothing_is_found_and_the_position_stays() -> None:
    given = topic("east")

    choice = choose(given, 1, "east")

    assert (choice.queue, choice.why, choice.cursor) == (None, Why.NOTHING, 1)
    assert [step.skipped for step in choice.steps] == [Skip.LAST_BROKER] * 2


def test_without_queues_nothing_is_found() -> None:
    assert choose(topic(), 3) == Choice(None, Why.NOTHING, cursor=3)


def test_only_the_active_mode_passes_over_parked_queues() -> None:
    given = topic("east", "west")
    park(given, EAST_0, at=0)

    assert choose(given, 0).queue == EAST_0
    assert choose(given, 0, is_active=True).queue == MessageQueue(TOPIC, "east", 1)


def test_where_everything_else_is_parked_a_parked_queue_of_another_broker_is_taken() -> None:
    given = topic("east", "west")
    for queue in given.queues:
        park(given, queue, at=0)

    choice = choose(given, 0, "east", is_active=True)

    assert (choice.queue, choice.why) == (MessageQueue(TOPIC, "west", 0), Why.PARKED)
    assert choose(given, 0, is_active=True).cursor == 3  # without a broker to avoid the position follows


def test_a_parked_queue_returns_with_the_first_minute_after_five() -> None:
    given = topic("east", at=1_000)

    park(given, EAST_0, at=1_500)

    assert is_parked(given, EAST_0, 1_500 + PARKED_FOR_MS)
    assert not is_parked(given, EAST_0, 1_000 + 360_000)


def test_a_queue_parked_on_the_minute_returns_after_exactly_five() -> None:
    given = topic("east", at=1_000)

    park(given, EAST_0, at=61_000)

    assert is_parked(given, EAST_0, 360_999) and not is_parked(given, EAST_0, 361_000)


def test_parking_again_does_not_make_it_longer_but_anew_once_it_is_over() -> None:
    given = topic("east")
    park(given, EAST_0, at=0)

    park(given, EAST_0, at=299_999)
    assert not is_parked(given, EAST_0, 300_000)

    park(given, EAST_0, at=300_000)
    assert is_parked(given, EAST_0, 599_999)
