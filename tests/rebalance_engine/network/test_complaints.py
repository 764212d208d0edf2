import logging
import time
from dataclasses import replace

import pytest

from rebalance_engine.effects import Failure
from rebalance_engine.model import MessageQueue
from rebalance_engine.network.complaints import FAIR_MS, MOST, MOST_IN_A_ROW, Complaints
from rebalance_engine.network.link import NoAnswer
from rebalance_engine.remoting.codes import ResponseCode
from rebalance_engine.remoting.errors import BrokenContent, BrokenMessage
from rebalance_engine.remoting.messages import StoredMessage
from rebalance_engine.remoting.requests.consuming import PullMessage, PullMessageResponse
from rebalance_engine.remoting.requests.contract import Refused, Response
from rebalance_engine.remoting.requests.membership import GetConsumerListByGroup
from rebalance_engine.remoting.requests.nameserver import GetRouteInfoByTopic
from tests.rebalance_engine.network.delivered import deliver

EAST = "10.0.0.1:10911"
ROUTE = GetRouteInfoByTopic(topic="orders")
LIST = GetConsumerListByGroup(consumer_group="G")


@pytest.fixture(autouse=True)
def hears_all(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO)


def gone(detail: str = "connection refused") -> NoAnswer:
    return NoAnswer(Failure.NOT_CONNECTED, EAST, detail)


def refused(code: int, remark: str = "no") -> Refused:
    return Refused(code=code, remark=remark)


def test_who_does_not_answer_is_named_once_and_again_when_he_does(caplog: pytest.LogCaptureFixture) -> None:
    complaints = Complaints("consumer", time.monotonic)
    for _ in range(2):
        complaints.unanswered(gone())
        complaints.unanswered(gone("another word"))
        assert complaints.now == (f"{EAST} does not answer: connection refused",)
        complaints.answered(EAST, LIST, Response())
        complaints.answered(EAST, LIST, Response())

    said = [f"consumer: {EAST} does not answer: connection refused", f"consumer: {EAST} answers again"]
    assert (caplog.messages, complaints.now) == (said * 2, ())
    assert [record.levelname for record in caplog.records] == ["WARNING", "INFO"] * 2


def test_who_had_hardly_any_time_is_not_accused_of_silence() -> None:
    complaints = Complaints("producer", time.monotonic)
    late = NoAnswer(Failure.TIMEOUT, EAST)
    for too_short in (0, 1, FAIR_MS - 1):
        complaints.unanswered(late, too_short)
        complaints.unanswered(gone("still trying after 0 s"), too_short)
        assert complaints.now == ()

    complaints.unanswered(late, FAIR_MS)
    assert complaints.now == (f"{EAST} does not answer: no answer in time",)


def test_a_topic_that_is_not_there_is_named_and_those_that_need_not_be_are_not(
    caplog: pytest.LogCaptureFixture,
) -> None:
    complaints = Complaints("consumer", time.monotonic)
    no = refused(ResponseCode.TOPIC_NOT_EXIST)
    for topic in ("orders", "orders", "%RETRY%G", "TBW102"):
        complaints.answered(EAST, GetRouteInfoByTopic(topic=topic), no)
    complaints.answered(EAST, GetRouteInfoByTopic(topic="bills"), Response())
    complaints.answered(EAST, ROUTE, Response())

    assert caplog.messages == [
        f"consumer: there is no topic 'orders', says {EAST}; it is looked for again",
        "consumer: topic 'orders' is there now",
    ]


def test_a_refusal_is_over_once_all_that_was_refused_of_the_topic_is_taken(caplog: pytest.LogCaptureFixture) -> None:
    complaints = Complaints("consumer", time.monotonic)
    no = refused(ResponseCode.NO_PERMISSION, "the signature is wrong")
    complaints.answered(EAST, pull(0), no)
    complaints.answered(EAST, pull(1), no)
    complaints.answered(EAST, pull(0), NO_NEWS)
    assert len(complaints.now) == 1
    complaints.answered(EAST, pull(0), no)
    complaints.answered(EAST, pull(0), NO_NEWS)
    complaints.answered(EAST, pull(1), NO_NEWS)

    assert caplog.messages == [
        f"consumer: {EAST} refuses PullMessage of topic 'orders': the signature is wrong",
        f"consumer: {EAST} accepts again what it refused of topic 'orders'",
    ]


def test_each_topic_that_a_broker_refuses_is_named_and_taken_back_by_itself(caplog: pytest.LogCaptureFixture) -> None:
    complaints = Complaints("consumer", time.monotonic)
    complaints.answered(EAST, LIST, refused(ResponseCode.NO_PERMISSION, "G is denied"))
    for topic in ("orders", "bills"):
        complaints.answered(EAST, pull(0, topic=topic), refused(ResponseCode.NO_PERMISSION, f"{topic} is denied"))
    assert len(complaints.now) == 3
    complaints.answered(EAST, pull(0), NO_NEWS)

    assert len(complaints.now) == 2
    assert caplog.messages == [
        f"consumer: {EAST} refuses GetConsumerListByGroup: G is denied",
        f"consumer: {EAST} refuses PullMessage of topic 'orders': orders is denied",
        f"consumer: {EAST} refuses PullMessage of topic 'bills': bills is denied",
        f"consumer: {EAST} accepts again what it refused of topic 'orders'",
    ]


