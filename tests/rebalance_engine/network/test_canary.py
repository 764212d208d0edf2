from __future__ import annotations

from collections.abc import Sequence

import pytest

from rebalance_engine.effects import Failure
from rebalance_engine.events import EXACT, Exactness, SendOutcome
from rebalance_engine.network.admin import Admin
from rebalance_engine.network.budget import BROKER_LIMITS
from rebalance_engine.network.canary import TOPIC, Canary, Heard, Trouble
from rebalance_engine.network.link import NoAnswer
from rebalance_engine.remoting.codes import ResponseCode
from rebalance_engine.remoting.requests.changes import UpdateAndCreateTopic
from rebalance_engine.remoting.requests.contract import Refused, Request, Response
from rebalance_engine.remoting.requests.producing import SendMessage, SendMessageResponse
from tests.rebalance_engine.network.answers import Answer, Answering
from tests.rebalance_engine.network.virtual import run

EAST = "east:10911"
STORED = SendMessageResponse(msg_id="x", queue_id=0, queue_offset=0)
NO_TOPIC = Refused(code=ResponseCode.TOPIC_NOT_EXIST, remark="not there")


class Broker:
    """Gives answers to messages one after the other, and one to a topic that is made."""

    def __init__(self, *answers: Answer, made: Answer = None, takes_s: float = 0.004) -> None:
        self.answers, self.made = list(answers), made if made is not None else Response()
        self.calls = Answering(self._answer, takes_s)

    def _answer(self, _address: str, request: Request[Response]) -> Answer:
        return self.made if isinstance(request, UpdateAndCreateTopic) else self.answers.pop(0)

    def asked(self, kind: type) -> list[object]:
        return [request for _, request in self.calls.asked if isinstance(request, kind)]


async def send(broker: Broker, *, times: int = 1, may_create: bool = False) -> Sequence[Heard]:
    admin = Admin(broker.calls, "names:9876")
    try:
        canary = Canary(admin)
        return [await canary.send("east", EAST, may_create=may_create) for _ in range(times)]
    finally:
        await admin.close()


def test_what_it_waits_for_the_broker_is_its_latency() -> None:
    broker = Broker(STORED, takes_s=0.25)

    [heard] = run(send(broker))

    assert heard.trouble is None
    assert heard.latency is not None
    assert (heard.latency.latency_ms, heard.latency.outcome, heard.latency.exactness) == (250, SendOutcome.OK, EXACT)
    assert (heard.latency.client, heard.latency.broker) == ("evenkeel-canary", "east")


def test_what_it_waits_for_its_turn_is_no_part_of_it() -> None:
    burst = BROKER_LIMITS.together.burst
    heard = run(send(Broker(*[STORED] * (burst + 5)), times=burst + 5))

    assert {each.latency.latency_ms for each in heard if each.latency is not None} == {4}
    assert len(heard) == burst + 5


def test_it_never_lets_a_broker_make_the_topic_by_itself() -> None:
    broker = Broker(STORED)

    run(send(broker))

    [message] = broker.asked(SendMessage)
    assert isinstance(message, SendMessage)
    assert (message.topic, message.default_topic) == (TOPIC, TOPIC)


def test_a_topic_that_is_missing_and_may_not_be_made_is_said_to_be_missing() -> None:
    broker = Broker(NO_TOPIC)

    assert run(send(broker)) == [Heard(None, Trouble.NO_TOPIC)]
    assert broker.asked(UpdateAndCreateTopic) == []


def test_a_topic_that_may_be_made_is_made_with_one_queue_where_it_is_missing() -> None:
    broker = Broker(NO_TOPIC, STORED)

    [heard] = run(send(broker, may_create=True))

    assert heard.latency is not None
    [made] = broker.asked(UpdateAndCreateTopic)
    assert isinstance(made, UpdateAndCreateTopic)
    assert (made.topic, made.read_queue_nums, made.write_queue_nums) == (TOPIC, 1, 1)


def test_a_broker_that_does_not_let_it_make_the_topic_is_named() -> None:
    [heard] = run(send(Broker(NO_TOPIC, made=Refused(code=16, remark="no right")), may_create=True))

    assert (heard.latency, heard.trouble) == (None, Trouble.NOT_MADE)
    assert "no right" in heard.detail


def test_a_refusal_is_a_failure_with_its_latency() -> None:
    [heard] = run(send(Broker(Refused(code=2, remark="busy"))))

    assert (heard.trouble, heard.detail) == (Trouble.REFUSED, "code 2: busy")
    assert heard.latency is not None
    assert heard.latency.outcome is SendOutcome.BROKER_ERROR


def test_a_broker_that_stays_silent_takes_at_least_as_long_as_was_waited() -> None:
    [heard] = run(send(Broker(NoAnswer(Failure.TIMEOUT, EAST, "no answer in time"))))

    assert heard.trouble is Trouble.NO_ANSWER
    assert heard.latency is not None
    assert heard.latency.latency_ms >= 3_000
    assert heard.latency.exactness == Exactness.at_least(heard.latency.latency_ms)


@pytest.mark.parametrize("times", [2])
def test_one_that_cannot_be_reached_is_left_alone_then_and_nothing_is_said_of_its_latency(times: int) -> None:
    broker = Broker(NoAnswer(Failure.NOT_CONNECTED, EAST))

    first, then = run(send(broker, times=times))

    assert first.trouble is Trouble.NO_ANSWER
    assert first.latency is not None
    assert first.latency.outcome is SendOutcome.REMOTING_ERROR
    assert (then.latency, then.trouble) == (None, Trouble.NOT_ASKED)
    assert len(broker.calls.asked) == 1
