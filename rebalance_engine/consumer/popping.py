"""Popping a queue that the broker assigned by POP: whoever asks first gets a message, and must acknowledge it in time.

There are no offsets and no order. A failed message comes again after a while that grows; one that nobody acknowledges
comes again when its time is over, to whoever pops then.

Sources: ``client/.../impl/consumer/DefaultMQPushConsumerImpl.java`` (``popMessage``, ``processPopResult``,
``ackAsync``), ``ConsumeMessagePopConcurrentlyService.java``.
"""

from __future__ import annotations

from collections.abc import Sequence

from rebalance_engine.consumer.application import Consumed, Result
from rebalance_engine.consumer.member import Member
from rebalance_engine.consumer.messages import Message
from rebalance_engine.consumer.pop_queue import PopQueue
from rebalance_engine.consumer.threads import Code, HandOut, Sleep
from rebalance_engine.effects import Failure
from rebalance_engine.model import MessageQueue
from rebalance_engine.remoting.bodies.clients import ConsumeFromWhere, SubscriptionData
from rebalance_engine.remoting.checkpoints import Checkpoint
from rebalance_engine.remoting.codes import ResponseCode
from rebalance_engine.remoting.errors import BrokenMessage
from rebalance_engine.remoting.requests.contract import Refused
from rebalance_engine.remoting.requests.popping import (
    FROM_MAX,
    FROM_MIN,
    AckMessage,
    ChangeMessageInvisibletime,
    PopMessage,
    PopMessageResponse,
)
from rebalance_engine.remoting.tags import is_wanted

OVER = -1
LONGER = 10_000  # ms that the client waits longer than it asks the broker to
ACK_TIMEOUT = 3_000  # ms
# s until a message comes again that failed so many times (``popDelayLevel``)
DELAYS = (10, 30, 60, 120, 180, 240, 300, 360, 420, 480, 540, 600, 1_200, 1_800, 3_600, 7_200)


def pop_loop(member: Member, pq: PopQueue) -> Code[None]:
    """Pop a queue until it is dropped, from soon after it was taken on."""
    yield Sleep(member.desk.profile.dispatch_delay)
    while True:
        pause = yield from _step(member, pq)
        if pause == OVER:
            return
        if pause:
            yield Sleep(pause)


def _step(member: Member, pq: PopQueue) -> Code[int]:
    """Pop once, or put it off: the ms until the next, or ``OVER``."""
    if pq.is_dropped:
        return OVER
    pq.last_pop = member.desk.at
    pause = _pause(member, pq)
    subscription = member.subscriptions.get(pq.mq.topic)
    if pause or subscription is None:
        return pause or member.desk.profile.error_delay
    timeout = member.desk.profile.suspend + LONGER
    answer = yield from member.desk.ask_master(pq.mq, _request(member, pq.mq, subscription), timeout)
    if isinstance(answer, PopMessageResponse):
        return _take_in(member, pq, answer, subscription)
    return _pause_after(member, answer)


def _pause(member: Member, pq: PopQueue) -> int:
    profile = member.desk.profile
    if not member.is_running:
        return profile.error_delay
    if member.is_paused:
        return profile.paused_delay
    if pq.waiting > member.settings.pop_threshold:
        member.flow_controlled += 1
        return profile.flow_delay
    return 0


def _pause_after(member: Member, answer: Refused | Failure) -> int:
    profile = member.desk.profile
    is_busy = isinstance(answer, Refused) and answer.code == ResponseCode.FLOW_CONTROL
    return profile.busy_delay if is_busy and profile.busy_delay is not None else profile.error_delay


def _request(member: Member, mq: MessageQueue, subscription: SubscriptionData) -> PopMessage:
    settings, desk = member.settings, member.desk
    is_first = settings.from_where is ConsumeFromWhere.CONSUME_FROM_FIRST_OFFSET
    return PopMessage(
        consumer_group=member.group,
        topic=mq.topic,
        queue_id=mq.queue_id,
        max_msg_nums=settings.pop_batch,
        invisible_time=settings.pop_invisible_ms,
        poll_time=desk.profile.suspend,
        born_time=desk.at,
        init_mode=FROM_MIN if is_first else FROM_MAX,
        exp_type=subscription.expression_type,
        exp=subscription.sub_string,
        order=False,
        bname=mq.broker,
    )