def test_what_a_broker_still_refuses_of_a_topic_stands_in_its_own_words() -> None:
    complaints = Complaints("consumer", time.monotonic)
    complaints.answered(EAST, pull(0), refused(ResponseCode.NO_PERMISSION, "not the first"))
    complaints.answered(EAST, pull(1), refused(ResponseCode.NO_PERMISSION, "not the second"))
    complaints.answered(EAST, pull(0), NO_NEWS)

    assert complaints.now == (f"{EAST} refuses PullMessage of topic 'orders': not the second",)


def test_nothing_is_wrong_with_a_topic_that_is_given_up_until_it_is_wanted_again() -> None:
    complaints = Complaints("consumer", time.monotonic)
    told: list[str] = []
    complaints.on_given_up = told.append
    missing, no = refused(ResponseCode.TOPIC_NOT_EXIST), refused(ResponseCode.NO_PERMISSION)

    def all_goes_wrong() -> None:
        refuse_pulls(complaints, 0, MOST_IN_A_ROW + 1)
        complaints.answered(EAST, pull(1), no)
        complaints.answered(EAST, ROUTE, missing)

    all_goes_wrong()
    assert len(complaints.now) == 3
    complaints.give_up("orders")
    assert not complaints.now
    assert told == ["orders"]
    all_goes_wrong()  # answers that were under way
    assert not complaints.now
    complaints.want("orders")
    all_goes_wrong()
    assert len(complaints.now) == 3


def test_what_is_wrong_with_others_stays_when_a_topic_is_given_up() -> None:
    complaints = Complaints("consumer", time.monotonic)
    no = refused(ResponseCode.NO_PERMISSION)
    complaints.answered(EAST, pull(1), no)
    complaints.answered(EAST, LIST, no)
    complaints.give_up("orders")

    assert len(complaints.now) == 1


def test_a_topic_that_is_allowed_says_nothing_of_one_that_is_refused_by_the_same_broker(
    caplog: pytest.LogCaptureFixture,
) -> None:
    complaints = Complaints("consumer", time.monotonic)
    for _ in range(3):
        complaints.answered(EAST, pull(0), refused(ResponseCode.NO_PERMISSION, "orders is denied"))
        complaints.answered(EAST, pull(0, topic="bills"), NO_NEWS)
    complaints.give_up("bills")

    assert complaints.now == (f"{EAST} refuses PullMessage of topic 'orders': orders is denied",)
    assert caplog.messages == [f"consumer: {EAST} refuses PullMessage of topic 'orders': orders is denied"]


def test_the_trouble_of_one_topic_stays_when_another_refused_one_is_given_up() -> None:
    complaints = Complaints("consumer", time.monotonic)
    for topic in ("orders", "bills"):
        complaints.answered(EAST, pull(0, topic=topic), refused(ResponseCode.NO_PERMISSION, f"{topic} is denied"))
    complaints.give_up("orders")

    assert complaints.now == (f"{EAST} refuses PullMessage of topic 'bills': bills is denied",)
    complaints.give_up("bills")
    assert not complaints.now


def test_of_all_that_was_ever_given_up_the_last_is_kept() -> None:
    complaints = Complaints("consumer", time.monotonic)
    for number in range(MOST + 1):
        complaints.give_up(f"t{number}")

    assert [complaints.has_given_up(topic) for topic in ("t0", "t1", f"t{MOST}")] == [False, True, True]


@pytest.mark.parametrize(
    ("code", "remark", "is_trouble"),
    [
        (ResponseCode.SUBSCRIPTION_GROUP_NOT_EXIST, "", True),
        (ResponseCode.SYSTEM_ERROR, "org.apache.rocketmq.acl.common.AclException: [accountName:x] unknown", True),
        (ResponseCode.SYSTEM_ERROR, "no consumer for this group", False),
        (ResponseCode.QUERY_NOT_FOUND, "", False),
    ],
)
def test_what_belongs_to_every_day_is_no_trouble(code: int, remark: str, is_trouble: bool) -> None:
    complaints = Complaints("consumer", time.monotonic)
    complaints.answered(EAST, LIST, refused(code, remark))

    assert bool(complaints.now) is is_trouble


OLD = ResponseCode.SUBSCRIPTION_NOT_LATEST
NO_NEWS = PullMessageResponse(suggest_which_broker_id=0, next_begin_offset=0, min_offset=0, max_offset=0)


def pull(queue: int, broker: str = "broker-a", topic: str = "orders") -> PullMessage:
    return PullMessage(
        consumer_group="G",
        topic=topic,
        queue_id=queue,
        queue_offset=0,
        max_msg_nums=32,
        sys_flag=2,
        commit_offset=0,
        suspend_timeout_millis=15_000,
        sub_version=1,
        bname=broker,
    )


