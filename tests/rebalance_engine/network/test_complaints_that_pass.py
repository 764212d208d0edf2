"""Troubles that end without an answer of who caused them: by age, and by routes."""

import logging
import time

import pytest

from rebalance_engine.effects import Failure
from rebalance_engine.network.complaints import MOST_PAST, PAST_AFTER_S, Complaints
from rebalance_engine.network.link import NoAnswer
from rebalance_engine.remoting.bodies.routes import PERM_READ, PERM_WRITE, BrokerData, QueueData, TopicRouteData
from rebalance_engine.remoting.codes import ResponseCode
from rebalance_engine.remoting.requests.contract import Response
from rebalance_engine.remoting.requests.nameserver import GetRouteInfoByTopic, GetRouteInfoByTopicResponse
from rebalance_engine.remoting.requests.producing import SendMessageV2
from tests.rebalance_engine.network.test_complaints import EAST, LIST, NO_NEWS, ROUTE, gone, pull, refused


@pytest.fixture(autouse=True)
def hears_all(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO)


def counts(complaints: Complaints) -> tuple[int, int]:
    return len(complaints.now), len(complaints.past)


def long_after(clock: list[float]) -> None:
    clock[0] += PAST_AFTER_S + 60


def test_a_refusal_that_nobody_meets_again_is_past(caplog: pytest.LogCaptureFixture) -> None:
    clock = [0.0]
    complaints = Complaints("producer", lambda: clock[0])
    complaints.answered(EAST, pull(0), refused(ResponseCode.NO_PERMISSION, "orders is denied"))
    clock[0] = PAST_AFTER_S
    assert complaints.now and not complaints.past

    long_after(clock)

    words = f"{EAST} refuses PullMessage of topic 'orders': orders is denied (21 min ago, and not tried since)"
    assert (complaints.now, complaints.past) == ((), (words,))
    assert caplog.messages[-1] == f"producer: {words}"


def test_what_is_met_again_and_again_is_never_past() -> None:
    clock = [0.0]
    complaints = Complaints("producer", lambda: clock[0])
    for _ in range(3):
        complaints.unanswered(gone())
        complaints.answered("names:9876", ROUTE, refused(ResponseCode.TOPIC_NOT_EXIST))
        complaints.answered("10.0.0.2:10911", pull(0), refused(ResponseCode.NO_PERMISSION))
        clock[0] += PAST_AFTER_S - 1

        assert (len(complaints.now), complaints.past) == (3, ())


def test_of_two_refusals_of_a_broker_the_one_that_is_met_still_stands_alone() -> None:
    clock = [0.0]
    complaints = Complaints("producer", lambda: clock[0])
    for topic in ("orders", "bills"):
        complaints.answered(EAST, pull(0, topic=topic), refused(ResponseCode.NO_PERMISSION, f"{topic} is denied"))
    long_after(clock)
    complaints.answered(EAST, pull(0, topic="bills"), refused(ResponseCode.NO_PERMISSION, "bills is denied"))

    assert complaints.now == (f"{EAST} refuses PullMessage of topic 'bills': bills is denied",)
    assert complaints.past == (
        f"{EAST} refuses PullMessage of topic 'orders': orders is denied (11 min ago, and not tried since)",
    )


def test_what_was_past_is_over_once_it_works_and_wrong_once_it_is_met_again() -> None:
    clock = [0.0]
    complaints = Complaints("producer", lambda: clock[0])

    def all_goes_wrong() -> None:
        complaints.unanswered(gone())
        complaints.answered("10.0.0.2:10911", pull(0), refused(ResponseCode.NO_PERMISSION))

    all_goes_wrong()
    long_after(clock)
    assert counts(complaints) == (0, 2)
    all_goes_wrong()
    assert counts(complaints) == (2, 0)
    long_after(clock)
    complaints.answered(EAST, LIST, Response())
    complaints.answered("10.0.0.2:10911", pull(0), NO_NEWS)
    assert counts(complaints) == (0, 0)


def test_a_topic_that_is_given_up_has_no_past() -> None:
    clock = [0.0]
    complaints = Complaints("producer", lambda: clock[0])
    complaints.answered(EAST, pull(0), refused(ResponseCode.NO_PERMISSION))
    complaints.answered(EAST, ROUTE, refused(ResponseCode.TOPIC_NOT_EXIST))
    long_after(clock)
    assert counts(complaints) == (0, 2)
    complaints.give_up("orders")

    assert counts(complaints) == (0, 0)


