"""What the article on balancing says of producers, held against the released clients. Corrected values stand beside."""

import random
from dataclasses import dataclass

import pytest

from rebalance_engine.events import Origin, Source
from rebalance_engine.model import MessageQueue
from rebalance_engine.producer import Profile, Settings, Why, java
from rebalance_engine.producer.desk import Desk
from rebalance_engine.producer.latency import Lesson
from rebalance_engine.producer.publish_info import PublishInfo
from rebalance_engine.remoting.bodies.routes import BrokerData, QueueData, TopicRouteData

OF_THE_ARTICLE = java("4.7.1")  # whose code it quotes
LATER = java("5.5.0")


@dataclass(frozen=True)
class Step:
    """One step of the latency table; ``printed_ms`` is what the article's text says where it is wrong."""

    latency_ms: int
    true_ms: int
    later_ms: int
    printed_ms: int | None = None

    def __str__(self) -> str:
        return f"{self.latency_ms} ms{', corrected' if self.printed_ms else ''}"


STEPS = [
    Step(0, true_ms=0, later_ms=0),
    Step(50, true_ms=0, later_ms=0),
    Step(100, true_ms=0, later_ms=0),
    Step(549, true_ms=0, later_ms=0),
    Step(550, true_ms=30_000, later_ms=2_000, printed_ms=3_000),
    Step(1_000, true_ms=60_000, later_ms=2_000),
    Step(1_800, true_ms=60_000, later_ms=5_000),
    Step(2_000, true_ms=120_000, later_ms=5_000),
    Step(3_000, true_ms=180_000, later_ms=6_000),
    Step(5_000, true_ms=180_000, later_ms=10_000),
    Step(15_000, true_ms=600_000, later_ms=30_000),
]


def desk(profile: Profile = OF_THE_ARTICLE, *, avoids_faults: bool = True, seed: int = 1) -> tuple[Desk, PublishInfo]:
    settings = Settings(group="p_orders", client="A", avoids_faults=avoids_faults)
    made = Desk(profile, settings, luck=random.Random(seed), source=Source(origin=Origin.SIMULATOR))
    brokers = ("east", "west")
    route = TopicRouteData(
        queue_datas=tuple(
            QueueData(broker_name=name, read_queue_nums=4, write_queue_nums=4, perm=6) for name in brokers
        ),
        broker_datas=tuple(BrokerData(broker_name=name, broker_addrs={0: f"{name}:10911"}) for name in brokers),
    )
    info = made.book.accept("orders", route, at=0)
    assert info is not None
    return made, info


def brokers(made: Desk, info: PublishInfo, last_broker: str | None, count: int = 16) -> set[str]:
    queues = [made.choose(info, "A", last_broker, is_retry=last_broker is not None).queue for _ in range(count)]
    return {queue.broker for queue in queues if queue}


@pytest.mark.parametrize("step", STEPS, ids=str)
def test_a_latency_is_backed_off_from_as_its_step_says(step: Step) -> None:
    old, new = desk(OF_THE_ARTICLE)[0], desk(LATER)[0]

    assert (old.faults.duration_ms(step.latency_ms), new.faults.duration_ms(step.latency_ms)) == (
        step.true_ms,
        step.later_ms,
    )
    assert step.printed_ms != step.true_ms


def test_the_last_broker_is_the_one_to_avoid_and_not_the_one_to_return() -> None:
    made, info = desk(avoids_faults=False)

    assert brokers(made, info, "east") == {"west"}


def test_with_fault_avoidance_on_the_quoted_code_does_return_it() -> None:
    made, info = desk()

    assert brokers(made, info, "east") == {"east"}
    assert brokers(*desk(LATER), "east") == {"west"}


def test_no_new_queue_is_made_on_the_best_broker_but_one_of_the_list_is_rewritten() -> None:
    made, info = desk()
    for broker, latency_ms in (("east", 1), ("west", 2)):
        made.learn(broker, Lesson.REMOTING_ERROR, latency_ms)
    element = made.preview(info, "A", None, is_retry=False).position
    assert element is not None

    choice = made.choose(info, "A", None, is_retry=False)

    assert choice.why is Why.BETTER_HALF and choice.queue is not None and choice.queue.broker == "east"
    assert info.queues[element] is choice.queue and len(info.queues) == 8


def test_not_the_best_broker_is_picked_but_those_of_the_better_half_in_turn() -> None:
    made, _ = desk()
    for latency_ms, broker in enumerate(["first", "second", "third", "fourth"]):
        made.learn(broker, Lesson.RETURNED, latency_ms)

    assert {made.faults.pick_one_at_least("A", 1) for _ in range(4)} == {"first", "second"}


def test_the_current_latency_is_what_was_measured_and_the_start_timestamp_ends_the_back_off() -> None:
    made, _ = desk()
    made.at = 5

    made.learn("east", Lesson.RETURNED, 700)

    item = made.faults.item("east")
    assert item is not None and (item.latency_ms, item.available_from) == (700, 30_005)


def test_queues_are_not_chosen_at_random_but_in_turn_from_a_random_start_for_each_thread() -> None:
    made, info = desk(avoids_faults=False)

    def positions(thread: str) -> list[int]:
        return [made.choose(info, thread, None, is_retry=False).position or 0 for _ in range(8)]

    first, second = positions("A"), positions("B")
    assert [position % 8 for position in range(first[0], first[0] + 8)] == first
    assert [position % 8 for position in range(second[0], second[0] + 8)] == second
    assert first != second


def test_an_unknown_topic_borrows_the_brokers_of_the_default_topic() -> None:
    made, info = desk()
    assert info.route is not None

    lent = made.book.accept_default("news", info.route, at=0)

    assert lent is not None
    assert lent.queues == [MessageQueue("news", broker, number) for broker in ("east", "west") for number in range(4)]


def test_fault_avoidance_is_off_unless_somebody_switches_it_on() -> None:
    assert not Settings(group="p_orders", client="A").avoids_faults
