"""The Java client's synchronous and one-way sends, and those to a queue that the application chose.

A synchronous call makes up to three attempts under one timeout. Each attempt may take all that is left of it: one
broker that does not answer in time uses it up, and nobody else is asked.

Source: ``client/.../impl/producer/DefaultMQProducerImpl.java`` (``sendDefaultImpl``, ``sendKernelImpl``,
``sendSelectImpl``, ``send(Message, MessageQueue)``).
"""

from __future__ import annotations

from dataclasses import dataclass, field

from rebalance_engine.effects import Failure
from rebalance_engine.events import SendOutcome
from rebalance_engine.model import MessageQueue
from rebalance_engine.producer.desk import Desk
from rebalance_engine.producer.latency import Lesson
from rebalance_engine.producer.lookup import LookupFailed, find
from rebalance_engine.producer.publish_info import PublishInfo
from rebalance_engine.producer.selection import Choice
from rebalance_engine.producer.send_loop import (
    Call,
    ClientErrorCode,
    Error,
    Failed,
    Mode,
    Outcome,
    Result,
    Sent,
    outcome_of,
    raised,
    sent,
)
from rebalance_engine.producer.tasks import Task, Transmit, TransmitOneway

LESSONS = {
    SendOutcome.OK: Lesson.RETURNED,
    SendOutcome.NOT_STORED: Lesson.RETURNED,
    SendOutcome.CLIENT_ERROR: Lesson.CLIENT_ERROR,
    SendOutcome.REMOTING_ERROR: Lesson.REMOTING_ERROR,
    SendOutcome.BROKER_ERROR: Lesson.BROKER_ERROR,
    SendOutcome.INTERRUPTED: Lesson.INTERRUPTED,
}
CALL_TIMEOUT = Failed(error=Error.TOO_MANY, text="sendDefaultImpl call timeout")


def send(desk: Desk, call: Call) -> Task[Result]:
    """Send to a queue of the client's choice, and wait for the answer, or not (ONEWAY).

    Raises:
        LookupFailed: see ``lookup.find``.
    """
    info = yield from find(desk, call.topic)
    if info is None or not info.has_queues:
        return no_route(desk, call, "No route info of this topic: ")
    return (yield from _Attempts(desk, call, info).run())


@dataclass(slots=True)
class _Attempts:
    """The loop of one call, and what it remembers from attempt to attempt.

    Attributes:
        stored: the result of an earlier attempt that was stored, though not as safely as wanted.
        last: what became of the latest attempt.
    """

    desk: Desk
    call: Call
    info: PublishInfo
    brokers: list[str | None] = field(default_factory=list)
    stored: Sent | None = None
    last: Outcome | None = None

    def run(self) -> Task[Result]:
        self.brokers = [None] * self._total()
        last_broker: str | None = None
        for number in range(self._total()):
            choice = self.desk.choose(self.info, self.call.thread, last_broker, is_retry=number > 0)
            if choice.queue is None:
                return self._give_up(number)
            self.brokers[number] = choice.queue.broker
            if time_left(self.desk, self.call) < 0:
                return self.stored or CALL_TIMEOUT
            result = yield from self._try(choice, choice.queue, can_retry=number + 1 < self._total())
            if result is not None:
                return result
            last_broker = _live(self.info, choice).broker
        return self._give_up(self._total())

    def _total(self) -> int:
        return attempts(self.desk) if self.call.mode is Mode.SYNC else 1

    def _try(self, choice: Choice, queue: MessageQueue, *, can_retry: bool) -> Task[Result | None]:
        began_at = self.desk.at
        outcome = yield from transmit(self.desk, self.call, queue, choice, self._timeout_ms(can_retry=can_retry))
        lesson = LESSONS[outcome.kind]
        self.desk.learn(_live(self.info, choice).broker, lesson, self.desk.at - began_at)
        self.last = outcome
        if self.call.mode is Mode.ONEWAY and outcome.kind is SendOutcome.OK:
            return Sent(queue=queue)
        return self._verdict(outcome)

    def _timeout_ms(self, *, can_retry: bool) -> int:
        left, cap = time_left(self.desk, self.call), self.desk.settings.timeout_per_request_ms
        return min(left, cap) if self.desk.profile.caps_each_request and cap is not None and can_retry else left

    def _verdict(self, outcome: Outcome) -> Result | None:
        """Say what the caller gets now; None for a further attempt."""
        if outcome.is_stored:
            self.stored = sent(self.call, outcome)
            tries_elsewhere = outcome.kind is SendOutcome.NOT_STORED and self.desk.settings.retries_when_not_stored
            return None if tries_elsewhere else self.stored
        if outcome.kind is SendOutcome.INTERRUPTED:
            return raised(outcome)
        if outcome.kind is SendOutcome.BROKER_ERROR and outcome.code not in self.desk.profile.retry_codes:
            return self.stored or raised(outcome)
        return None

    def _give_up(self, times: int) -> Result:
        return self.stored or given_up(self.desk, self.call, times, self.brokers, self.last)


