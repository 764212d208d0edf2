import pytest

from rebalance_engine.effects import Cancel, State, WakeAt
from rebalance_engine.events import (
    BrokerBackedOff,
    BrokerBackoffEnded,
    BrokerLatency,
    BrokerReachable,
    BrokerUnreachable,
    SendOutcome,
)
from rebalance_engine.model import MessageQueue
from rebalance_engine.producer import CPP, GO, Message, Mode, Outcome, Profile, Why, java
from rebalance_engine.producer.desk import Desk
from rebalance_engine.producer.latency import Lesson
from rebalance_engine.producer.publish_info import PublishInfo
from rebalance_engine.producer.send_loop import Call
from rebalance_engine.remoting.requests.producing import SendBatchMessage, SendMessageV2
from tests.rebalance_engine.producer.luck import SOURCE, TOPIC, WrittenLuck, route, settings

EAST_1 = MessageQueue(TOPIC, "east", 1)


def desk(profile: Profile, *luck: int, brokers: tuple[str, ...] = ("east", "west"), **given: object) -> Desk:
    made = Desk(profile, settings(avoids_faults=True, **given), luck=WrittenLuck(*luck), source=SOURCE)
    made.book.accept(TOPIC, route(*brokers), at=0)
    return made


def known(of: Desk) -> PublishInfo:
    found = of.book.info(TOPIC)
    assert found is not None
    return found


def call(mode: Mode = Mode.SYNC) -> Call:
    return Call(number=0, message=Message(topic=TOPIC), mode=mode, thread="A", began_at=0, timeout_ms=3_000)


def test_an_isolation_is_a_fact_and_a_timer() -> None:
    given = desk(java("5.3.0"))
    given.at = 7

    given.learn("east", Lesson.BROKER_ERROR, 3)

    fact, timer, unreachable = given.out
    assert isinstance(fact, State) and isinstance(fact.fact, BrokerBackedOff)
    assert (fact.fact.at, fact.fact.backoff_ms, fact.fact.is_isolated, fact.fact.latency_ms) == (7, 10_000, True, 3)
    assert timer == WakeAt(at=10_007, timer=("backoff", "east"))
    assert isinstance(unreachable, State) and isinstance(unreachable.fact, BrokerUnreachable)


def test_a_back_off_that_is_cut_short_ends_and_its_timer_is_forgotten() -> None:
    given = desk(java("4.9.7"))
    given.learn("east", Lesson.BROKER_ERROR, 3)
    given.out.clear()

    given.learn("east", Lesson.RETURNED, 3)

    timer, fact = given.out
    assert timer == Cancel(timer=("backoff", "east"))
    assert isinstance(fact, State) and isinstance(fact.fact, BrokerBackoffEnded)


def test_a_back_off_ends_with_its_timer_unless_it_was_extended() -> None:
    given = desk(java("5.3.0"))
    given.learn("east", Lesson.BROKER_ERROR, 3)
    given.out.clear()

    given.at = 9_999
    given.backoff_over("east")
    assert given.out == []

    given.at = 10_000
    given.backoff_over("east")
    assert [type(effect.fact) for effect in given.out if isinstance(effect, State)] == [BrokerBackoffEnded]


def test_a_broker_that_answers_again_is_a_fact() -> None:
    given = desk(java("5.3.0"))
    given.learn("east", Lesson.BROKER_ERROR, 3)
    given.out.clear()

    given.learn("east", Lesson.RETURNED, 3)

    assert [type(effect.fact) for effect in given.out if isinstance(effect, State)] == [BrokerReachable]


@pytest.mark.parametrize("profile", [CPP, GO], ids=str)
def test_cpp_and_go_keep_no_fault_table(profile: Profile) -> None:
    given = desk(profile)

    given.learn("east", Lesson.BROKER_ERROR, 3)

    assert given.out == [] and len(given.faults) == 0


