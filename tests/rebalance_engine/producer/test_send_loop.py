import pytest

from rebalance_engine.effects import Answered, Failure, Unanswered
from rebalance_engine.events import SendOutcome
from rebalance_engine.model import MessageQueue
from rebalance_engine.producer.send_loop import Call, Error, Message, Mode, Outcome, Sent, outcome_of, raised, sent
from rebalance_engine.producer.tasks import INTERRUPTED, Reply
from rebalance_engine.remoting.requests.contract import Refused, Response
from rebalance_engine.remoting.requests.producing import SendMessageResponse

EAST_1 = MessageQueue("orders", "east", 1)


def call() -> Call:
    message = Message(topic="orders", body=b"x")
    return Call(number=3, message=message, mode=Mode.SYNC, thread="A", began_at=10, timeout_ms=3_000)


def stored(code: int = 0, queue_id: int = 1) -> SendMessageResponse:
    return SendMessageResponse(code=code, msg_id="0", queue_id=queue_id, queue_offset=5)


@pytest.mark.parametrize(
    ("reply", "kind", "code"),
    [
        (Answered(token=1, response=stored()), SendOutcome.OK, 0),
        (Answered(token=1, response=stored(10)), SendOutcome.NOT_STORED, 10),
        (Answered(token=1, response=stored(11)), SendOutcome.NOT_STORED, 11),
        (Answered(token=1, response=stored(12)), SendOutcome.NOT_STORED, 12),
        (Answered(token=1, response=Refused(code=2, remark="busy")), SendOutcome.BROKER_ERROR, 2),
        (Answered(token=1, response=Response()), SendOutcome.REMOTING_ERROR, -1),
        (Unanswered(token=1, failure=Failure.TIMEOUT), SendOutcome.REMOTING_ERROR, -1),
        (INTERRUPTED, SendOutcome.INTERRUPTED, -1),
    ],
)
def test_a_reply_is_read(reply: Reply, kind: SendOutcome, code: int) -> None:
    outcome = outcome_of(reply)

    assert (outcome.kind, outcome.code) == (kind, code)
    assert outcome.is_stored == (kind in (SendOutcome.OK, SendOutcome.NOT_STORED))


def test_the_result_is_in_the_queue_that_the_broker_names() -> None:
    under_way = call()
    under_way.begin(EAST_1, "east", 12)
    outcome = outcome_of(Answered(token=1, response=stored(queue_id=7)))
    under_way.conclude(outcome, 15)

    assert sent(under_way, outcome) == Sent(queue=MessageQueue("orders", "east", 7), response=stored(queue_id=7))


@pytest.mark.parametrize(
    ("outcome", "error"),
    [
        (Outcome(kind=SendOutcome.CLIENT_ERROR), Error.CLIENT),
        (Outcome(kind=SendOutcome.REMOTING_ERROR), Error.REMOTING),
        (Outcome(kind=SendOutcome.REMOTING_ERROR, is_too_late=True), Error.TOO_MANY),
        (Outcome(kind=SendOutcome.BROKER_ERROR), Error.BROKER),
        (Outcome(kind=SendOutcome.INTERRUPTED), Error.INTERRUPTED),
    ],
)
def test_each_outcome_has_its_exception(outcome: Outcome, error: Error) -> None:
    assert raised(outcome).error is error


def test_a_story_tells_attempts_with_their_latencies() -> None:
    under_way = call()
    under_way.begin(EAST_1, "east", 12)
    under_way.conclude(Outcome(kind=SendOutcome.REMOTING_ERROR), 15)
    under_way.begin(EAST_1, "west", 16)

    story = under_way.story()

    assert [(attempt.broker, attempt.began_at, attempt.latency_ms) for attempt in story.attempts] == [
        ("east", 12, 3),
        ("west", 16, None),
    ]
    assert (story.number, story.topic, story.began_at, story.result) == (3, "orders", 10, None)
