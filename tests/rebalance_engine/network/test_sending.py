import pytest

from rebalance_engine import producer
from rebalance_engine.effects import Failure
from rebalance_engine.events import SendOutcome
from rebalance_engine.model import MessageQueue
from rebalance_engine.network.outgoing import Parcel
from rebalance_engine.network.sending import SendFailed, SendStatus, result_of
from rebalance_engine.producer import Attempt, Failed, Mode, Outcome, Sent, Story
from rebalance_engine.producer.send_loop import Error, Result
from rebalance_engine.remoting.codes import ResponseCode
from rebalance_engine.remoting.requests.producing import SendMessageResponse

QUEUE = MessageQueue("orders", "east", 1)
PARCEL = Parcel(producer.Message(topic="orders"), ("ID1", "ID2"))


def story(result: Result, *attempts: Attempt) -> Story:
    return Story(
        number=1, topic="orders", mode=Mode.SYNC, thread="main", began_at=100, ended_at=130, attempts=attempts,
        result=result,
    )  # fmt: skip


@pytest.mark.parametrize(
    ("code", "status"),
    [
        (ResponseCode.SUCCESS, SendStatus.OK),
        (ResponseCode.FLUSH_DISK_TIMEOUT, SendStatus.FLUSH_DISK_TIMEOUT),
        (ResponseCode.FLUSH_SLAVE_TIMEOUT, SendStatus.FLUSH_SLAVE_TIMEOUT),
        (ResponseCode.SLAVE_NOT_AVAILABLE, SendStatus.SLAVE_NOT_AVAILABLE),
    ],
)
def test_a_result_says_where_the_message_is_and_how_safely(code: ResponseCode, status: SendStatus) -> None:
    response = SendMessageResponse(code=code, msg_id="AT", queue_id=1, queue_offset=9)
    result = result_of(PARCEL, story(Sent(queue=QUEUE, response=response)))

    assert (result.queue, result.offset, result.status, result.latency_ms) == (QUEUE, 9, status, 30)
    assert (result.message_id, result.message_ids, result.offset_message_id) == ("ID1", ("ID1", "ID2"), "AT")


def test_a_failure_tells_every_attempt() -> None:
    silent = Outcome(kind=SendOutcome.REMOTING_ERROR, failure=Failure.TIMEOUT, text="no answer in time")
    busy = Outcome(kind=SendOutcome.BROKER_ERROR, code=2, text="[TIMEOUT_CLEAN_QUEUE]")
    attempts = (
        Attempt(queue=QUEUE, broker="east", began_at=100, latency_ms=20, outcome=silent),
        Attempt(queue=QUEUE._replace(broker="west"), broker="west", began_at=120, latency_ms=10, outcome=busy),
    )

    with pytest.raises(SendFailed) as failed:
        result_of(PARCEL, story(Failed(error=Error.BROKER, text="busy", code=2), *attempts))

    assert str(failed.value) == (
        "the message to 'orders' was not sent: MQBrokerException, code 2: busy. "
        "Tried: 1. east/1 for 20 ms: no answer in time; 2. west/1 for 10 ms: [TIMEOUT_CLEAN_QUEUE]"
    )
    assert failed.value.story.attempts == attempts


def test_what_every_broker_says_is_told_once() -> None:
    words = "org.apache.rocketmq.acl.common.AclException: No accessKey is configured"
    refused = Outcome(kind=SendOutcome.BROKER_ERROR, code=1, text=words)
    attempts = [
        Attempt(queue=QUEUE, broker=broker, began_at=100, latency_ms=20, outcome=refused) for broker in ("east", "west")
    ]

    told = []
    for text in (words, "Send [2] times, still failed"):
        with pytest.raises(SendFailed) as failed:
            result_of(PARCEL, story(Failed(error=Error.BROKER, text=text, code=1), *attempts))
        told.append(str(failed.value))

    assert [one.count(words) for one in told] == [1, 1]
    assert told[0].endswith("Tried: 1. east/1 for 20 ms: as said; 2. west/1 for 20 ms: the same")
    assert told[1].endswith(f"Tried: 1. east/1 for 20 ms: {words}; 2. west/1 for 20 ms: the same")


def test_the_same_is_what_the_attempt_before_said_and_nothing_that_only_stands_somewhere() -> None:
    said = ["busy: start flow control", "no answer in time", "busy: start flow control", "busy"]
    attempts = [
        Attempt(
            queue=QUEUE,
            broker="east",
            began_at=100,
            latency_ms=1,
            outcome=Outcome(kind=SendOutcome.BROKER_ERROR, text=text),
        )
        for text in said
    ]
    with pytest.raises(SendFailed) as failed:
        result_of(PARCEL, story(Failed(error=Error.CLIENT, text="Send [4] times, no answer in time"), *attempts))

    told = [one.rpartition(" ms: ")[2] for one in str(failed.value).split("; ")]
    assert told == ["busy: start flow control", "no answer in time", "as 1", "busy"]


def test_a_call_that_tried_nothing_says_so() -> None:
    with pytest.raises(SendFailed, match=r"ClientException: no route\. Tried: nothing"):
        result_of(PARCEL, story(Failed(error=Error.CLIENT, text="no route")))
