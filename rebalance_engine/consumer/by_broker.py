"""Queues that the broker divides, for consumers that let it (``clientRebalance=false``).

5.0.0 to 5.3.1 first try whether the topic's broker can: an error, or three timeouts, is a no for ever. Only assignments
by PULL are carried out here; a POP assignment is left to the broker.

Source: ``client/.../impl/consumer/RebalanceImpl.java`` (``tryQueryAssignment``, ``getRebalanceResultFromBroker``).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from rebalance_engine.consumer.member import Member
from rebalance_engine.consumer.settings import Mode
from rebalance_engine.consumer.threads import Code, ask
from rebalance_engine.effects import Failure
from rebalance_engine.model import MessageQueue
from rebalance_engine.remoting.bodies.queues import QueryAssignmentRequestBody
from rebalance_engine.remoting.bodies.settings import MessageRequestMode
from rebalance_engine.remoting.requests.consuming import QueryAssignment, QueryAssignmentResponse
from rebalance_engine.remoting.requests.contract import Refused

TIMEOUT = 3_000  # ms
PROBE_TIMEOUTS = (1_000, 2_000, 3_000)  # ms
NOT_SUPPORTED: Final[Sequence[MessageQueue]] = ("not supported",)  # type: ignore[assignment] # told apart by identity


def applies(member: Member) -> bool:
    """Whether the broker divides: never for orderly, broadcasting and polling consumers."""
    settings = member.settings
    if settings.client_rebalance or settings.orderly or not settings.is_clustering or settings.mode is not Mode.PUSH:
        return False
    return member.desk.profile.knows_assignment


def ask_broker(member: Member, topic: str) -> Code[Sequence[MessageQueue] | None]:
    """Ask for our queues: None if there is no answer or no valid one, ``NOT_SUPPORTED`` where the client divides."""
    if member.desk.profile.probes_assignment and not (yield from _is_supported(member, topic)):
        return NOT_SUPPORTED
    answer = yield from _query(member, topic, TIMEOUT)
    if not isinstance(answer, QueryAssignmentResponse) or answer.body.message_queue_assignments is None:
        return None
    return tuple(
        assignment.message_queue
        for assignment in answer.body.message_queue_assignments
        if assignment.mode is MessageRequestMode.PULL
    )


def _is_supported(member: Member, topic: str) -> Code[bool]:
    known = member.assignment_support.get(topic)
    if known is not None:
        return known
    is_supported = False
    for timeout in PROBE_TIMEOUTS:
        answer = yield from _query(member, topic, timeout)
        if answer is None:
            return False  # no broker is known: nothing was learned
        is_supported = isinstance(answer, QueryAssignmentResponse)
        if answer is not Failure.TIMEOUT:
            break
    member.assignment_support[topic] = is_supported
    return is_supported


def _query(member: Member, topic: str, timeout: int) -> Code[QueryAssignmentResponse | Refused | Failure | None]:
    desk = member.desk
    address = desk.routes.any_broker_of(topic, desk.luck)
    if address is None:
        yield from desk.refresh_route(topic)
        address = desk.routes.any_broker_of(topic, desk.luck)
        if address is None:
            return None
    body = QueryAssignmentRequestBody(
        topic=topic, consumer_group=member.group, client_id=desk.client_id, strategy_name=member.strategy.name
    )
    return (yield from ask(address, QueryAssignment(body=body), timeout))