def test_what_is_said_to_last_lasts_until_it_is_taken_back() -> None:
    clock = [0.0]
    complaints = Complaints("consumer", lambda: clock[0])
    complaints.say("report", "facts wait")
    long_after(clock)
    assert (complaints.now, complaints.past) == (("facts wait",), ())

    complaints.take_back("report", "no more")
    assert (complaints.now, complaints.past) == ((), ())


def test_of_the_past_the_latest_is_kept() -> None:
    clock = [0.0]
    complaints = Complaints("consumer", lambda: clock[0])
    for number in range(MOST_PAST + 1):
        complaints.unanswered(NoAnswer(Failure.TIMEOUT, f"h:{number}"))
    long_after(clock)

    assert len(complaints.past) == MOST_PAST
    assert complaints.past[0].startswith("h:1 ")


# ---- what routes say ----


def route(*brokers: str, perm: int = PERM_READ | PERM_WRITE) -> GetRouteInfoByTopicResponse:
    rows = [QueueData(broker_name=name, read_queue_nums=1, write_queue_nums=1, perm=perm) for name in brokers]
    datas = [BrokerData(broker_name=name, broker_addrs={0: f"{name}:10911"}) for name in brokers]
    return GetRouteInfoByTopicResponse(body=TopicRouteData(queue_datas=tuple(rows), broker_datas=tuple(datas)))


def send(topic: str = "orders") -> SendMessageV2:
    return SendMessageV2(
        producer_group="P",
        topic=topic,
        default_topic="TBW102",
        default_topic_queue_nums=4,
        queue_id=0,
        sys_flag=0,
        born_timestamp=0,
        flag=0,
        bname="east",
        body=b"x",
    )


def test_who_is_in_no_route_any_more_needs_not_answer(caplog: pytest.LogCaptureFixture) -> None:
    complaints = Complaints("producer", time.monotonic)
    for topic in ("orders", "bills"):
        complaints.answered("names:9876", GetRouteInfoByTopic(topic=topic), route("east", "west"))
    for _ in range(2):
        complaints.unanswered(NoAnswer(Failure.TIMEOUT, "west:10911"))
        complaints.unanswered(NoAnswer(Failure.TIMEOUT, "names:9877"))
        complaints.answered("names:9876", ROUTE, route("east"))
        assert len(complaints.now) == 2  # bills are there yet
    complaints.answered("names:9876", GetRouteInfoByTopic(topic="bills"), route("east"))
    complaints.unanswered(NoAnswer(Failure.TIMEOUT, "west:10911"))  # what was under way

    assert complaints.now == ("names:9877 does not answer: no answer in time",)
    assert caplog.messages[-1] == "producer: no route names west:10911 any more"
    complaints.answered("names:9876", ROUTE, route("east", "west"))
    complaints.unanswered(NoAnswer(Failure.TIMEOUT, "west:10911"))
    assert len(complaints.now) == 2


def test_a_topic_that_is_given_up_takes_its_brokers_along() -> None:
    complaints = Complaints("consumer", time.monotonic)
    complaints.answered("names:9876", ROUTE, route("west"))
    complaints.unanswered(NoAnswer(Failure.TIMEOUT, "west:10911"))
    complaints.give_up("orders")

    assert complaints.now == ()


def test_a_refused_send_is_over_once_the_route_sends_nothing_there_any_more(caplog: pytest.LogCaptureFixture) -> None:
    complaints = Complaints("producer", time.monotonic)
    for topic in ("orders", "bills"):
        complaints.answered("east:10911", send(topic), refused(ResponseCode.NO_PERMISSION))
    complaints.answered("names:9876", ROUTE, route("east", "west"))
    assert len(complaints.now) == 2
    complaints.answered("names:9876", ROUTE, route("east", "west", perm=PERM_READ))

    assert len(complaints.now) == 1
    assert caplog.messages[-1] == "producer: messages of topic 'orders' are not sent to east:10911 any more"


def test_pulls_that_are_refused_stay_so_whatever_producers_may_do() -> None:
    complaints = Complaints("consumer", time.monotonic)
    complaints.answered("east:10911", pull(0), refused(ResponseCode.NO_PERMISSION))
    complaints.answered("names:9876", ROUTE, route("east", perm=PERM_READ))

    assert len(complaints.now) == 1
