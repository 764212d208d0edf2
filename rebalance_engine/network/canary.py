"""A canary: one small message to a broker, to a topic of its own, to estimate how long producers wait for that broker.

It is no producer: it sends no heartbeat, so that no broker lists it, and nobody is meant to read what it sends. It
never lets a broker make its topic by itself, as a stock producer's message does where ``autoCreateTopicEnable`` is on:
the default topic that it names is its own, which a broker that lacks it cannot copy (``TopicConfigManager.java``,
``createTopicInSendMessageMethod``).

It keeps to the budget of whoever asks the cluster besides, and what it waits for its turn is no part of the latency.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from enum import Enum

from rebalance_engine.effects import Address, Failure
from rebalance_engine.events import EXACT, BrokerLatency, Exactness, Origin, SendOutcome, Source
from rebalance_engine.model import MessageQueue
from rebalance_engine.network.admin import Admin, Denied
from rebalance_engine.network.clock import Clock
from rebalance_engine.network.link import NoAnswer
from rebalance_engine.network.outgoing import WAIT
from rebalance_engine.remoting.bodies.settings import TopicConfig
from rebalance_engine.remoting.codes import ResponseCode
from rebalance_engine.remoting.errors import RemotingError
from rebalance_engine.remoting.properties import encode_properties
from rebalance_engine.remoting.requests.contract import Refused
from rebalance_engine.remoting.requests.producing import SendMessageResponse, SendMessageV2

CLIENT = "evenkeel-canary"
TOPIC = "EVENKEEL_CANARY"
PATIENCE_MS = 3_000  # ``DefaultMQProducer.sendMsgTimeout``: a stock producer gives up then
TURN_S = 2.0  # what it may wait for the budget besides
BODY = b"canary"


class Trouble(Enum):
    """Why nothing is known of a broker's latency, or why it is no good news."""

    NO_TOPIC = "no topic"  # the broker does not have it, and it may not be made
    NOT_MADE = "not made"  # the broker has it not, and refused to make it
    REFUSED = "refused"
    NO_ANSWER = "no answer"
    NOT_ASKED = "not asked"


@dataclass(frozen=True, slots=True)
class Heard:
    """What came of one message: its latency, where it reached the broker or should have, and what was in the way."""

    latency: BrokerLatency | None
    trouble: Trouble | None = None
    detail: str = ""


class Canary:
    """Sends to the brokers of one cluster."""

    def __init__(self, admin: Admin) -> None:
        self._admin = admin

    async def send(self, broker: str, address: Address, *, may_create: bool) -> Heard:
        """Send one message to a broker's first queue; whatever becomes of it is an answer.

        Args:
            may_create: whether the topic is made, with one queue, on a broker that does not have it.
        """
        heard = await self._try(broker, address)
        if heard.trouble is not Trouble.NO_TOPIC or not may_create:
            return heard
        config = TopicConfig(topic_name=TOPIC, read_queue_nums=1, write_queue_nums=1)
        try:
            await self._admin.put_topic(address, config)
        except (NoAnswer, Denied, RemotingError) as error:
            return Heard(None, Trouble.NOT_MADE, str(error))
        return await self._try(broker, address)

    async def _try(self, broker: str, address: Address) -> Heard:
        clock = Clock(asyncio.get_running_loop())
        left: list[int] = []  # when the message did
        try:
            answer = await self._admin.asker.ask(
                address,
                _message(clock.now()),
                timeout_s=TURN_S + PATIENCE_MS / 1_000,
                shared=False,
                leaves=lambda: left.append(clock.now()),
            )
        except (NoAnswer, RemotingError) as error:
            return _unanswered(_Flight(broker, address, left[0], clock.now()) if left else None, error)
        flight = _Flight(broker, address, left[0], clock.now())
        if isinstance(answer, SendMessageResponse):
            is_stored = answer.code == ResponseCode.SUCCESS
            return Heard(flight.latency(SendOutcome.OK if is_stored else SendOutcome.NOT_STORED))
        assert isinstance(answer, Refused)
        if answer.code == ResponseCode.TOPIC_NOT_EXIST:
            return Heard(None, Trouble.NO_TOPIC)
        said = f"code {answer.code}: {answer.remark or 'no remark'}"
        return Heard(flight.latency(SendOutcome.BROKER_ERROR), Trouble.REFUSED, said)


@dataclass(frozen=True, slots=True)
class _Flight:
    """One message: to whom, when it left, and when it was known what became of it."""

    broker: str
    address: Address
    left_at: int
    ended_at: int

    @property
    def took_ms(self) -> int:
        return self.ended_at - self.left_at

    def latency(self, outcome: SendOutcome, exactness: Exactness = EXACT) -> BrokerLatency:
        return BrokerLatency(
            at=self.left_at,
            source=Source(origin=Origin.ADMIN_ANSWER, broker=self.broker, address=self.address, detail=CLIENT),
            exactness=exactness,
            client=CLIENT,
            broker=self.broker,
            latency_ms=self.took_ms,
            outcome=outcome,
            queue=MessageQueue(TOPIC, self.broker, 0),
        )


def _unanswered(flight: _Flight | None, error: NoAnswer | RemotingError) -> Heard:
    """Tell of a message without an answer; one that was given less time than a stock producer has proves nothing."""
    is_late = isinstance(error, NoAnswer) and error.failure is Failure.TIMEOUT
    if flight is None or (is_late and flight.took_ms < PATIENCE_MS):
        return Heard(None, Trouble.NOT_ASKED, str(error))
    exactness = Exactness.at_least(flight.took_ms) if is_late else EXACT
    return Heard(flight.latency(SendOutcome.REMOTING_ERROR, exactness), Trouble.NO_ANSWER, str(error))


def _message(now: int) -> SendMessageV2:
    return SendMessageV2(
        producer_group=CLIENT,
        topic=TOPIC,
        default_topic=TOPIC,
        default_topic_queue_nums=1,
        queue_id=0,
        born_timestamp=now,
        properties=encode_properties({WAIT: "true"}),
        body=BODY,
    )
