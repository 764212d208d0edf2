"""Which loop runs for a call: by client language, by how the caller waits, and by who chooses the queue."""

from __future__ import annotations

from rebalance_engine.model import MessageQueue
from rebalance_engine.producer import cpp_loop, go_loop, java_async, java_loop
from rebalance_engine.producer.desk import Desk
from rebalance_engine.producer.lookup import LookupFailed, find
from rebalance_engine.producer.selectors import Selector, Unselectable
from rebalance_engine.producer.send_loop import Call, Error, Failed, Mode, Result
from rebalance_engine.producer.tasks import Task
from rebalance_engine.remoting.codes import Language

SELECT_TIMEOUT = Failed(error=Error.TOO_MANY, text="sendSelectImpl call timeout")


def sending(desk: Desk, call: Call, to: MessageQueue | Selector | None) -> Task[Result]:
    """Carry out a call; ``to`` is a queue, a selector, or None where the client chooses."""
    try:
        return (yield from _by_language(desk, call, to))
    except LookupFailed as failed:
        return Failed(error=Error.ILLEGAL_STATE, text=str(failed))
    except Unselectable as failed:
        return Failed(error=Error.CLIENT, text=f"select message queue threw exception: {failed}")


def _by_language(desk: Desk, call: Call, to: MessageQueue | Selector | None) -> Task[Result]:
    if desk.profile.language is Language.GO:
        return go_loop.send(desk, call, _as_selector(to))
    if desk.profile.language is Language.CPP:
        return cpp_loop.send(desk, call) if to is None else _sending_to(desk, call, to)
    if to is not None:
        return _sending_to(desk, call, to)
    return java_async.send_async(desk, call) if call.mode is Mode.ASYNC else java_loop.send(desk, call)


def _as_selector(to: MessageQueue | Selector | None) -> Selector | None:
    """Go knows selectors only; a queue set by hand is one that always gives it (``manualQueueSelector``)."""
    return (lambda _queues: to) if isinstance(to, MessageQueue) else to


def _sending_to(desk: Desk, call: Call, to: MessageQueue | Selector) -> Task[Result]:
    if isinstance(to, MessageQueue):
        return (yield from _to_queue(desk, call, to))
    info = yield from find(desk, call.topic)
    if info is None or not info.has_queues:
        return java_loop.no_route(desk, call, "No route info for this topic, ")
    queue = to(tuple(info.queues))
    if java_loop.time_left(desk, call) < 0:
        return SELECT_TIMEOUT
    return (yield from _to_queue(desk, call, queue))


def _to_queue(desk: Desk, call: Call, queue: MessageQueue) -> Task[Result]:
    if desk.profile.language is Language.CPP:
        return cpp_loop.send_to(desk, call, queue)
    if call.mode is Mode.ASYNC:
        return java_async.send_async_to(desk, call, queue)
    return java_loop.send_to(desk, call, queue)
