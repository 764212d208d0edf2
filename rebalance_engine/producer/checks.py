"""What must hold of a producer's tables after every step."""

from __future__ import annotations

from collections.abc import Iterator

from rebalance_engine.producer.desk import Desk
from rebalance_engine.producer.java_loop import attempts
from rebalance_engine.producer.latency import FaultItem
from rebalance_engine.producer.publish_info import PublishInfo, publish_list
from rebalance_engine.producer.send_loop import Call, Mode


def broken_tables(desk: Desk) -> Iterator[str]:
    """Say in words what does not hold."""
    for info in desk.book:
        yield from _broken_info(desk, info)
    if len(desk.faults) and not desk.keeps_faults:
        yield f"{len(desk.faults)} fault items, though fault avoidance is off"
    for item in desk.faults:
        yield from _broken_item(desk, item)


def _broken_info(desk: Desk, info: PublishInfo) -> Iterator[str]:
    by_route = publish_list(info.topic, info.route, desk.profile) if info.route else []
    if len(info.queues) != len(by_route):
        yield f"{info.topic} has {len(info.queues)} queues, its route {len(by_route)}"
    if not (desk.keeps_faults and desk.profile.mutates_queues) and info.queues != by_route:
        yield f"{info.topic} has queues that its route does not have"
    if any(queue.topic != info.topic for queue in info.queues):
        yield f"{info.topic} has queues of another topic"


def _broken_item(desk: Desk, item: FaultItem) -> Iterator[str]:
    longest_ms = max(duration_ms for _, duration_ms in desk.faults.classes)
    if item.available_from > desk.at + longest_ms:
        yield f"{item.broker} backs off until {item.available_from}, more than {longest_ms} ms from {desk.at}"
    if not item.is_reachable and not desk.profile.knows_reachability:
        yield f"{item.broker} is unreachable, which {desk.profile} does not know"


def broken_call(desk: Desk, call: Call) -> Iterator[str]:
    """Say in words what does not hold of one call."""
    most = _most_attempts(desk, call)
    if len(call.attempts) > most:
        yield f"call {call.number} made {len(call.attempts)} attempts, at most {most}"
    if any(attempt.outcome is None for attempt in call.attempts[:-1]):
        yield f"call {call.number} began an attempt before the last one ended"
    if call.result is not None and any(attempt.outcome is None for attempt in call.attempts):
        yield f"call {call.number} has ended, an attempt of it has not"


def _most_attempts(desk: Desk, call: Call) -> int:
    if call.mode is not Mode.ASYNC:
        return attempts(desk)
    given = desk.settings.async_retries
    return 1 + (desk.profile.async_retries if given is None else given)
