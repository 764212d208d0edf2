import pytest

from rebalance_engine.consumer.messages import Message
from rebalance_engine.effects import Answered, Channel, Heard, Received, Send
from rebalance_engine.membership.profiles import BrokerSettings
from rebalance_engine.model import MessageQueue
from rebalance_engine.remoting.bodies.clients import ConsumerData, HeartbeatData, SubscriptionData
from rebalance_engine.remoting.codes import ResponseCode
from rebalance_engine.remoting.requests.brokers import GetBrokerConfig
from rebalance_engine.remoting.requests.consuming import (
    ConsumerSendMsgBack,
    GetMaxOffset,
    GetMinOffset,
    OffsetResponse,
    PullMessage,
    QueryConsumerOffset,
    UpdateConsumerOffset,
)
from rebalance_engine.remoting.requests.contract import Refused, Response
from rebalance_engine.remoting.requests.membership import HeartBeat
from rebalance_engine.remoting.requests.producing import SendMessage, SendMessageResponse, SendMessageV2
from rebalance_engine.simulation.broker import BrokerProcess, Disk, Found
from rebalance_engine.simulation.clock import EPOCH
from rebalance_engine.simulation.nameserver import ADDRESS, NameServer
from rebalance_engine.simulation.network import Network
from rebalance_engine.simulation.process import Place
from rebalance_engine.simulation.store import Returned, Store
from tests.rebalance_engine.simulation.small import Parrot, network


class Notes:
    """A watcher that writes down what it sees."""

    def __init__(self) -> None:
        self.seen: list[str] = []
        self.pulls: list[tuple[str, Channel, int]] = []
        self.sends: list[tuple[MessageQueue, int, bytes]] = []

    def heard(self, broker: BrokerProcess, heard: Heard, _: object) -> None:
        if isinstance(heard, Received):
            self.seen.append(f"{broker.name} heard {type(heard.request).__name__}")

    def pulled(self, broker: BrokerProcess, channel: Channel, pull: PullMessage) -> None:
        self.pulls.append((broker.name, channel, pull.queue_offset))

    def sent(self, queue: MessageQueue, offset: int, request: SendMessage) -> None:
        self.sends.append((queue, offset, request.body))

    def committed(self, broker: BrokerProcess, channel: Channel, pull: PullMessage) -> None:
        self.seen.append(f"{broker.name} pulled {pull.commit_offset} over {channel}")

    def stored(self, queue: MessageQueue, message: Message) -> None:
        self.seen.append(f"stored {queue.topic} {message.offset}")

    def returned(self, broker: BrokerProcess, channel: Channel, returned: Returned) -> None:
        self.seen.append(f"returned {returned.offset} to {broker.name} over {channel}")


class Bench:
    """A broker, a name server and a client to ask with."""

    def __init__(self) -> None:
        self.network: Network = network()
        self.notes = Notes()
        self.names = NameServer(Place(self.network, "name server", ADDRESS, lambda _process, _fact: None))
        self.network.listen(self.names)
        self.disk = Disk(BrokerSettings(broker="east", address="east:1"), Store("east"))
        self.broker = self.begin()
        self.broker.put_topic("orders", 2)
        self.client = Parrot(self.network, "A", "A:1")
        self._tokens = 0

    def begin(self) -> BrokerProcess:
        place = Place(self.network, "east", "east:1", lambda _process, _fact: None)
        self.broker = BrokerProcess(place, self.disk, self.notes)
        self.network.listen(self.broker)
        self.broker.start()
        return self.broker

    def wait(self, ms: int) -> None:
        self.network.clock.run_until(self.network.clock.now + ms)

    def ask(self, request: object, wait_ms: int = 20) -> Response | None:
        self._tokens += 1
        token = self._tokens
        self.client.carry_out([Send(to="east:1", request=request, token=token, timeout_ms=30_000)])
        self.wait(wait_ms)
        return self.answer(token)

    def answer(self, token: int) -> Response | None:
        for _, heard in self.client.heard:
            if isinstance(heard, Answered) and heard.token == token:
                assert isinstance(heard.response, Response)
                return heard.response
        return None

    def beat(self) -> None:
        consumer = ConsumerData(group_name="g", subscription_data_set=(SubscriptionData(topic="orders"),))
        self.ask(HeartBeat(body=HeartbeatData(client_id="A", consumer_data_set=(consumer,))))

    def store(self, queue_id: int = 0) -> Response | None:
        return self.ask(SendMessageV2(producer_group="p", topic="orders", queue_id=queue_id, born_timestamp=0))


def pull(offset: int, *, commit: int | None = None) -> PullMessage:
    return PullMessage(
        consumer_group="g",
        topic="orders",
        queue_id=0,
        queue_offset=offset,
        max_msg_nums=2,
        sys_flag=2 | (commit is not None),
        commit_offset=commit or 0,
        suspend_timeout_millis=15_000,
        sub_version=0,
    )


@pytest.fixture
def bench() -> Bench:
    made = Bench()
    made.beat()
    return made


def found(response: Response | None) -> tuple[int, list[int], int]:
    assert isinstance(response, Found)
    return response.code, [message.offset for message in response.messages], response.next_begin_offset


