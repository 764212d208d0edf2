"""One rebalance of one consumer: for each topic who is there, what is mine, and the table brought in line with it.

Sources: ``client/.../impl/consumer/RebalanceImpl.java`` (``doRebalance``, ``rebalanceByTopic``),
``RebalancePushImpl.java`` (``messageQueueChanged``), ``client/.../impl/factory/MQClientInstance.java``
(``findConsumerIdList``).
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

from rebalance_engine.allocation.contract import MemberFailure
from rebalance_engine.consumer import by_broker, lite_pull
from rebalance_engine.consumer.heartbeats import heartbeat_all
from rebalance_engine.consumer.member import Member
from rebalance_engine.consumer.profiles import NoMembers
from rebalance_engine.consumer.settings import Mode
from rebalance_engine.consumer.table import divide, reconcile, truncate
from rebalance_engine.consumer.threads import Code, ask
from rebalance_engine.effects import Failure
from rebalance_engine.model import RETRY_TOPIC_PREFIX, MessageQueue, sort_queues
from rebalance_engine.remoting.bodies.queues import MessageQueueAssignment
from rebalance_engine.remoting.bodies.settings import MessageRequestMode
from rebalance_engine.remoting.requests.membership import GetConsumerListByGroup, GetConsumerListByGroupResponse


class TopicsSkipped(Exception):
    """An exception of the C++ client that ends the round of one consumer."""


def rebalance(member: Member) -> Code[bool]:
    """Rebalance all topics; say whether the consumer holds what it should, as far as it knows."""
    if member.is_paused:
        return False
    if not _is_divided(member):
        return True
    is_balanced = True
    try:
        for topic in _in_order(member):
            if not (yield from _rebalance_topic(member, topic)):
                is_balanced = False
    except TopicsSkipped:
        return False
    yield from truncate(member)
    return is_balanced


def _is_divided(member: Member) -> bool:
    mode = member.settings.mode
    if mode is Mode.PUSH:
        return True
    rebalances = mode is Mode.PULL or (mode is Mode.BY_HAND and member.settings.rebalances)
    return rebalances and member.desk.profile.divides_for_polls


def _in_order(member: Member) -> Sequence[str]:
    topics = member.subscriptions.topics
    if member.desk.profile.removes_at_random:
        return member.desk.luck.sample(topics, len(topics))
    return sorted(topics) if member.desk.profile.no_members is NoMembers.THROWS else topics  # C++ has a std::map


def _rebalance_topic(member: Member, topic: str) -> Code[bool]:
    if not member.settings.is_clustering:
        return (yield from _broadcasting(member, topic))
    if by_broker.applies(member):
        answer = yield from by_broker.ask_broker(member, topic)
        if answer is not by_broker.NOT_SUPPORTED:
            return (yield from _divided_by_broker(member, topic, answer))
    return (yield from _clustering(member, topic))


# ---- the three ways to what is wanted ----


def _broadcasting(member: Member, topic: str) -> Code[bool]:
    queues = member.desk.routes.queues(topic)
    if queues is None:
        yield from _without_route(member, topic)
        return True
    needs_lock = member.settings.orderly and member.desk.profile.locks_broadcasting
    return (yield from _bring_in_line(member, topic, sort_queues(queues), needs_lock=needs_lock))


def _divided_by_broker(member: Member, topic: str, given: Sequence[MessageQueueAssignment] | None) -> Code[bool]:
    if given is None:
        return False
    popped = [each.message_queue for each in given if each.mode is MessageRequestMode.POP]
    pulled = [each.message_queue for each in given if each.mode is not MessageRequestMode.POP]
    by_broker.follow_mode(member, topic, has_pulled=bool(pulled), has_popped=bool(popped))
    if (yield from divide(member, topic, pulled, popped)):
        yield from _changed(member, topic, (*pulled, *popped))
    return {*pulled, *popped} == member.held(topic)


def _clustering(member: Member, topic: str) -> Code[bool]:
    queues = member.desk.routes.queues(topic)
    clients = yield from _list_members(member, topic)
    if queues is None:
        yield from _without_route(member, topic)
        return True
    if clients is None:
        return True
    wanted = _allocate(member, queues, clients)
    if wanted is None:
        return False
    return (yield from _bring_in_line(member, topic, wanted, needs_lock=member.settings.orderly))


def _list_members(member: Member, topic: str) -> Code[Sequence[str] | None]:
    """Ask any broker of the topic who is in the group; None if that cannot be known.

    Raises:
        TopicsSkipped: it cannot be known, and the client is written in C++.
    """
    desk = member.desk
    address = desk.routes.any_broker_of(topic, desk.luck)
    if address is None:
        yield from desk.refresh_route(topic)
        address = desk.routes.any_broker_of(topic, desk.luck)
        if address is None:
            return None
    request = GetConsumerListByGroup(consumer_group=member.group)
    answer = yield from ask(address, request, desk.profile.list_timeout)
    if isinstance(answer, GetConsumerListByGroupResponse):
        return answer.body.consumer_id_list
    if desk.profile.no_members is NoMembers.THROWS:
        raise TopicsSkipped
    is_empty = not isinstance(answer, Failure) and desk.profile.no_members is NoMembers.DROPS
    return () if is_empty else None


def _allocate(
    member: Member, queues: Collection[MessageQueue], clients: Sequence[str]
) -> Sequence[MessageQueue] | None:
    """Compute our share; None if the strategy throws.

    Raises:
        TopicsSkipped: it throws, and the client is written in C++.
    """
    order, compute = member.strategy.order, member.strategy.member
    assert compute is not None, f"{member.strategy.name} is a plan for a whole group"
    try:
        share = compute(member.desk.client_id, sort_queues(queues, order), order.sort(clients))
    except MemberFailure:
        if member.desk.profile.no_members is NoMembers.THROWS:
            raise TopicsSkipped from None
        return None
    return tuple(dict.fromkeys(share or ()))


# ---- what follows ----


def _bring_in_line(member: Member, topic: str, wanted: Sequence[MessageQueue], *, needs_lock: bool) -> Code[bool]:
    if (yield from reconcile(member, topic, wanted, needs_lock=needs_lock)):
        yield from _changed(member, topic, wanted)
    return set(wanted) == member.held(topic)


def _changed(member: Member, topic: str, wanted: Collection[MessageQueue]) -> Code[None]:
    """Tell whom it concerns that the assignment changed, or that there is nothing to assign."""
    if member.settings.mode is Mode.BY_HAND:
        return  # the application hears of it, nobody else
    if member.settings.mode is not Mode.PUSH:
        lite_pull.follow(member, topic, wanted)
    elif member.desk.profile.bumps_version:
        member.subscriptions.bump(topic, member.desk.version)
        _divide_thresholds(member)
        yield from heartbeat_all(member.desk, anew=True)


def _without_route(member: Member, topic: str) -> Code[None]:
    """Leave a topic as it is of which no route is known; since 5.0.0 as if that were news, each time."""
    is_retry = member.settings.is_clustering and topic.startswith(RETRY_TOPIC_PREFIX)
    if member.desk.profile.missing_route_counts and not is_retry:
        yield from _changed(member, topic, ())


def _divide_thresholds(member: Member) -> None:
    """Divide a topic's limits by the number of queues; Java divides by those of all topics of the group."""
    count = len(member.table)
    if count and member.topic_messages != -1:
        member.queue_messages = max(1, member.topic_messages // count)
    if count and member.topic_mib != -1:
        member.queue_mib = max(1, member.topic_mib // count)
