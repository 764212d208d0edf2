"""The Java client's asynchronous send: the request keeps its queue id, a retry only changes the broker.

Refusals are not retried, failures of the transport are. The call counts as returned when the request was handed over,
which is an attempt of 0 ms to the fault table; the answer is another one.

Source: ``client/.../impl/MQClientAPIImpl.java`` (``sendMessageAsync``, ``onExceptionImpl``).
"""

from __future__ import annotations

from dataclasses import dataclass

from rebalance_engine.effects import Failure
from rebalance_engine.events import SendOutcome
from rebalance_engine.model import MessageQueue
from rebalance_engine.producer.desk import Desk
from rebalance_engine.producer.java_loop import (
    CALL_TIMEOUT,
    LESSONS,
    given_up,
    no_route,
    time_left,
    too_late,
    unknown_broker,
)
from rebalance_engine.producer.latency import Lesson
from rebalance_engine.producer.lookup import find
from rebalance_engine.producer.profiles import AsyncIssue
from rebalance_engine.producer.publish_info import PublishInfo
from rebalance_engine.producer.selection import Choice
from rebalance_engine.producer.send_loop import Call, Error, Failed, Outcome, Result, outcome_of, raised, sent
from rebalance_engine.producer.tasks import Task, Transmit
from rebalance_engine.remoting.requests.producing import SendMessageV2

NO_TIMEOUT_LASTS_MS = 1_000  # up to 4.6 a retry's timeout is 0, to which ``scanResponseTable`` adds a second
CONNECTING_COUNTS_AS_MS = 3_000  # the literal in ``onExceptionImpl`` up to 4.9.2


def send_async(desk: Desk, call: Call) -> Task[Result]:
    """Send to a queue of the client's choice.

    Raises:
        LookupFailed: see ``lookup.find``.
    """
    info = yield from find(desk, call.topic)
    if info is None or not info.has_queues:
        return no_route(desk, call, "No route info of this topic: ")
    choice = desk.choose(info, call.thread, None, is_retry=False)
    assert choice.queue is not None
    if time_left(desk, call) < 0:
        return CALL_TIMEOUT
    return (yield from _first(desk, call, choice.queue, info, choice))


def send_async_to(desk: Desk, call: Call, queue: MessageQueue) -> Task[Result]:
    """Send to a queue that the application chose; retries go to the same broker.

    Raises:
        LookupFailed: see ``lookup.find``.
    """
    if queue.topic != call.topic:
        return Failed(error=Error.CLIENT, text="message's topic not equal mq's topic")
    return (yield from _first(desk, call, queue, None, None))


def _first(
    desk: Desk, call: Call, queue: MessageQueue, info: PublishInfo | None, choice: Choice | None
) -> Task[Result]:
    if desk.address_of(desk.broker_of(queue)) is None:
        yield from find(desk, queue.topic)
    broker = desk.broker_of(queue)
    if desk.address_of(broker) is None:
        return _without_address(desk, call, queue, broker, choice)
    request = desk.request(call.message, queue, broker)
    call.begin(queue, broker, desk.at, choice)
    return (yield from _Rounds(desk, call, info, queue, request, broker, time_left(desk, call)).run())


def _without_address(desk: Desk, call: Call, queue: MessageQueue, broker: str | None, choice: Choice | None) -> Failed:
    call.begin(queue, broker, desk.at, choice)
    outcome = unknown_broker(broker)
    desk.conclude(call, outcome)
    if choice is None:
        return raised(outcome)
    desk.learn(queue.broker, LESSONS[outcome.kind], 0)
    return given_up(desk, call, 1, [queue.broker], outcome)


