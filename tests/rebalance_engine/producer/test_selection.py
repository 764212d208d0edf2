import pytest
from hypothesis import given
from hypothesis import strategies as st

from rebalance_engine.model import MessageQueue
from rebalance_engine.producer import Profile, java
from rebalance_engine.producer.java_numbers import MAX_INT
from rebalance_engine.producer.latency import FaultTable, Lesson
from rebalance_engine.producer.publish_info import PublishInfo
from rebalance_engine.producer.selection import Choice, Search, Skip, Step, Why, select
from tests.rebalance_engine.producer.luck import TOPIC, WrittenLuck, faults, info, short

ALL = ["4.2.0", "4.7.1", "4.8.0", "4.9.0", "4.9.3", "4.9.7", "5.0.0", "5.1.0", "5.1.3", "5.1.4", "5.2.0", "5.5.0"]
NEW = ["5.1.4", "5.2.0", "5.3.0", "5.5.0"]


class Thread:
    """One thread that chooses queues of one topic."""

    def __init__(
        self, version: str, *brokers: str, luck: tuple[int, ...] = (), queues: int = 2, on: bool = True
    ) -> None:
        self.profile: Profile = java(version)
        self.luck = WrittenLuck(*luck)
        self.info: PublishInfo = info(self.profile, *brokers, luck=self.luck, queues=queues)
        self.faults: FaultTable = faults(self.profile, self.luck)
        self.on = on

    def choose(self, last_broker: str | None = None, at: int = 0, *, is_retry: bool = False) -> Choice:
        search = Search(self.info, self.faults, self.profile, "A", at, last_broker, is_retry)
        return select(search, avoids_faults=self.on)

    def names(self, count: int, last_broker: str | None = None) -> str:
        return short([queue for queue in (self.choose(last_broker).queue for _ in range(count)) if queue])

    def next_value(self) -> int:
        return self.info.index.advance("A")


@pytest.mark.parametrize("version", ALL)
@pytest.mark.parametrize("on", [False, True])
def test_without_trouble_queues_are_taken_in_turn(version: str, *, on: bool) -> None:
    thread = Thread(version, "east", "west", on=on)

    assert thread.names(5) == "east/1 west/0 west/1 east/0 east/1"


@pytest.mark.parametrize("version", ALL)
def test_switched_off_the_broker_that_failed_is_passed_over(version: str) -> None:
    thread = Thread(version, "east", "west", on=False)

    choice = thread.choose("east")

    assert choice.queue == MessageQueue(TOPIC, "west", 0)
    assert choice.why is Why.OTHER_BROKER
    assert [step.skipped for step in choice.steps] == [Skip.LAST_BROKER, None]


@pytest.mark.parametrize("version", ALL)
def test_switched_off_a_single_broker_is_taken_again(version: str) -> None:
    thread = Thread(version, "east", on=False, queues=3)

    choice = thread.choose("east")

    assert choice.why is Why.LAST_RESORT and len(choice.steps) == 4


@pytest.mark.parametrize(("version", "after"), [("4.7.1", 2), ("4.8.0", 4), ("4.9.7", 4), ("5.3.0", 4)])
def test_to_4_7_the_index_moves_once_a_scan_later_once_a_look(version: str, after: int) -> None:
    thread = Thread(version, "east", "west", queues=2, luck=(3,), on=False)

    assert thread.choose("east").position == 2  # looked at 0, 1 and 2
    assert thread.next_value() - 3 == after


@pytest.mark.parametrize(("version", "after"), [("4.7.1", 2), ("4.9.7", 2), ("5.1.3", 2), ("5.1.4", 4), ("5.5.0", 4)])
def test_with_avoidance_on_the_index_moves_once_a_look_only_from_5_1_4_on(version: str, after: int) -> None:
    thread = Thread(version, "east", "west", queues=2, luck=(3,))
    thread.faults.learn("east", Lesson.REMOTING_ERROR, 1, at=0)

    assert thread.choose(at=1).position == 2
    assert thread.next_value() - 3 == after