def _live(info: PublishInfo, choice: Choice) -> MessageQueue:
    """Look at the element of the shared list once more: up to 5.1.3 another thread may have rewritten it."""
    assert choice.position is not None
    return info.queues[choice.position]


def attempts(desk: Desk) -> int:
    """Count the attempts of a synchronous call, the first included."""
    return desk.profile.attempts if desk.settings.retries is None else 1 + desk.settings.retries


def time_left(desk: Desk, call: Call) -> int:
    """Say what is left of the call's timeout, in ms; all of it where each attempt has its own (4.2)."""
    return call.timeout_ms - (desk.at - call.began_at if desk.profile.has_one_budget else 0)


def transmit(desk: Desk, call: Call, queue: MessageQueue, choice: Choice | None, timeout_ms: int) -> Task[Outcome]:
    """Make one attempt (``sendKernelImpl``); a broker of unknown address is looked for once more.

    Raises:
        LookupFailed: see ``lookup.find``.
    """
    call.begin(queue, desk.broker_of(queue), desk.at, choice)
    began_at = desk.at
    if desk.address_of(desk.broker_of(queue)) is None:
        yield from _look_for(desk, call, queue)
    left = timeout_ms - (desk.at - began_at)
    outcome = yield from _hand_over(desk, call, queue, left)
    desk.conclude(call, outcome)
    return outcome


def _look_for(desk: Desk, call: Call, queue: MessageQueue) -> Task[None]:
    """Look for a queue's broker; a lookup that fails ends the attempt too, and the fault table hears nothing of it."""
    try:
        yield from find(desk, queue.topic)
    except LookupFailed as failed:
        desk.conclude(call, Outcome(kind=SendOutcome.CLIENT_ERROR, text=str(failed)))
        raise


def _hand_over(desk: Desk, call: Call, queue: MessageQueue, timeout_ms: int) -> Task[Outcome]:
    broker = desk.broker_of(queue)
    address = desk.address_of(broker)
    if address is None:
        return unknown_broker(broker)
    if timeout_ms < 0:
        return too_late("sendKernelImpl call timeout")
    request = desk.request(call.message, queue, broker)
    if call.mode is Mode.ONEWAY:
        yield TransmitOneway(to=address, request=request)
        return Outcome(kind=SendOutcome.OK)
    return outcome_of((yield Transmit(to=address, request=request, timeout_ms=timeout_ms)))


def unknown_broker(broker: str | None) -> Outcome:
    """Say that nobody knows where the broker's master listens."""
    return Outcome(kind=SendOutcome.CLIENT_ERROR, text=f"The broker[{broker or 'null'}] not exist")


def too_late(text: str) -> Outcome:
    """Say that the timeout was over before anything was sent."""
    return Outcome(kind=SendOutcome.REMOTING_ERROR, text=text, is_too_late=True)


def given_up(desk: Desk, call: Call, times: int, brokers: list[str | None], last: Outcome | None) -> Failed:
    """Make the exception of a call whose attempts are used up."""
    cost_ms = desk.at - call.began_at
    names = ", ".join(name or "null" for name in brokers)
    text = f"Send [{times}] times, still failed, cost [{cost_ms}]ms, Topic: {call.topic}, BrokersSent: [{names}]"
    return Failed(error=Error.CLIENT, text=text, code=-1 if last is None else _code(last))


def _code(last: Outcome) -> int:
    if last.kind is SendOutcome.BROKER_ERROR:
        return last.code
    if last.kind is SendOutcome.CLIENT_ERROR:
        return ClientErrorCode.BROKER_NOT_EXIST_EXCEPTION
    return _FAILURE_CODES.get(last.failure, -1) if last.failure else -1


_FAILURE_CODES = {
    Failure.NOT_CONNECTED: ClientErrorCode.CONNECT_BROKER_EXCEPTION,
    Failure.TIMEOUT: ClientErrorCode.ACCESS_BROKER_TIMEOUT,
}


def no_route(desk: Desk, call: Call, text: str) -> Failed:
    """Make the exception of a call that has no queue to send to."""
    if not desk.settings.name_servers:
        text = "No name server address, please set it."
        return Failed(error=Error.CLIENT, text=text, code=ClientErrorCode.NO_NAME_SERVER_EXCEPTION)
    return Failed(error=Error.CLIENT, text=text + call.topic, code=ClientErrorCode.NOT_FOUND_TOPIC_EXCEPTION)


def send_to(desk: Desk, call: Call, queue: MessageQueue) -> Task[Result]:
    """Make one attempt on a queue that the application chose: no other broker, no fault table.

    Raises:
        LookupFailed: see ``lookup.find``.
    """
    if queue.topic != call.topic:
        return Failed(error=Error.CLIENT, text="message's topic not equal mq's topic")
    if time_left(desk, call) < 0:
        return Failed(error=Error.TOO_MANY, text="call timeout")
    outcome = yield from transmit(desk, call, queue, None, time_left(desk, call))
    if call.mode is Mode.ONEWAY and outcome.kind is SendOutcome.OK:
        return Sent(queue=queue)
    return sent(call, outcome) if outcome.is_stored else raised(outcome)
