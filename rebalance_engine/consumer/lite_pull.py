"""Consumers that poll: what is assigned to them is pulled ahead into a cache, and a poll takes from it.

A queue that is given up is not drained: what was pulled and not polled is thrown away, and what was polled counts as
consumed with the next commit, done or not.

Source: ``client/.../impl/consumer/DefaultLitePullConsumerImpl.java``.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import fields

from rebalance_engine.consumer.application import Polled
from rebalance_engine.consumer.flow import OVER, read_wanted, state_pulled, state_refused
from rebalance_engine.consumer.member import Member
from rebalance_engine.consumer.polling import Position
from rebalance_engine.consumer.process_queue import ProcessQueue
from rebalance_engine.consumer.settings import Mode
from rebalance_engine.consumer.starting import start_offset
from rebalance_engine.consumer.threads import Code, Listen, Sleep, ask
from rebalance_engine.effects import Address, Failure
from rebalance_engine.events import DropReason
from rebalance_engine.model import MessageQueue
from rebalance_engine.remoting.bodies.clients import SubscriptionData
from rebalance_engine.remoting.codes import ResponseCode
from rebalance_engine.remoting.errors import BrokenMessage
from rebalance_engine.remoting.requests.consuming import LitePullMessage, PullMessage, PullMessageResponse
from rebalance_engine.remoting.requests.contract import Refused, Response
from rebalance_engine.remoting.sysflags import PullFlag
from rebalance_engine.remoting.tags import is_by_tags, subscription

PULL_BATCH = 10
SUSPEND = 20_000  # ms
FULL_DELAY = 50  # ms
ALL_MESSAGES = 10_000  # ``pullThresholdForAll``
FLAGS = int(PullFlag.SUSPEND | PullFlag.SUBSCRIPTION | PullFlag.LITE_PULL)

# ---- what is assigned ----


def follow(member: Member, topic: str, wanted: Collection[MessageQueue]) -> None:
    """Pull what the rebalance gave, and nothing else of the topic."""
    for mq in tuple(member.polling.positions):
        if mq.topic == topic and mq not in wanted:
            _release(member, mq)
    for mq in wanted:
        pq = member.table.get(mq)
        if pq is not None:
            _begin(member, pq)


def assign(
    member: Member, queues: Collection[MessageQueue], offsets: Collection[tuple[MessageQueue, int]] = ()
) -> Code[None]:
    """Pull what the application named, and nothing else, and from where it said."""
    for mq in tuple(member.table.keys() - set(queues)):
        _release(member, mq)
        member.table.pop(mq, None)
        yield from member.offsets.persist(mq)
        member.offsets.forget(mq)
    for mq in dict.fromkeys(queues):
        pq = ProcessQueue(mq, member.desk.at, is_locked=False)
        if member.take(pq, None):
            _begin(member, pq)
    for mq, offset in offsets:
        if mq in member.polling.positions:  # a later assignment may have taken it away meanwhile
            seek(member, mq, offset)


def release_topic(member: Member, topic: str) -> None:
    """Pull nothing of a topic any more. What was pulled is still polled, until the next rebalance drops its queues."""
    for mq in tuple(member.polling.positions):
        if mq.topic == topic:
            member.polling.release(mq)


def _release(member: Member, mq: MessageQueue) -> None:
    position = member.polling.release(mq)
    if position is not None:
        member.drop(position.pq, DropReason.NOT_IN_TARGET)


def _begin(member: Member, pq: ProcessQueue) -> None:
    known = member.polling.positions.get(pq.mq)
    if known is not None and known.pq is pq:
        return
    member.polling.release(pq.mq)
    position = member.polling.positions[pq.mq] = Position(pq)
    member.pool.submit(_pull(member, position))


# ---- pulling ahead ----


def _pull(member: Member, position: Position) -> Code[None]:
    """Do one pull in one of the pull threads, and put the next one into their queue."""
    pause = yield from _step(member, position)
    if pause != OVER:
        member.desk.threads.spawn(_pull_later(member, position, pause))


def _pull_later(member: Member, position: Position, ms: int) -> Code[None]:
    yield Sleep(ms)
    member.pool.submit(_pull(member, position))


def _step(member: Member, position: Position) -> Code[int]:
    profile, pq = member.desk.profile, position.pq
    if position.is_over or pq.is_dropped:
        return OVER
    pq.last_pull = member.desk.at
    if member.is_paused:
        return profile.paused_delay
    if _is_full(member, pq):
        member.flow_controlled += 1
        return FULL_DELAY
    offset = yield from _next_offset(member, position)
    if offset is None:
        return profile.error_delay
    return (yield from _pull_from(member, position, offset))


def _is_full(member: Member, pq: ProcessQueue) -> bool:
    ahead = len(member.polling.cache) * (member.settings.pull_batch or PULL_BATCH)
    if ahead > ALL_MESSAGES or pq.count > member.queue_messages:
        return True
    has_size = member.queue_mib is not None and pq.mib > member.queue_mib
    return has_size or (member.span is not None and pq.span > member.span)


def _next_offset(member: Member, position: Position) -> Code[int | None]:
    """Find where to pull: where the application wants to, else after the last pull, else by what is stored."""
    if position.sought is not None:
        position.pulled = position.consumed = position.sought
        position.sought = None
    if position.pulled is None:
        known = member.offsets.in_memory(position.pq.mq)
        offset = known if known is not None else (yield from start_offset(member, position.pq.mq))
        if offset < 0:
            return None
        position.pulled = offset
    return position.pulled


def _pull_from(member: Member, position: Position, offset: int) -> Code[int]:
    desk, pq = member.desk, position.pq
    place = desk.routes.for_pull(pq.mq)
    if place is None:
        yield from desk.refresh_route(pq.mq.topic)
        return desk.profile.error_delay
    data = _subscription(member, pq.mq.topic)
    if not pq.first_pull_seen:
        state_pulled(member, pq, offset)
    answer = yield from _ask(member, place[0], _request(member, pq.mq, data, offset))
    if isinstance(answer, PullMessageResponse):
        return _take_in(member, position, answer, data)
    if isinstance(answer, Refused):
        state_refused(member, pq, answer.code)
    return desk.profile.error_delay


def _ask(member: Member, address: Address, pull: LitePullMessage) -> Code[Response | Refused | Failure]:
    """Pull; as any consumer does from brokers before 5.0, which know no other way, nor do their clients."""
    timeout, old = member.desk.profile.pull_timeout, member.polling.old_brokers
    if address not in old:
        answer = yield from ask(address, pull, timeout)
        if not isinstance(answer, Refused) or answer.code != ResponseCode.REQUEST_CODE_NOT_SUPPORTED:
            return answer
        old.add(address)
    plain = {each.name: getattr(pull, each.name) for each in fields(PullMessage)}
    return (yield from ask(address, PullMessage(**plain), timeout))


def _request(member: Member, mq: MessageQueue, data: SubscriptionData, offset: int) -> LitePullMessage:
    """Make a pull that brings its subscription along: brokers know none of who names his queues."""
    return LitePullMessage(
        consumer_group=member.group,
        topic=mq.topic,
        queue_id=mq.queue_id,
        queue_offset=offset,
        max_msg_nums=member.settings.pull_batch or PULL_BATCH,
        sys_flag=FLAGS,
        commit_offset=0,
        suspend_timeout_millis=SUSPEND,
        subscription=data.sub_string,
        sub_version=0 if is_by_tags(data) else data.sub_version,
        expression_type=data.expression_type,
        max_msg_bytes=member.desk.profile.pull_bytes,
        bname=mq.broker,
    )


def _subscription(member: Member, topic: str) -> SubscriptionData:
    """Give the subscription of a topic; who names his queues has none and gets everything."""
    return member.subscriptions.get(topic) or subscription(topic, version=member.started_at)


def _take_in(member: Member, position: Position, answer: PullMessageResponse, data: SubscriptionData) -> int:
    try:
        messages, following = read_wanted(member, answer, data)
    except BrokenMessage:
        return member.desk.profile.error_delay
    if position.pq.is_dropped or position.is_over:  # it belongs to where we were before
        return 0
    position.pulled = following
    if messages:
        position.pq.put(messages)
        member.polling.cache.append((position, tuple(messages)))
        member.desk.threads.ring(member.polling.bell)
    return 0


# ---- the application's calls ----


def poll(member: Member, timeout_ms: int) -> Code[None]:
    """Give the next messages, or none when the time is over; every 5 s note how far all queues are before."""
    polling, until = member.polling, member.desk.at + timeout_ms
    auto_commit(member)
    batch = polling.next_batch()
    while batch is None and (yield Listen(polling.bell, until - member.desk.at)):
        batch = polling.next_batch()
    if batch is None:
        member.desk.threads.out.append(Polled(group=member.group, queue=None, messages=()))
        return
    position, messages = batch
    position.consumed = position.pq.remove(messages, member.desk.at)
    member.desk.threads.out.append(Polled(group=member.group, queue=position.pq.mq, messages=messages))


def auto_commit(member: Member) -> None:
    """Note how far all queues are if it is time for that again (``maybeAutoCommit``)."""
    every = member.settings.auto_commit_ms
    if every is not None and member.desk.at >= member.polling.commit_due:
        note_consumed(member)
        member.polling.commit_due = member.desk.at + every


def note_consumed(member: Member) -> None:
    """Note how far all queues are (``commitAll``); the timer stores it."""
    for mq, position in member.polling.positions.items():
        if position.consumed is not None and position.consumed >= 0 and not position.pq.is_dropped:
            member.offsets.update(mq, position.consumed, increase_only=False)


def seek(member: Member, mq: MessageQueue, offset: int) -> None:
    """Go on elsewhere, at once; what was pulled before is thrown away, and what still comes of it too.

    Raises:
        ValueError: the queue is not assigned.
    """
    position = member.polling.positions.get(mq)
    if position is None:
        how = "by the rebalance" if member.settings.mode is Mode.PULL else "by the application"
        raise ValueError(f"queue {mq} is not assigned to group {member.group!r} {how}")
    member.polling.forget_cached(position)
    position.is_over = True  # a pull of it may wait at the broker for long (``PullTaskImpl.tryInterrupt``)
    fresh = member.polling.positions[mq] = Position(position.pq, consumed=position.consumed, sought=offset)
    member.pool.submit(_pull(member, fresh))