@pytest.mark.parametrize("version", ALL)
def test_a_broker_that_backs_off_is_passed_over_until_its_time(version: str) -> None:
    thread = Thread(version, "east", "west")
    thread.faults.learn("east", Lesson.REMOTING_ERROR, 1, at=0)
    item = thread.faults.item("east")
    assert item is not None

    during = {queue.broker for queue in (thread.choose(at=item.available_from - 1).queue for _ in range(8)) if queue}
    after = {queue.broker for queue in (thread.choose(at=item.available_from).queue for _ in range(8)) if queue}

    assert during == {"west"}
    assert after == {"east", "west"}


def test_to_4_7_a_retry_insists_on_the_broker_that_failed() -> None:
    thread = Thread("4.7.1", "east", "west")

    choice = thread.choose("west")

    assert choice.why is Why.SAME_BROKER and choice.queue == MessageQueue(TOPIC, "west", 0)
    assert [step.skipped for step in choice.steps] == [Skip.OTHER_THAN_LAST, None]


def test_4_8_to_5_1_0_do_not_care_which_broker_failed() -> None:
    assert Thread("4.8.0", "east", "west").choose("east").queue == MessageQueue(TOPIC, "east", 1)
    assert Thread("5.1.0", "east", "west").choose("east").queue == MessageQueue(TOPIC, "east", 1)


def test_from_5_1_1_on_the_broker_that_failed_is_passed_over() -> None:
    assert Thread("5.1.1", "east", "west").choose("east").queue == MessageQueue(TOPIC, "west", 0)
    assert Thread("5.3.0", "east", "west").choose("east").queue == MessageQueue(TOPIC, "west", 0)


def test_4_x_rewrites_the_shared_list_where_nobody_is_available() -> None:
    thread = Thread("4.9.7", "east", "west", luck=(0, 0))
    thread.faults.learn("east", Lesson.REMOTING_ERROR, 1, at=0)
    thread.faults.learn("west", Lesson.REMOTING_ERROR, 2, at=0)

    choice = thread.choose(at=1)

    assert choice.why is Why.BETTER_HALF
    assert choice.queue == MessageQueue(TOPIC, "east", 1)  # index 1 scans, 2 is the element, 3 mod 2 the queue id
    assert short(thread.info.queues) == "east/0 east/1 east/1 west/1"


def test_4_x_forgets_a_best_broker_that_the_topic_does_not_have() -> None:
    thread = Thread("4.9.7", "east")
    thread.faults.learn("east", Lesson.REMOTING_ERROR, 2, at=0)
    thread.faults.learn("other", Lesson.REMOTING_ERROR, 1, at=0)

    choice = thread.choose(at=1)

    assert (choice.why, choice.forgot) == (Why.LAST_RESORT, "other")
    assert short(thread.info.queues) == "east/0 east/1"


def test_an_index_that_wraps_in_a_scan_ends_it_from_5_1_0_on() -> None:
    thread = Thread("5.1.3", "east", "west", luck=(MAX_INT - 1,))
    thread.faults.learn("west", Lesson.REMOTING_ERROR, 1, at=0)

    choice = thread.choose(at=1)  # 2^31 - 1 is west's last queue; one further on Java throws, and catches

    assert choice.why is Why.LAST_RESORT and choice.position == 0
    assert Thread("5.0.0", "east", "west", luck=(MAX_INT - 1,)).choose().position == 3


def test_from_5_1_4_on_what_can_be_reached_comes_before_what_cannot() -> None:
    thread = Thread("5.3.0", "east", "west")
    thread.faults.learn("east", Lesson.BROKER_ERROR, 1, at=0)
    thread.faults.learn("west", Lesson.RETURNED, 600, at=0)

    choice = thread.choose(at=1)

    assert choice.why is Why.REACHABLE and choice.queue is not None and choice.queue.broker == "west"
    skipped = [step.skipped for step in choice.steps]
    assert skipped[:4] == [Skip.BACKS_OFF] * 4
    assert skipped[4:] == [Skip.UNREACHABLE, None]


