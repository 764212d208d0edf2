"""Who has which queue, and how far: locks, assignments, offsets, and what a running consumer tells.

Sources: ``remoting/.../protocol/body/*.java`` and ``admin/*.java``, each class under its own name;
``common/.../message/MessageQueueAssignment.java``; ``remoting/.../protocol/body/CMResult.java``.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import ClassVar

from rebalance_engine.model import MessageModel, MessageQueue
from rebalance_engine.remoting.bodies.clients import SubscriptionData
from rebalance_engine.remoting.bodies.settings import DataVersion, MessageRequestMode
from rebalance_engine.remoting.java import Int32, JavaObject

# ---- locks and assignments ----


@dataclass(frozen=True, slots=True, kw_only=True)
class LockBatchRequestBody(JavaObject):
    """The queues that a client locks, or unlocks: Java's ``UnlockBatchRequestBody`` has the same fields."""

    consumer_group: str
    client_id: str
    only_this_broker: bool = False
    mq_set: tuple[MessageQueue, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class LockBatchResponseBody(JavaObject):
    """The queues whose lock the client now holds."""

    NAMES: ClassVar[Mapping[str, str]] = {"lock_ok_mq_set": "lockOKMQSet"}

    lock_ok_mq_set: tuple[MessageQueue, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class QueryAssignmentRequestBody(JavaObject):
    """Who asks the broker for queues, and by which strategy."""

    topic: str
    consumer_group: str
    client_id: str
    strategy_name: str
    message_model: MessageModel = MessageModel.CLUSTERING


@dataclass(frozen=True, slots=True, kw_only=True)
class MessageQueueAssignment(JavaObject):
    """A queue that the broker assigns; queue id -1 means any queue of that broker (POP)."""

    message_queue: MessageQueue
    mode: MessageRequestMode = MessageRequestMode.PULL
    attachments: Mapping[str, str] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class QueryAssignmentResponseBody(JavaObject):
    """What the broker assigns. None is *invalid: keep what you have*; empty is *drop everything*."""

    message_queue_assignments: tuple[MessageQueueAssignment, ...] | None = None


# ---- offsets ----


@dataclass(frozen=True, slots=True, kw_only=True)
class OffsetWrapper(JavaObject):
    """How far a group is in one queue. ``pull_offset`` is None before 5.1; ``last_timestamp`` is in ms."""

    broker_offset: int = 0
    consumer_offset: int = 0
    pull_offset: int | None = None
    last_timestamp: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class ConsumeStats(JavaObject):
    """How far a group is. Doubles that Java could not write are None."""

    offset_table: Mapping[MessageQueue, OffsetWrapper] = field(default_factory=dict)
    consume_tps: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ConsumeStatsList(JavaObject):
    """How far all groups of one broker are: for each group one ConsumeStats a topic."""

    consume_stats_list: tuple[Mapping[str, tuple[ConsumeStats, ...]], ...] = ()
    broker_addr: str | None = None
    total_diff: int = 0
    total_inflight_diff: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class TopicOffset(JavaObject):
    """The ends of one queue."""

    min_offset: int = 0
    max_offset: int = 0
    last_update_timestamp: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class TopicStatsTable(JavaObject):
    """The ends of a topic's queues on one broker."""

    offset_table: Mapping[MessageQueue, TopicOffset] = field(default_factory=dict)
    topic_put_tps: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ConsumerOffsetSerializeWrapper(JavaObject):
    """All committed offsets of one broker: ``topic@group`` -> queue id -> offset. Only 5.x adds the others."""

    offset_table: Mapping[str, Mapping[int, int]] = field(default_factory=dict)
    pull_offset_table: Mapping[str, Mapping[int, int]] | None = None
    group_topic_map: Mapping[str, tuple[str, ...]] | None = None
    data_version: DataVersion | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class MessageQueueForC(JavaObject):
    """A queue with the offset it is reset to, as C++ clients read it."""

    topic: str
    broker_name: str
    queue_id: Int32
    offset: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ResetOffsetBody(JavaObject):
    """The offsets that a consumer is reset to: by queue, or as C++ clients read them (``ResetOffsetBodyForC``)."""

    offset_table: Mapping[MessageQueue, int] | tuple[MessageQueueForC, ...] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class GetConsumerStatusBody(JavaObject):
    """The offsets that a consumer is at; ``consumer_table`` is client id -> its offsets."""

    message_queue_table: Mapping[MessageQueue, int] = field(default_factory=dict)
    consumer_table: Mapping[str, Mapping[MessageQueue, int]] = field(default_factory=dict)


# ---- a running consumer ----


@dataclass(frozen=True, slots=True, kw_only=True)
class ProcessQueueInfo(JavaObject):
    """One queue in a consumer's process-queue table; it is held unless it is ``dropped``. Times are in ms."""

    NAMES: ClassVar[Mapping[str, str]] = {"cached_msg_size_in_mib": "cachedMsgSizeInMiB", "dropped": "droped"}
    ALIASES: ClassVar[Mapping[str, str]] = {"dropped": "dropped"}  # the Go client spells it right

    commit_offset: int = 0
    cached_msg_min_offset: int = 0
    cached_msg_max_offset: int = 0
    cached_msg_count: int = 0
    cached_msg_size_in_mib: int = 0
    transaction_msg_min_offset: int = 0
    transaction_msg_max_offset: int = 0
    transaction_msg_count: int = 0
    locked: bool = False
    try_unlock_times: int = 0
    last_lock_timestamp: int = 0
    dropped: bool = False
    last_pull_timestamp: int = 0
    last_consume_timestamp: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class PopProcessQueueInfo(JavaObject):
    """One queue of a consumer in POP mode."""

    NAMES: ClassVar[Mapping[str, str]] = {"dropped": "droped"}
    ALIASES: ClassVar[Mapping[str, str]] = {"dropped": "dropped"}

    wait_ack_count: int = 0
    dropped: bool = False
    last_pop_timestamp: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class ConsumeStatus(JavaObject):
    """How fast a consumer works on one topic. RT is in ms; None is what Java could not write."""

    NAMES: ClassVar[Mapping[str, str]] = {
        "pull_rt": "pullRT",
        "pull_tps": "pullTPS",
        "consume_rt": "consumeRT",
        "consume_ok_tps": "consumeOKTPS",
        "consume_failed_tps": "consumeFailedTPS",
    }

    pull_rt: float | None = None
    pull_tps: float | None = None
    consume_rt: float | None = None
    consume_ok_tps: float | None = None
    consume_failed_tps: float | None = None
    consume_failed_msgs: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ConsumerRunningInfo(JavaObject):
    """What a consumer tells of itself; ``mq_table`` is what it holds.

    ``properties`` can hold passwords of proxies: keep and show only what is on a list.
    """

    properties: Mapping[str, str] = field(default_factory=dict)
    subscription_set: tuple[SubscriptionData, ...] = ()
    mq_table: Mapping[MessageQueue, ProcessQueueInfo] = field(default_factory=dict)
    mq_pop_table: Mapping[MessageQueue, PopProcessQueueInfo] | None = None
    status_table: Mapping[str, ConsumeStatus] = field(default_factory=dict)
    user_consumer_info: Mapping[str, str] | None = None
    jstack: str | None = None


class CMResult(Enum):
    """What came of consuming one message on demand."""

    CR_SUCCESS = "CR_SUCCESS"
    CR_LATER = "CR_LATER"
    CR_ROLLBACK = "CR_ROLLBACK"
    CR_COMMIT = "CR_COMMIT"
    CR_THROW_EXCEPTION = "CR_THROW_EXCEPTION"
    CR_RETURN_NULL = "CR_RETURN_NULL"


@dataclass(frozen=True, slots=True, kw_only=True)
class ConsumeMessageDirectlyResult(JavaObject):
    """What came of consuming one message on demand, and how long it took."""

    order: bool = False
    auto_commit: bool = True
    consume_result: CMResult | None = None
    remark: str | None = None
    spent_time_mills: int = 0
