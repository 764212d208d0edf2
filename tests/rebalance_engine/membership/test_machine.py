import pytest

from rebalance_engine.effects import (
    Answered,
    Closed,
    Effect,
    Opened,
    Push,
    Received,
    Respond,
    State,
    WakeAt,
    Woken,
)
from rebalance_engine.events import Origin
from rebalance_engine.membership.machine import Broker, Memory, Timer
from rebalance_engine.membership.offsets import QueueStart
from rebalance_engine.membership.profiles import BrokerSettings
from rebalance_engine.remoting.bodies.clients import HeartbeatData
from rebalance_engine.remoting.bodies.settings import SubscriptionGroupConfig, TopicConfig
from rebalance_engine.remoting.codes import Language
from rebalance_engine.remoting.requests.changes import UpdateAndCreateSubscriptionGroup, UpdateAndGetGroupForbidden
from rebalance_engine.remoting.requests.consuming import GetMaxOffset, OffsetResponse, QueryConsumerOffset
from rebalance_engine.remoting.requests.contract import Response
from rebalance_engine.remoting.requests.membership import GetConsumerListByGroup, HeartBeat
from tests.rebalance_engine.membership.examples import consumer, pull, wants

BEAT = HeartBeat(body=HeartbeatData(client_id="A", consumer_data_set=(consumer(wants()),)))


def opened(version: str = "5.5.0", **settings: object) -> Broker:
    """Begin a broker with channel 1 open."""
    broker = Broker(BrokerSettings(version=version, **settings))  # type: ignore[arg-type]  # each test names real ones
    broker.start(0)
    broker.handle(Opened(channel=1, address="10.0.0.1:5000"), 0)
    return broker


def response(effects: tuple[Effect, ...]) -> Response:
    (respond,) = (effect for effect in effects if isinstance(effect, Respond))
    assert isinstance(respond.response, Response)
    return respond.response


def test_it_wants_to_be_woken_every_ten_seconds_and_for_flushes_where_they_are() -> None:
    housekeeping = WakeAt(at=10_500, timer=Timer.HOUSEKEEPING)
    flush = WakeAt(at=30_500, timer=Timer.NOTIFICATION)

    assert Broker(BrokerSettings()).start(500) == (housekeeping,)
    assert Broker(BrokerSettings(notifies_at_once=False)).start(500) == (housekeeping, flush)
    assert Broker(BrokerSettings(version="4.9.7", notifies_at_once=False)).start(500) == (housekeeping,)


def test_a_late_wake_up_does_not_shift_the_ones_that_follow() -> None:
    broker = opened()

    assert broker.handle(Woken(timer=Timer.HOUSEKEEPING), 10_007) == (WakeAt(at=20_000, timer=Timer.HOUSEKEEPING),)
    assert broker.handle(Woken(timer=Timer.HOUSEKEEPING), 47_000) == (WakeAt(at=50_000, timer=Timer.HOUSEKEEPING),)


def test_facts_come_before_notifications_and_those_before_the_answer() -> None:
    effects = opened().handle(Received(channel=1, request=BEAT, token=5), 0)

    kinds = [type(effect) for effect in effects]
    assert kinds == [*[State] * kinds.count(State), Push, Respond]
    assert effects[-1] == Respond(channel=1, token=5, response=response(effects))


def test_a_oneway_request_is_not_answered() -> None:
    effects = opened().handle(Received(channel=1, request=BEAT), 0)

    assert not any(isinstance(effect, Respond) for effect in effects)


def test_facts_name_their_broker_and_their_origin() -> None:
    settings = BrokerSettings(cluster="east", broker="broker-b", address="10.0.0.7:10911")
    broker = Broker(settings, origin=Origin.AGENT_REPORT)
    broker.start(0)
    broker.handle(Opened(channel=1, address="10.0.0.1:5000"), 0)

    (state, *_) = broker.handle(Received(channel=1, request=BEAT), 0)

    assert isinstance(state, State)
    source = state.fact.source  # type: ignore[attr-defined]  # every fact has one
    assert (source.origin, source.cluster, source.broker) == (Origin.AGENT_REPORT, "east", "broker-b")


def test_language_and_version_are_those_of_the_headers() -> None:
    broker = opened()

    broker.introduce(1, Language.GO, 441)
    broker.handle(Received(channel=1, request=BEAT), 0)

    member = broker.registry.find_member("g", 1)
    assert member is not None and (member.peer.language, member.peer.version) == (Language.GO, 441)


