import random

import pytest

from rebalance_engine.consumer import Deliver, GroupSettings, Subscribe, java
from rebalance_engine.consumer.application import Result
from rebalance_engine.consumer.messages import Message
from rebalance_engine.consumer.process_queue import ProcessQueue
from rebalance_engine.effects import Send
from rebalance_engine.model import MessageQueue
from rebalance_engine.remoting.codes import Language
from rebalance_engine.simulation.breach import Weather
from rebalance_engine.simulation.broker import Found
from rebalance_engine.simulation.clients import MOST_FAILURES, ConsumerProcess, Listener, ProducerProcess, read
from rebalance_engine.simulation.clock import EPOCH
from rebalance_engine.simulation.nameserver import ADDRESS, NameServer
from rebalance_engine.simulation.network import Network
from rebalance_engine.simulation.process import Place
from rebalance_engine.simulation.sending import SendBook
from tests.rebalance_engine.simulation.small import Parrot, network

QUEUE = MessageQueue("orders", "east", 0)


class Seats:
    """An audience that writes down what it sees."""

    def __init__(self) -> None:
        self.seen: list[str] = []

    def delivered(self, client: ConsumerProcess, deliver: Deliver) -> None:
        self.seen.append(f"{client.name} gets {len(deliver.messages)}")

    def consumed(self, client: ConsumerProcess, _: Deliver, result: Result) -> None:
        self.seen.append(f"{client.name} says {result.name} after {client.clock.now - EPOCH} ms")

    def ended(self, client: ConsumerProcess) -> None:
        self.seen.append(f"{client.name} ended")


def place(between: Network, name: str) -> Place:
    return Place(between, name, f"{name}:1", lambda _process, _fact: None)


def consumer(seats: Seats, listener: Listener | None = None) -> ConsumerProcess:
    between = network()
    between.listen(NameServer(Place(between, "name server", ADDRESS, lambda _process, _fact: None)))
    return ConsumerProcess(
        place(between, "A"),
        client_id="10.0.0.1@A",
        profile=java("5.5.0"),
        strategies={"g": "AVG"},
        luck=random.Random(0),
        listener=listener or Listener(10, 10),
        audience=seats,
    )


def deliver(reconsumed: int = 0) -> Deliver:
    messages = (Message(offset=0, topic="orders", reconsume_times=reconsumed),)
    return Deliver(group="g", queue=QUEUE, messages=messages, token=999)


def test_a_listener_takes_its_time() -> None:
    seats = Seats()
    process = consumer(seats)

    process.carry_out([deliver()])
    process.clock.run_until(EPOCH + 100)

    assert seats.seen == ["A gets 1", "A says SUCCESS after 10 ms"]


def test_a_listener_fails_a_message_so_often_and_not_more() -> None:
    seats = Seats()
    process = consumer(seats, Listener(10, 10, fails=1_000))

    process.carry_out([deliver(MOST_FAILURES - 1), deliver(MOST_FAILURES)])
    process.clock.run_until(EPOCH + 100)

    assert [line.split()[2] for line in seats.seen[2:]] == ["LATER", "SUCCESS"]


def test_its_headers_say_what_it_is() -> None:
    process = consumer(Seats())

    assert (process.language, process.version) == (Language.JAVA, java("5.5.0").version_number)


def test_a_process_ends_after_its_consumer_has_shut_down() -> None:
    seats = Seats()
    process = consumer(seats)
    process.start(GroupSettings(group="g", topics={"orders": "*"}))
    process.clock.run_until(EPOCH + 1_000)

    process.stop()
    process.clock.run_until(EPOCH + 20_000)

    assert (seats.seen, process.is_gone, process.is_stopping) == (["A ended"], True, True)


def test_orders_for_a_consumer_that_is_shut_down_are_nobodys() -> None:
    process = consumer(Seats())

    process.order(Subscribe("g", "payments"))

    assert process.held("g") == ()


def test_a_consumer_that_just_started_holds_nothing() -> None:
    process = consumer(Seats())
    process.start(GroupSettings(group="g", topics={"orders": "*"}))

    assert process.held("g") == ()


def test_its_tables_are_checked_after_every_event() -> None:
    process = consumer(Seats())
    process.start(GroupSettings(group="g", topics={"orders": "*"}))
    held = ProcessQueue(QUEUE, process.clock.now, is_locked=False)
    process.machine.member("g").take(held, 0)

    held.bytes = 1
    with pytest.raises(AssertionError, match="1 bytes counted, 0 there"):
        process.do(lambda: None)


def test_messages_are_taken_out_of_an_answer() -> None:
    message = Message(offset=0, topic="orders")
    found = Found(suggest_which_broker_id=0, next_begin_offset=1, min_offset=0, max_offset=1, messages=(message,))

    assert read(found) == (message,)


def test_a_producer_sends_until_it_is_time_to_stop() -> None:
    between = network()
    server = Parrot(between, "name server", ADDRESS)
    between.listen(server)
    weather = Weather()
    weather.turns_foul(EPOCH, EPOCH + 10_000)
    producer = ProducerProcess(
        place(between, "P"),
        version="5.5.0",
        topics=("orders",),
        every_ms=100,
        avoids_faults=False,
        luck=random.Random(0),
        addressee=SendBook(between.clock, weather, ()),
    )
    sent: list[Send] = []
    producer._doing[Send] = sent.append

    producer.start(EPOCH + 2_000)
    between.clock.run_until(EPOCH + 10_000)

    assert sent
    assert 10 <= producer._sent <= 30
    assert all(call.began_at < EPOCH + 2_000 for call in producer.machine._calls.values())