def test_from_5_1_4_on_the_last_resort_is_the_next_whatever_it_is() -> None:
    thread = Thread("5.3.0", "east", queues=1)

    choice = thread.choose("east", is_retry=True)

    assert choice.why is Why.LAST_RESORT and len(choice.steps) == 3


@pytest.mark.parametrize(("version", "first"), [("5.1.3", 1), ("5.1.4", 3)])
def test_from_5_1_4_on_a_retry_begins_somewhere_at_random(version: str, first: int) -> None:
    thread = Thread(version, "east", "west", luck=(0, 2) if version == "5.1.3" else (2,))

    assert thread.choose(is_retry=True).position == first


def test_without_avoidance_a_retry_goes_on_in_turn() -> None:
    assert Thread("5.3.0", "east", "west", luck=(0, 2), on=False).choose(is_retry=True).position == 1


def test_without_queues_nothing_is_chosen() -> None:
    assert Thread("5.3.0").choose() == Choice(None, Why.NOTHING)


def test_a_step_says_itself_in_words() -> None:
    queue = MessageQueue(TOPIC, "east", 1)

    assert str(Step(0, queue)) == "took east/1"
    assert str(Step(0, queue, Skip.BACKS_OFF, 7)) == "skipped east/1: its broker backs off until 7"


brokers = st.lists(st.sampled_from(["east", "north", "south", "west"]), min_size=1, max_size=4, unique=True)
histories = st.lists(
    st.tuples(
        st.sampled_from(["east", "north", "south", "west"]), st.sampled_from(list(Lesson)), st.integers(0, 6_000)
    ),
    max_size=8,
)


def after(version: str, names: list[str], history: list[tuple[str, Lesson, int]], luck: int) -> Thread:
    thread = Thread(version, *names, luck=(luck,))
    for at, (broker, lesson, latency_ms) in enumerate(history):
        thread.faults.learn(broker, lesson, latency_ms, at)
    return thread


@given(st.sampled_from(ALL), brokers, histories, st.integers(0, 2**32 - 1), st.booleans())
def test_who_backs_off_is_chosen_only_where_all_others_do_or_just_failed(
    version: str, names: list[str], history: list[tuple[str, Lesson, int]], luck: int, is_retry: bool
) -> None:
    thread = after(version, names, history, luck)
    last = names[0] if is_retry else None
    available = {name for name in names if thread.faults.is_available(name, 10)}

    choice = thread.choose(last, 10, is_retry=is_retry)

    assert choice.queue is not None
    if version in NEW and available - {last}:
        assert choice.queue.broker in available - {last}
    elif available and not is_retry:
        assert choice.queue.broker in available


@given(st.sampled_from(NEW), brokers, histories, st.integers(0, 2**31))
def test_from_5_1_4_on_the_index_moves_once_a_step(
    version: str, names: list[str], history: list[tuple[str, Lesson, int]], luck: int
) -> None:
    thread = after(version, names, history, luck)

    steps = len(thread.choose(at=10).steps)

    assert (thread.next_value() - luck) % 2**31 == steps + 1


@given(st.sampled_from(NEW), brokers, histories, st.integers(0, 2**32 - 1))
def test_from_5_1_4_on_the_list_is_left_alone(
    version: str, names: list[str], history: list[tuple[str, Lesson, int]], luck: int
) -> None:
    thread = after(version, names, history, luck)
    before = list(thread.info.queues)

    thread.choose(names[0], 10, is_retry=True)

    assert thread.info.queues == before


@given(st.sampled_from(ALL), brokers, st.integers(0, 2**32 - 1))
def test_switched_off_another_broker_is_found_wherever_there_is_one(version: str, names: list[str], luck: int) -> None:
    thread = Thread(version, *names, luck=(luck,), on=False)

    choice = thread.choose(names[0])

    assert choice.queue is not None
    assert (choice.queue.broker == names[0]) == (len(names) == 1)