def test_it_knows_what_is_its_own() -> None:
    broker = opened()

    assert broker.knows(BEAT) and broker.knows(GetConsumerListByGroup(consumer_group="g"))
    assert not broker.knows(GetMaxOffset(topic="orders", queue_id=0))
    with pytest.raises(TypeError, match="GetMaxOffset"):
        broker.handle(Received(channel=1, request=GetMaxOffset(topic="orders", queue_id=0)), 0)


def test_what_cannot_have_happened_is_an_error() -> None:
    broker = opened()
    broker.handle(Received(channel=1, request=BEAT), 1_000)

    with pytest.raises(ValueError, match="does not go back"):
        broker.handle(Received(channel=1, request=BEAT), 999)
    with pytest.raises(ValueError, match="channel 2, which is not open"):
        broker.handle(Received(channel=2, request=BEAT), 1_000)
    with pytest.raises(ValueError, match="channel 2, which is not open"):
        broker.handle(Closed(channel=2), 1_000)
    with pytest.raises(ValueError, match="woken for 'tea'"):
        broker.handle(Woken(timer="tea"), 1_000)
    with pytest.raises(TypeError, match="asks nothing"):
        broker.handle(Answered(token=1, response=Response()), 1_000)


def test_where_the_first_message_is_is_asked_of_who_has_them() -> None:
    broker = Broker(BrokerSettings(), queue_start=lambda _, queue_id: list(QueueStart)[queue_id])
    broker.start(0)
    broker.handle(Opened(channel=1, address="10.0.0.1:5000"), 0)

    def ask(queue_id: int) -> Response:
        query = QueryConsumerOffset(consumer_group="g", topic="orders", queue_id=queue_id)
        return response(broker.handle(Received(channel=1, request=query, token=1), 0))

    answers = [ask(queue_id) for queue_id in range(len(QueueStart))]
    assert [answer.code for answer in answers] == [22, 0, 22, 22]
    assert answers[1] == OffsetResponse(offset=0)


def test_a_group_with_an_illegal_name_is_refused_where_that_is_checked() -> None:
    request = UpdateAndCreateSubscriptionGroup(body=SubscriptionGroupConfig(group_name="bad!"))

    def code(version: str) -> int:
        return response(opened(version).handle(Received(channel=1, request=request, token=1), 0)).code

    assert [code("5.5.0"), code("4.9.7")] == [29, 0]


def test_to_ask_whether_a_topic_is_forbidden_changes_nothing() -> None:
    broker = opened()
    ask = UpdateAndGetGroupForbidden(group="g", topic="orders")
    forbid = UpdateAndGetGroupForbidden(group="g", topic="orders", readable=False)

    readable = []
    for request in (ask, forbid, ask):
        body = response(broker.handle(Received(channel=1, request=request, token=1), 0)).body  # type: ignore[attr-defined]
        readable.append(body.readable)

    assert readable == [True, False, False]


def test_a_pull_stores_the_offset_that_it_says_it_carries() -> None:
    broker = opened()
    broker.commit_with_pull(1, pull(commit_offset=7), 0)
    assert broker.offsets.find("g", "orders", 0) is None

    broker.commit_with_pull(1, pull(commit_offset=7, sys_flag=1), 0)

    assert broker.offsets.find("g", "orders", 0) == 7


def test_how_far_was_pulled_is_kept_apart_from_how_far_the_group_is() -> None:
    broker = opened()

    broker.note_pulled(pull(), 9)

    assert broker.offsets.find("g", "orders", 0) is None
    assert broker.offsets.find_pulled("g", "orders", 0) == 9


def test_groups_topics_and_offsets_survive_a_restart_and_members_do_not() -> None:
    broker = opened()
    broker.put_topic(TopicConfig(topic_name="orders"))
    broker.handle(Received(channel=1, request=BEAT), 0)
    broker.offsets.commit("g", "orders", 0, 7)

    again = Broker(BrokerSettings(), memory=broker.memory())

    assert again.groups.all() == broker.groups.all()
    assert again.topics.all() == broker.topics.all()
    assert again.offsets.find("g", "orders", 0) == 7
    assert again.registry.groups() == ()
    assert again.memory() == broker.memory() != Memory()


def test_check_finds_what_any_table_broke() -> None:
    broker = opened()
    broker.handle(Received(channel=1, request=BEAT), 0)
    broker.check()

    del broker.channels[1]

    with pytest.raises(AssertionError, match="closed"):
        broker.check()