def test_switched_off_nothing_is_learned() -> None:
    given = Desk(java("5.3.0"), settings(), luck=WrittenLuck(), source=SOURCE)

    given.learn("east", Lesson.BROKER_ERROR, 3)

    assert given.out == [] and len(given.faults) == 0


def test_each_attempt_states_its_latency() -> None:
    given, under_way = desk(java("5.3.0")), call()
    under_way.begin(EAST_1, "east", 0)
    given.at = 12

    given.conclude(under_way, Outcome(kind=SendOutcome.BROKER_ERROR, code=2))

    (effect,) = given.out
    assert isinstance(effect, State) and isinstance(effect.fact, BrokerLatency)
    fact = effect.fact
    assert (fact.at, fact.latency_ms, fact.outcome, fact.queue) == (0, 12, SendOutcome.BROKER_ERROR, EAST_1)
    assert (fact.client, fact.broker, fact.source) == ("A", "east", SOURCE)


def test_a_one_way_request_has_no_latency_that_anybody_could_know() -> None:
    given, under_way = desk(java("5.3.0")), call(Mode.ONEWAY)
    under_way.begin(EAST_1, "east", 0)

    given.conclude(under_way, Outcome(kind=SendOutcome.OK))

    assert given.out == []


def test_a_broker_that_is_not_in_the_topic_is_forgotten_with_its_back_off() -> None:
    given = desk(java("4.9.7"), brokers=("east",))
    given.learn("east", Lesson.BROKER_ERROR, 3)
    given.learn("other", Lesson.BROKER_ERROR, 1)
    given.out.clear()

    choice = given.choose(known(given), "A", None, is_retry=False)

    assert choice.forgot == "other" and given.faults.item("other") is None
    assert [type(effect.fact) for effect in given.out if isinstance(effect, State)] == [BrokerBackoffEnded]


@pytest.mark.parametrize("profile", [java("4.9.7"), java("5.3.0"), CPP, GO], ids=str)
def test_a_preview_is_what_will_be_chosen_and_changes_nothing(profile: Profile) -> None:
    given = desk(profile, 5)
    info = known(given)
    for broker in ("east", "west"):
        given.learn(broker, Lesson.REMOTING_ERROR, 1)
    before = list(info.queues)

    previews = [given.preview(info, "A", None, is_retry=False) for _ in range(2)]

    assert info.queues == before
    if profile is CPP:
        chosen = given.choose_cpp(info, "A", None, info.index.shared)
    else:
        chosen = given.choose(info, "A", None, is_retry=False)
    assert previews == [chosen, chosen]
    assert chosen.why is not Why.NOTHING


def test_the_vip_channel_is_two_ports_below() -> None:
    assert desk(java("5.3.0"), uses_vip_channel=True).address_of("east") == "east:10909"
    assert desk(java("5.3.0")).address_of("east") == "east:10911"
    assert desk(java("5.3.0")).address_of("south") is None


def test_a_request_carries_what_the_settings_and_the_version_say() -> None:
    message = Message(topic=TOPIC, body=b"x", properties="KEYS\x01k\x02", sys_flag=1, flag=2)

    new, old = (desk(java(version)).request(message, EAST_1, "east") for version in ("5.3.0", "4.9.7"))

    assert new == SendMessageV2(
        producer_group="p_orders",
        topic=TOPIC,
        queue_id=1,
        sys_flag=1,
        born_timestamp=0,
        flag=2,
        properties="KEYS\x01k\x02",
        bname="east",
        body=b"x",
    )
    assert old.bname is None


def test_a_batch_has_a_request_of_its_own() -> None:
    request = desk(java("5.3.0")).request(Message(topic=TOPIC, is_batch=True), EAST_1, "east")

    assert isinstance(request, SendBatchMessage) and request.batch


def test_of_several_name_servers_luck_draws_the_first() -> None:
    given = Desk(java("5.3.0"), settings(name_servers=("a", "b", "c")), luck=WrittenLuck(5), source=SOURCE)

    assert given.name_server == 2