@dataclass(slots=True)
class _Rounds:
    """The attempts of one request.

    Attributes:
        info: None where the application chose the queue.
        left_ms: what is left of the timeout.
        retries: attempts after the first.
    """

    desk: Desk
    call: Call
    info: PublishInfo | None
    queue: MessageQueue
    request: SendMessageV2
    broker: str | None
    left_ms: int
    retries: int = 0

    def run(self) -> Task[Result]:
        self._count_as_returned(0)
        while True:
            began_at = self.desk.at
            outcome = yield from self._hand_over()
            self.desk.conclude(self.call, outcome)
            if outcome.is_stored:
                self.desk.learn(self.broker, Lesson.RETURNED, self.desk.at - began_at)
                return sent(self.call, outcome)
            self._learn(outcome, self.desk.at - began_at)
            self.left_ms -= self.desk.at - began_at
            is_first = self.retries == 0
            goes_on = self._goes_on(outcome)
            if goes_on:
                self._retry_elsewhere()
            if is_first and self._failed_inside_the_call(outcome):
                self._count_as_returned(self.desk.at - began_at)
            if not goes_on:
                return self._failed(outcome)

    def _hand_over(self) -> Task[Outcome]:
        address = self.desk.address_of(self.broker)
        if address is None:
            return Outcome(kind=SendOutcome.REMOTING_ERROR, failure=Failure.NOT_CONNECTED, text="no address")
        if self.left_ms < 0:
            return too_late("invokeAsync call timeout")
        return outcome_of((yield Transmit(to=address, request=self.request, timeout_ms=self.left_ms)))

    def _learn(self, outcome: Outcome, latency_ms: int) -> None:
        if outcome.kind is SendOutcome.BROKER_ERROR:
            self.desk.learn(self.broker, Lesson.ASYNC_REFUSED, latency_ms)
        elif not _was_not_issued(outcome) or self._issue is AsyncIssue.CALLS_BACK:
            self.desk.learn(self.broker, Lesson.ASYNC_FAILED, latency_ms)
        elif self._issue is AsyncIssue.RETRIES:
            self.desk.learn(self.broker, Lesson.ASYNC_NOT_ISSUED, latency_ms)
        elif not outcome.is_too_late:
            self._learn_of_no_connection(latency_ms)

    def _learn_of_no_connection(self, latency_ms: int) -> None:
        """Up to 4.9.2 a retry that finds no connection blames the broker that failed before it."""
        before = self.call.attempts[-2].broker if self.retries else self.broker
        self.desk.learn(before, Lesson.ASYNC_FAILED, CONNECTING_COUNTS_AS_MS if self.retries else latency_ms)

    def _goes_on(self, outcome: Outcome) -> bool:
        limit = self.desk.settings.async_retries
        may_go_on = self.retries < (self.desk.profile.async_retries if limit is None else limit)
        return may_go_on and self._is_retried(outcome)

    def _is_retried(self, outcome: Outcome) -> bool:
        if outcome.kind is not SendOutcome.REMOTING_ERROR:
            return False
        if self._issue is AsyncIssue.RAISES and _was_not_issued(outcome):
            return self.retries > 0 and not outcome.is_too_late
        if self._issue is AsyncIssue.CALLS_BACK and outcome.is_too_late:
            return False
        return self.left_ms > 0 or not self.desk.profile.async_retry_needs_time

    def _retry_elsewhere(self) -> None:
        self.retries += 1
        if not self.desk.profile.async_retry_keeps_time:
            self.left_ms = NO_TIMEOUT_LASTS_MS
        choice = None
        if self.info is not None:
            choice = self.desk.choose(self.info, self.call.thread, self.broker, is_retry=False)
            assert choice.queue is not None
            self.broker = self.desk.broker_of(choice.queue)
        self.call.begin(self.queue, self.broker, self.desk.at, choice)

    def _failed_inside_the_call(self, outcome: Outcome) -> bool:
        return self._issue is AsyncIssue.RETRIES and outcome.failure is Failure.NOT_CONNECTED

    def _count_as_returned(self, latency_ms: int) -> None:
        """Learn that ``send`` came back; only sends to a queue of the client's choice are looked at."""
        if self.info is not None:
            self.desk.learn(self.queue.broker, Lesson.RETURNED, latency_ms)

    def _failed(self, outcome: Outcome) -> Failed:
        """Make the exception: as it left the call, or wrapped by the callback that heard of it."""
        if outcome.kind is not SendOutcome.REMOTING_ERROR:
            return raised(outcome)
        if self._issue is AsyncIssue.CALLS_BACK or not _was_not_issued(outcome):
            return Failed(error=Error.CLIENT, text=_HEARD.get(outcome.failure, "unknown reason"))
        if self._issue is AsyncIssue.RAISES and self.retries == 0 and self.info is not None:
            return given_up(self.desk, self.call, 1, [self.broker], outcome)
        return raised(outcome)

    @property
    def _issue(self) -> AsyncIssue:
        return self.desk.profile.async_issue


_HEARD: dict[Failure | None, str] = {Failure.TIMEOUT: "wait response timeout", Failure.CLOSED: "send request failed"}


def _was_not_issued(outcome: Outcome) -> bool:
    return outcome.is_too_late or outcome.failure is Failure.NOT_CONNECTED
