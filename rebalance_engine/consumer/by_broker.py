"""Queues that the broker divides, for consumers that let it (``clientRebalance=false``).

5.0.0 to 5.3.1 first try whether the topic's broker can: an error, or three timeouts, is a no for as long as the topic
is subscribed.

Source: ``client/.../impl/consumer/RebalanceImpl.java`` (``tryQueryAssignment``, ``getRebalanceResultFromBroker``,
``updateMessageQueueAssignment``).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from rebalance_engine.consumer.member import Member
from rebalance_engine.consumer.settings import Mode
from rebalance_engine.consumer.threads import Code, ask
from rebalance_engine.effects import Failure
from rebalance_engine.model import RETRY_TOPIC_PREFIX
from rebalance_engine.remoting.bodies.clients import SUBSCRIBE_ALL
from rebalance_engine.remoting.bodies.queues import MessageQueueAssignment, QueryAssignmentRequestBody
from rebalance_engine.remoting.checkpoints import pop_retry_topic
from rebalance_engine.remoting.requests.consuming import QueryAssignment, QueryAssignmentResponse
from rebalance_engine.remoting.requests.contract import Refused

TIMEOUT = 3_000  # ms
PROBE_TIMEOUTS = (1_000, 2_000, 3_000)  # ms
NOT_SUPPORTED: Final[Sequence[MessageQueueAssignment]] = ("not supported",)  # type: ignore[assignment] # told apart by identity


def applies(member: Member) -> bool:
    """Whether the broker divides: never for orderly, broadcasting and polling consumers."""
    settings = member.settings
    if settings.client_rebalance or settings.orderly or not settings.is_clustering or settings.mode is not Mode.PUSH:
        return False
    return member.desk.profile.knows_assignment


def ask_broker(member: Member, topic: str) -> Code[Sequence[MessageQueueAssignment] | None]:
    """Ask for our queues: None if there is no answer or no valid one, ``NOT_SUPPORTED`` where the client divides."""
    if member.desk.profile.probes_assignment and not (yield from _is_supported(member, topic)):
        return NOT_SUPPORTED
    answer = yield from _query(member, topic, TIMEOUT)
    return answer.body.message_queue_assignments if isinstance(answer, QueryAssignmentResponse) else None


def follow_mode(member: Member, topic: str, *, has_pulled: bool, has_popped: bool) -> None:
    """Subscribe to what popping left behind, each round anew, where all queues come by PULL; by POP, no more.

    Messages that were popped and not acknowledged come back through a retry topic of their own, which the broker itself
    pops with the topic. Who pulls has to consume it. Where no broker has that topic, its division has no valid answer,
    and the member is not balanced.
    """
    if topic.startswith(RETRY_TOPIC_PREFIX) or has_pulled == has_popped:
        return
    retry_topic = pop_retry_topic(member.group, topic)
    if has_pulled:
        member.subscriptions.add(retry_topic, SUBSCRIBE_ALL, member.desk.version)
    else:
        member.subscriptions.remove(retry_topic)


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