def _take_in(member: Member, pq: PopQueue, answer: PopMessageResponse, subscription: SubscriptionData) -> int:
    profile = member.desk.profile
    if answer.code == ResponseCode.POLLING_FULL:
        return profile.error_delay
    if answer.code != ResponseCode.SUCCESS:
        return 0
    try:
        popped = tuple(member.desk.read_popped(answer, pq.mq.broker))
    except BrokenMessage:
        return profile.error_delay
    kept = tuple(message for message in popped if _is_for_us(member, message, subscription))
    for message in popped:
        if message not in kept:
            _acknowledge(member, pq.mq, message)
    if not kept:
        return 0
    pq.waiting += len(kept)
    for first in range(0, len(kept), member.settings.batch):
        member.pool.submit(_consume(member, pq, kept[first : first + member.settings.batch]))
    return member.settings.pull_interval_ms


def _is_for_us(member: Member, message: Message, subscription: SubscriptionData) -> bool:
    return is_wanted(subscription, message.tags) and message.reconsume_times <= member.settings.attempts


# ---- consuming ----


def _consume(member: Member, pq: PopQueue, batch: Sequence[Message]) -> Code[None]:
    if pq.is_dropped:  # they come again, to somebody else
        return
    if _counts(member, pq, batch[0]):
        heard: Consumed = yield HandOut(member.group, pq.mq, tuple(batch))
        if _counts(member, pq, batch[0]):
            _settle(member, pq, batch, heard)
    pq.waiting -= len(batch)


def _counts(member: Member, pq: PopQueue, message: Message) -> bool:
    """Whether the queue is still ours, and the message's time is not over (``isPopTimeout``)."""
    return not (pq.is_dropped or message.checkpoint is None or message.checkpoint.is_over(member.desk.at))


def _settle(member: Member, pq: PopQueue, batch: Sequence[Message], heard: Consumed) -> None:
    """Acknowledge what succeeded, and let the others come again (``processConsumeResult``)."""
    done = 0 if heard.result is Result.LATER else len(batch) if heard.done is None else min(heard.done, len(batch))
    for message in batch[:done]:
        _acknowledge(member, pq.mq, message)
    for message in batch[done:]:
        level = _delay_level(member, message, heard.delay_level)
        if level is None:
            _acknowledge(member, pq.mq, message)
        else:
            _postpone(member, pq.mq, message, 1_000 * DELAYS[min(level, len(DELAYS) - 1)])


def _delay_level(member: Member, message: Message, asked: int) -> int | None:
    """Say how late a failed message comes again, as an index into ``DELAYS``; None: it failed often and long enough."""
    if message.reconsume_times < member.settings.attempts:
        return asked or message.reconsume_times
    age = member.desk.at - message.born_at
    if age > 2_000 * DELAYS[-1]:
        return None
    level = sum(age >= 1_000 * delay for delay in DELAYS)
    return level or message.reconsume_times  # Java takes level 0 for "not said"


# ---- what the broker is told ----


def _acknowledge(member: Member, mq: MessageQueue, message: Message) -> None:
    if message.checkpoint is not None:
        member.desk.threads.spawn(_send_ack(member, mq, message.checkpoint))


def _send_ack(member: Member, mq: MessageQueue, checkpoint: Checkpoint) -> Code[None]:
    request = AckMessage(
        consumer_group=member.group,
        topic=checkpoint.topic(mq.topic, member.group),
        queue_id=checkpoint.queue_id,
        extra_info=str(checkpoint),
        offset=checkpoint.offset,
        bname=checkpoint.broker,
    )
    yield from member.desk.ask_master(_home(mq, checkpoint), request, ACK_TIMEOUT)  # what came of it nobody looks at


def _postpone(member: Member, mq: MessageQueue, message: Message, ms: int) -> None:
    if message.checkpoint is not None:
        member.desk.threads.spawn(_send_postponed(member, mq, message.checkpoint, ms))


def _send_postponed(member: Member, mq: MessageQueue, checkpoint: Checkpoint, ms: int) -> Code[None]:
    request = ChangeMessageInvisibletime(
        consumer_group=member.group,
        topic=checkpoint.topic(mq.topic, member.group),
        queue_id=checkpoint.queue_id,
        extra_info=str(checkpoint),
        offset=checkpoint.offset,
        invisible_time=ms,
        bname=checkpoint.broker,
    )
    yield from member.desk.ask_master(_home(mq, checkpoint), request, ACK_TIMEOUT)


def _home(mq: MessageQueue, checkpoint: Checkpoint) -> MessageQueue:
    return MessageQueue(mq.topic, checkpoint.broker, checkpoint.queue_id)
