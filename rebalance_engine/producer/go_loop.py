"""The Go client's send: four attempts, each with the whole timeout; asynchronous sends are not retried.

Source: ``producer/producer.go`` (``sendSync``, ``sendAsync``, ``sendOneWay``, ``selectMessageQueue``).
"""

from __future__ import annotations

from rebalance_engine.events import SendOutcome
from rebalance_engine.producer.desk import Desk
from rebalance_engine.producer.java_loop import attempts, transmit
from rebalance_engine.producer.lookup import find
from rebalance_engine.producer.selection import Choice, Why
from rebalance_engine.producer.selectors import Selector
from rebalance_engine.producer.send_loop import Call, Error, Failed, Mode, Outcome, Result, Sent, raised, sent
from rebalance_engine.producer.tasks import Task


def send(desk: Desk, call: Call, selector: Selector | None = None) -> Task[Result]:
    """Send to a queue of the selector's choice, by default in turn; every attempt asks it again."""
    total = 1 if call.mode is Mode.ASYNC else attempts(desk)
    last_broker: str | None = None
    result: Result = _no_route(call)
    for number in range(total):
        choice = yield from _choose(desk, call, last_broker, selector)
        last_broker = choice.queue.broker if choice.queue else None
        if choice.queue is None:
            result = _no_route(call)
            continue
        if desk.address_of(choice.queue.broker) is None:
            return _no_route(call)
        outcome = yield from transmit(desk, call, choice.queue, choice, call.timeout_ms)
        if call.mode is Mode.ONEWAY:
            return Sent(queue=choice.queue)
        if not _is_retried(desk, outcome, is_last=number + 1 == total):
            return sent(call, outcome) if outcome.is_stored else raised(outcome)
        result = raised(outcome) if outcome.kind is SendOutcome.REMOTING_ERROR else result
    return result


def _choose(desk: Desk, call: Call, last_broker: str | None, selector: Selector | None) -> Task[Choice]:
    info = yield from find(desk, call.topic)
    if info is None:
        return Choice(None, Why.NOTHING)
    if selector is not None:
        return Choice(selector(info.queues), Why.SELECTOR)
    return desk.choose(info, call.thread, last_broker, is_retry=last_broker is not None)


def _is_retried(desk: Desk, outcome: Outcome, *, is_last: bool) -> bool:
    """A refusal on the last attempt is the caller's; a failure of the transport only ends the loop there."""
    if outcome.kind is SendOutcome.BROKER_ERROR:
        return outcome.code in desk.profile.retry_codes and not is_last
    return outcome.kind is SendOutcome.REMOTING_ERROR


def _no_route(call: Call) -> Failed:
    return Failed(error=Error.CLIENT, text=f"the topic={call.topic} route info not found")
