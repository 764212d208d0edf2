"""Where to go on in a queue that was just taken.

Source: ``client/.../impl/consumer/RebalancePushImpl.java`` (``computePullFromWhereWithException``).
"""

from __future__ import annotations

from rebalance_engine.consumer.member import Member
from rebalance_engine.consumer.offsets import NOT_STORED, UNKNOWN
from rebalance_engine.consumer.settings import Mode
from rebalance_engine.consumer.threads import Code
from rebalance_engine.model import RETRY_TOPIC_PREFIX, MessageQueue
from rebalance_engine.remoting.bodies.clients import ConsumeFromWhere
from rebalance_engine.remoting.requests.consuming import GetMaxOffset, OffsetResponse, SearchOffsetByTimestamp

HALF_AN_HOUR = 1_800_000  # ms; how far back an unset ``consumeTimestamp`` is


def start_offset(member: Member, mq: MessageQueue) -> Code[int]:
    """Find where to start: the stored offset, else by ``consumeFromWhere``; negative: not to be known now.

    Who pulls by hand starts where he likes: to the table it is 0.
    """
    if member.settings.mode is Mode.BY_HAND:
        return 0
    stored = yield from member.offsets.read_stored(mq)
    if stored >= 0:
        return stored
    if stored == UNKNOWN:
        return UNKNOWN
    return (yield from _without_stored(member, mq))


def _without_stored(member: Member, mq: MessageQueue) -> Code[int]:
    from_where = member.settings.from_where
    is_retry = mq.topic.startswith(RETRY_TOPIC_PREFIX)
    if from_where is ConsumeFromWhere.CONSUME_FROM_FIRST_OFFSET:
        return 0
    if from_where is ConsumeFromWhere.CONSUME_FROM_TIMESTAMP:
        return (yield from _max_offset(member, mq) if is_retry else _at_time(member, mq))
    return 0 if is_retry else (yield from _max_offset(member, mq))


def _max_offset(member: Member, mq: MessageQueue) -> Code[int]:
    request = GetMaxOffset(topic=mq.topic, queue_id=mq.queue_id, bname=mq.broker)
    answer = yield from member.desk.ask_master(mq, request, member.desk.profile.end_timeout)
    return answer.offset if isinstance(answer, OffsetResponse) else UNKNOWN


def _at_time(member: Member, mq: MessageQueue) -> Code[int]:
    if not member.desk.profile.finds_by_time:
        return NOT_STORED
    timestamp = member.settings.from_timestamp
    if timestamp is None:
        timestamp = (member.started_at - HALF_AN_HOUR) // 1_000 * 1_000  # it is formatted in whole seconds
    if member.desk.profile.reads_time_as_utc:
        timestamp += member.desk.settings.utc_offset_ms
    request = SearchOffsetByTimestamp(
        topic=mq.topic, queue_id=mq.queue_id, timestamp=max(timestamp, 0), bname=mq.broker
    )
    answer = yield from member.desk.ask_master(mq, request, member.desk.profile.end_timeout)
    return answer.offset if isinstance(answer, OffsetResponse) else UNKNOWN