def test_it_registers_its_topics_and_those_that_come_later(bench: Bench) -> None:
    assert len(bench.names.route("orders", bench.network.clock.now).queue_datas) == 1
    assert len(bench.names.route("%RETRY%g", bench.network.clock.now).queue_datas) == 1


def test_what_is_stored_is_found_in_batches(bench: Bench) -> None:
    sent = [bench.store() for _ in range(3)]

    first, second = bench.ask(pull(0)), bench.ask(pull(2))

    assert [answer.queue_offset for answer in sent if isinstance(answer, SendMessageResponse)] == [0, 1, 2]
    assert (found(first), found(second)) == ((0, [0, 1], 2), (0, [2], 3))


def test_a_message_for_a_queue_that_is_not_there_is_refused(bench: Bench) -> None:
    response = bench.store(queue_id=2)

    assert isinstance(response, Refused) and response.code == ResponseCode.TOPIC_NOT_EXIST


def test_a_pull_waits_for_a_message(bench: Bench) -> None:
    waiting = bench.ask(pull(0), wait_ms=5_000)
    bench.store()

    assert waiting is None
    assert found(bench.answer(2)) == (0, [0], 1)


def test_a_pull_that_waited_in_vain_is_told_so(bench: Bench) -> None:
    response = bench.ask(pull(0), wait_ms=15_020)

    assert found(response) == (ResponseCode.PULL_NOT_FOUND, [], 0)


def test_a_pull_beyond_the_end_is_moved_back(bench: Bench) -> None:
    assert found(bench.ask(pull(5))) == (ResponseCode.PULL_OFFSET_MOVED, [], 0)


def test_a_pull_of_nobody_is_refused() -> None:
    response = Bench().ask(pull(0))

    assert isinstance(response, Refused) and response.code == ResponseCode.SUBSCRIPTION_NOT_EXIST


def test_a_pull_brings_an_offset(bench: Bench) -> None:
    bench.store()
    bench.store()

    bench.ask(pull(1, commit=1))

    assert "east pulled 1 over" in " ".join(bench.notes.seen)
    assert bench.ask(QueryConsumerOffset(consumer_group="g", topic="orders", queue_id=0)) == OffsetResponse(offset=1)


def test_a_pull_whose_client_went_is_forgotten(bench: Bench) -> None:
    bench.ask(pull(0))

    bench.network.end(bench.client)
    bench.wait(100)
    bench.client = Parrot(bench.network, "B", "B:1")
    bench.store()

    assert bench.broker.machine.registry.find("g") is None


def test_offsets_of_the_queue_can_be_asked(bench: Bench) -> None:
    bench.store()

    assert bench.ask(GetMaxOffset(topic="orders", queue_id=0)) == OffsetResponse(offset=1)
    assert bench.ask(GetMinOffset(topic="orders", queue_id=0)) == OffsetResponse(offset=0)


def test_a_message_that_came_back_is_seen_again_in_the_retry_topic(bench: Bench) -> None:
    bench.store()

    bench.ask(ConsumerSendMsgBack(offset=0, group="g", delay_level=0, max_reconsume_times=16))
    before = bench.disk.store.end("%RETRY%g", 0)
    bench.wait(10_000)

    assert (before, bench.disk.store.end("%RETRY%g", 0)) == (0, 1)
    assert bench.notes.seen[-2:] == ["returned 0 to east over 2", "stored %RETRY%g 0"]


def test_what_waits_on_disk_is_released_by_the_next_run(bench: Bench) -> None:
    bench.store()
    bench.ask(ConsumerSendMsgBack(offset=0, group="g", delay_level=0, max_reconsume_times=16))

    bench.network.end(bench.broker)
    bench.wait(60_000)
    bench.begin()
    bench.wait(1)

    assert bench.disk.store.end("%RETRY%g", 0) == 1


def test_a_crash_loses_the_offsets_of_the_last_seconds_and_no_topic(bench: Bench) -> None:
    def commit(offset: int) -> None:
        bench.ask(UpdateConsumerOffset(consumer_group="g", topic="orders", queue_id=0, commit_offset=offset))

    commit(3)
    bench.wait(5_000)
    commit(4)

    bench.broker.crash()
    bench.network.end(bench.broker)
    bench.begin()
    bench.wait(100)

    assert bench.broker.machine.offsets.find("g", "orders", 0) == 3
    assert bench.broker.machine.topics.find("%RETRY%g") is not None
    assert bench.broker.machine.registry.find("g") is None


def test_a_question_that_is_not_simulated_is_refused(bench: Bench) -> None:
    response = bench.ask(GetBrokerConfig())

    assert isinstance(response, Refused) and response.code == ResponseCode.REQUEST_CODE_NOT_SUPPORTED


def test_its_tables_are_checked_after_every_event(bench: Bench) -> None:
    bench.broker.machine.channels.clear()

    with pytest.raises(AssertionError):
        bench.broker.do(lambda: None)


def test_time_begins_at_the_epoch() -> None:
    assert Bench().network.clock.now == EPOCH
