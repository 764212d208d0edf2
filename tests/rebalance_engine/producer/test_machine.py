import pytest
from hypothesis import given
from hypothesis import strategies as st

from rebalance_engine.effects import Answered, Closed, Failure, Opened, Send, SendOneway, Unanswered, Woken
from rebalance_engine.model import MessageQueue
from rebalance_engine.producer import CPP, GO, Choice, Failed, Message, Mode, Producer, Profile, Sent, Why, java
from rebalance_engine.producer.selectors import Unselectable
from rebalance_engine.producer.send_loop import Error
from rebalance_engine.remoting.requests.nameserver import GetRouteInfoByTopic, GetRouteInfoByTopicResponse
from rebalance_engine.remoting.requests.producing import SendMessageResponse, SendMessageV2
from tests.rebalance_engine.producer.luck import SOURCE, TOPIC, WrittenLuck, route, settings
from tests.rebalance_engine.producer.world import World

ORDER = Message(topic=TOPIC, body=b"x")
STORED = SendMessageResponse(msg_id="0", queue_id=1, queue_offset=5)


def producer(profile: Profile = java("5.3.0"), **given: object) -> Producer:  # noqa: B008 - a frozen value
    return Producer(profile, settings(**given), luck=WrittenLuck(), source=SOURCE)


def asked(effects: tuple[object, ...]) -> Send:
    (send,) = [effect for effect in effects if isinstance(effect, Send)]
    return send


def knowing(made: Producer) -> Producer:
    """Let it learn the route of the topic by a one-way send."""
    lookup = asked(made.send(ORDER, 0, mode=Mode.ONEWAY).effects)
    made.handle(Answered(token=lookup.token, response=GetRouteInfoByTopicResponse(body=route("east", "west"))), 0)
    made.take_finished()
    return made


def test_a_send_asks_for_the_route_then_sends_then_ends() -> None:
    made = producer()
    number, effects = made.send(ORDER, 10)
    lookup = asked(effects)
    assert lookup == Send(
        to="names:9876",
        request=GetRouteInfoByTopic(topic=TOPIC, accept_standard_json_only=True),
        token=0,
        timeout_ms=3_000,
    )

    routes = GetRouteInfoByTopicResponse(body=route("east", "west"))
    send = asked(made.handle(Answered(token=0, response=routes), 15))
    assert (send.to, send.timeout_ms) == ("east:10911", 2_995)
    assert isinstance(send.request, SendMessageV2) and send.request.queue_id == 1
    assert made.story(number).result is None

    made.handle(Answered(token=send.token, response=STORED), 20)
    (story,) = made.take_finished()
    assert story.result == Sent(queue=MessageQueue(TOPIC, "east", 1), response=STORED)
    assert (story.began_at, story.ended_at) == (10, 20)
    made.check()
    assert made.take_finished() == ()


def test_a_late_answer_belongs_to_nobody() -> None:
    made = knowing(producer(retries=0))
    number, effects = made.send(ORDER, 0)
    token = asked(effects).token
    made.handle(Unanswered(token=token, failure=Failure.TIMEOUT), 3_000)

    assert made.handle(Answered(token=token, response=STORED), 3_001) == ()
    assert isinstance(made.story(number).result, Failed)


def test_what_is_not_for_a_producer_is_let_pass() -> None:
    made = producer()

    assert made.handle(Opened(channel=1, address="east:10911"), 0) == ()
    assert made.handle(Closed(channel=1), 0) == ()
    assert made.handle(Woken(timer="somebody else's"), 0) == ()
    assert made.handle(Woken(timer=("sleep", 99)), 0) == ()
    assert made.handle(Woken(timer=("lock", 99)), 0) == ()
    assert made.handle(Woken(timer=("backoff", "east")), 0) == ()


def test_time_does_not_run_backwards() -> None:
    made = producer()
    made.start(10)

    with pytest.raises(AssertionError, match="it is 9, and was 10"):
        made.send(ORDER, 9)


def test_an_interrupted_thread_gets_its_exception() -> None:
    made = knowing(producer())
    number, _ = made.send(ORDER, 0)

    made.interrupt(number, 7)

    result = made.story(number).result
    assert isinstance(result, Failed) and result.error is Error.INTERRUPTED
    assert made.story(number).attempts[0].latency_ms == 7
    made.check()


def test_an_interruption_reaches_nobody_who_does_not_wait_for_a_broker() -> None:
    made = producer()

    assert made.interrupt(5, 0) == ()


