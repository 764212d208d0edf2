"""The C++ client's send: five attempts in all, each with the whole timeout, and any trouble leads to the next one.

Source: ``src/producer/DefaultMQProducerImpl.cpp`` (``sendDefaultImpl``, ``sendKernelImpl``, ``sendSelectImpl``),
``src/MQClientAPIImpl.cpp`` (``sendMessageAsync``), ``src/common/AsyncCallbackWrap.cpp``.
"""

from __future__ import annotations

from rebalance_engine.effects import Failure
from rebalance_engine.events import SendOutcome
from rebalance_engine.model import MessageQueue
from rebalance_engine.producer.desk import Desk
from rebalance_engine.producer.java_loop import attempts, transmit, unknown_broker
from rebalance_engine.producer.lookup import find
from rebalance_engine.producer.publish_info import PublishInfo
from rebalance_engine.producer.selection import Choice
from rebalance_engine.producer.selection_cpp import park
from rebalance_engine.producer.send_loop import (
    Call,
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
from rebalance_engine.producer.tasks import Task, Transmit


def send(desk: Desk, call: Call) -> Task[Result]:
    """Send to a queue of the client's choice."""
    last_broker: str | None = None
    cursor: int | None = None
    text = ""
    for _ in range(attempts(desk)):
        info = yield from find(desk, call.topic)
        if info is None:
            continue
        cursor = info.index.shared if cursor is None else cursor + 1
        choice = desk.choose_cpp(info, call.thread, last_broker, cursor)
        cursor, last_broker = choice.cursor, choice.queue.broker if choice.queue else None
        if choice.queue is None:
            continue
        outcome = yield from _try(desk, call, choice.queue, choice)
        if outcome.kind is SendOutcome.OK or call.mode is Mode.ASYNC:
            return _result(call, choice.queue, outcome)
        _park(desk, info, choice.queue)
        text = text if outcome.is_stored else outcome.text
    return _given_up(call, text)


def _try(desk: Desk, call: Call, queue: MessageQueue, choice: Choice | None) -> Task[Outcome]:
    if call.mode is Mode.ASYNC:
        return (yield from _try_async(desk, call, queue, choice))
    return (yield from transmit(desk, call, queue, choice, call.timeout_ms))


def _try_async(desk: Desk, call: Call, queue: MessageQueue, choice: Choice | None) -> Task[Outcome]:
    """Send to the one broker, by default once; a refusal and a missing connection may be tried again."""
    call.begin(queue, queue.broker, desk.at, choice)
    address, ends_at = desk.address_of(queue.broker), desk.at + call.timeout_ms
    outcome = unknown_broker(queue.broker)
    if address is not None:
        for left_of_tries in reversed(range(1 + (desk.settings.async_retries or 0))):
            request = desk.request(call.message, queue, queue.broker)
            outcome = outcome_of((yield Transmit(to=address, request=request, timeout_ms=ends_at - desk.at)))
            if left_of_tries == 0 or not _is_tried_again(outcome) or desk.at >= ends_at:
                break
    desk.conclude(call, outcome)
    return outcome


def _is_tried_again(outcome: Outcome) -> bool:
    return outcome.kind is SendOutcome.BROKER_ERROR or outcome.failure is Failure.NOT_CONNECTED


def _park(desk: Desk, info: PublishInfo, queue: MessageQueue) -> None:
    if desk.settings.avoids_faults:
        park(info, queue, desk.at)


def _given_up(call: Call, text: str) -> Failed:
    """Make the exception; a call whose every answer was stored but not OK also says that there is no route."""
    return Failed(error=Error.CLIENT, text=text or f"No route info of this topic: {call.topic}")


def send_to(desk: Desk, call: Call, queue: MessageQueue) -> Task[Result]:
    """Make one attempt on a queue that the application chose."""
    return _result(call, queue, (yield from _try(desk, call, queue, None)))


def _result(call: Call, queue: MessageQueue, outcome: Outcome) -> Result:
    if call.mode is Mode.ONEWAY and outcome.kind is SendOutcome.OK:
        return Sent(queue=queue)
    return sent(call, outcome) if outcome.is_stored else raised(outcome)