def refuse_pulls(complaints: Complaints, queue: int, times: int, code: int = OLD) -> None:
    for _ in range(times):
        complaints.answered(EAST, pull(queue), refused(code))


def test_pulls_that_are_refused_on_and_on_for_the_subscription_are_named_once_for_a_topic_of_a_broker(
    caplog: pytest.LogCaptureFixture,
) -> None:
    complaints = Complaints("consumer", time.monotonic)
    refuse_pulls(complaints, 0, MOST_IN_A_ROW)
    complaints.answered(EAST, pull(0), NO_NEWS)  # the row ends
    refuse_pulls(complaints, 0, MOST_IN_A_ROW)
    assert not complaints.now
    refuse_pulls(complaints, 0, 2)
    refuse_pulls(complaints, 1, MOST_IN_A_ROW + 1)
    assert len(complaints.now) == 1

    complaints.answered(EAST, pull(0), NO_NEWS)
    complaints.answered(EAST, pull(1, "broker-b"), NO_NEWS)
    assert len(complaints.now) == 1
    complaints.answered(EAST, pull(1), NO_NEWS)

    why = "it does not know the newest version of the subscription (code 25)"
    assert caplog.messages == [
        f"consumer: broker-a refuses pulls of topic 'orders', 4 in a row: {why}",
        "consumer: broker-a refuses no more pulls of topic 'orders'",
    ]
    assert not complaints.now


def test_refused_pulls_are_over_too_when_the_queue_is_dropped() -> None:
    complaints = Complaints("consumer", time.monotonic)
    complaints.dropped(MessageQueue("orders", "broker-a", 0))
    refuse_pulls(complaints, 0, 10, ResponseCode.SUBSCRIPTION_NOT_EXIST)
    assert "it does not know the subscription (code 24)" in complaints.now[0]

    complaints.dropped(MessageQueue("orders", "broker-a", 1))
    assert len(complaints.now) == 1
    complaints.dropped(MessageQueue("orders", "broker-a", 0))
    assert not complaints.now


def test_refused_queues_are_over_when_they_are_dropped_and_others_are_not(caplog: pytest.LogCaptureFixture) -> None:
    complaints = Complaints("consumer", time.monotonic)
    no = refused(ResponseCode.NO_PERMISSION)
    for queue in (0, 1):
        complaints.answered(EAST, pull(queue), no)
    complaints.answered(EAST, pull(0, topic="bills"), no)
    complaints.dropped(MessageQueue("orders", "broker-a", 0))
    assert len(complaints.now) == 2
    complaints.dropped(MessageQueue("orders", "broker-a", 1))

    assert len(complaints.now) == 1
    assert caplog.messages[-1] == f"consumer: {EAST} is not asked any more for orders/broker-a/1"


def test_pulls_that_are_refused_for_something_else_are_no_matter_of_the_subscription() -> None:
    complaints = Complaints("consumer", time.monotonic)
    refuse_pulls(complaints, 0, 10, ResponseCode.SYSTEM_BUSY)

    assert complaints.now == ()


def test_what_is_kept_is_bounded() -> None:
    complaints = Complaints("consumer", time.monotonic)
    for number in range(MOST + 5):
        complaints.unanswered(NoAnswer(Failure.TIMEOUT, f"h:{number}"))

    assert len(complaints.now) == MOST


def test_of_messages_that_cannot_be_read_each_is_logged_and_the_last_of_a_queue_listed(
    caplog: pytest.LogCaptureFixture,
) -> None:
    complaints = Complaints("consumer", time.monotonic)
    (stored,) = (each.content for each in deliver(5).messages)
    assert isinstance(stored, StoredMessage)
    for offset in (5, 6):
        complaints.unreadable(replace(stored, queue_offset=offset), BrokenMessage("no ZLIB"))
    complaints.unreadable(None, BrokenMessage("no magic"))

    words = "cannot be read, and is skipped: no"
    of = "the message at offset {} of orders/0 at 127.0.0.1"
    assert complaints.now == (f"{of.format(6)} {words} ZLIB", f"the rest of an answer {words} magic")
    assert caplog.messages == [
        f"consumer: {of.format(5)} {words} ZLIB",
        f"consumer: {of.format(6)} {words} ZLIB",
        f"consumer: the rest of an answer {words} magic",
    ]
    complaints.give_up("orders")
    assert len(complaints.now) == 1


def test_an_answer_that_cannot_be_read_is_a_trouble_until_one_can() -> None:
    complaints = Complaints("consumer", time.monotonic)
    complaints.garbled(EAST, ROUTE, BrokenContent("the route names too much"))
    words = "cannot be read: the route names too much"
    assert list(complaints.now) == [f"what {EAST} answers to GetRouteInfoByTopic of topic 'orders' {words}"]
    complaints.answered(EAST, ROUTE, Response())
    assert not complaints.now

    complaints.give_up("orders")
    complaints.garbled(EAST, ROUTE, BrokenContent("the route names too much"))
    assert not complaints.now