def test_two_threads_share_one_route_lock() -> None:
    made = producer()
    first = asked(made.send(ORDER, 0, thread="A").effects)

    _, effects = made.send(Message(topic="payments"), 1, thread="B")
    assert not any(isinstance(effect, Send) for effect in effects)

    after = made.handle(Answered(token=first.token, response=GetRouteInfoByTopicResponse(body=route("east"))), 2)
    requests = [effect.request for effect in after if isinstance(effect, Send)]
    assert [type(request) for request in requests] == [SendMessageV2, GetRouteInfoByTopic]
    made.check()


def test_a_one_way_send_asks_for_no_answer() -> None:
    made = knowing(producer())

    number, effects = made.send(ORDER, 0, mode=Mode.ONEWAY)

    assert any(isinstance(effect, SendOneway) for effect in effects)
    assert made.story(number).result is not None


@pytest.mark.parametrize("profile", [java("4.9.7"), java("5.3.0"), CPP, GO], ids=str)
def test_what_is_explained_is_what_is_then_done(profile: Profile) -> None:
    made = knowing(producer(profile, avoids_faults=True))

    explained = [made.explain(TOPIC, 0) for _ in range(3)]
    number, _ = made.send(ORDER, 0)

    assert explained == [made.story(number).attempts[0].choice] * 3


def test_nothing_can_be_said_of_an_unknown_topic() -> None:
    assert producer().explain("unknown", 0) == Choice(None, Why.NOTHING)


def test_a_broken_invariant_is_told_in_words() -> None:
    made = knowing(producer())
    info = made.desk.book.info(TOPIC)
    assert info is not None
    info.queues.pop()

    with pytest.raises(AssertionError, match="orders has 3 queues, its route 4"):
        made.check()


topics, threads = st.sampled_from(["orders", "news"]), st.sampled_from("AB")
moods = st.sampled_from(["down", "silent", "takes 1", "takes 700", "refuses 1", "refuses 13", "stores 10"])
verbs = st.one_of(
    st.builds("send {} thread={} mode={}".format, topics, threads, st.sampled_from([mode.value for mode in Mode])),
    st.builds("begin {} thread={} mode={}".format, topics, threads, st.sampled_from(["sync", "async"])),
    st.builds("broker {} {}".format, st.sampled_from(["east", "west", "names"]), moods),
    st.builds("route orders {}".format, st.sampled_from(["east:1 west:1", "east:3", "", "north:1 west:2"])),
    st.builds("wait {}".format, st.integers(0, 40_000)),
    st.builds("explain {}".format, topics),
)
clients = st.builds(
    "client {} {} {} luck={}".format,
    st.sampled_from(["java 4.2.0", "java 4.7.1", "java 4.9.7", "java 5.1.3", "java 5.1.4", "java 5.3.3", "cpp", "go"]),
    st.sampled_from(["", "avoids_faults", "avoids_faults detects"]),
    st.sampled_from(["", "retries_when_not_stored", "retries=0", "async_retries=1"]),
    st.integers(0, 2**32 - 1),
)


@given(clients, st.lists(verbs, max_size=25))
def test_whatever_happens_every_call_ends_and_every_invariant_holds(client: str, lines: list[str]) -> None:
    world = World()

    for line in [client, "start", "route TBW102 east:8", "route orders east:2 west:2", *lines, "wait 100000"]:
        world.do(line)  # which checks after every step

    assert world.producer is not None
    assert world.ended == world.begun


def test_a_selector_that_gives_no_queue_fails_its_own_call_only() -> None:
    def give_nothing(_: object) -> MessageQueue:
        raise Unselectable("it is Sunday")

    made = knowing(producer())
    made.send(ORDER, 0, to=give_nothing)
    (story,) = made.take_finished()

    assert isinstance(story.result, Failed)
    assert (story.result.error, story.attempts) == (Error.CLIENT, ())
    assert story.result.text == "select message queue threw exception: it is Sunday"
    made.check()


def test_calls_that_ended_are_given_once_in_the_order_of_their_numbers() -> None:
    made = knowing(producer())
    first, second = (made.send(ORDER, 0) for _ in range(2))
    for sending in (second, first):
        made.handle(Answered(token=asked(sending.effects).token, response=STORED), 1)

    assert [story.number for story in made.take_finished()] == [first.number, second.number]
    assert made.take_finished() == ()
