"""What operators read besides: rates, time spans, the index of a queue, replication.

Sources: ``remoting/.../protocol/body/*.java``, each class under its own name.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import ClassVar

from rebalance_engine.model import MessageQueue
from rebalance_engine.remoting.bodies.clients import SubscriptionData
from rebalance_engine.remoting.bodies.settings import TopicConfig
from rebalance_engine.remoting.java import JavaObject


@dataclass(frozen=True, slots=True, kw_only=True)
class BrokerStatsItem(JavaObject):
    """What went through in one span of time: how much, a second, and at a time."""

    sum: int = 0
    tps: float = 0.0
    avgpt: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class BrokerStatsData(JavaObject):
    """What went through in the last minute, hour and day."""

    stats_minute: BrokerStatsItem = BrokerStatsItem()
    stats_hour: BrokerStatsItem = BrokerStatsItem()
    stats_day: BrokerStatsItem = BrokerStatsItem()


@dataclass(frozen=True, slots=True, kw_only=True)
class QueueTimeSpan(JavaObject):
    """When the oldest, the newest and the next message of a queue were stored, in ms, and how late the group is."""

    message_queue: MessageQueue
    min_time_stamp: int = 0
    max_time_stamp: int = 0
    consume_time_stamp: int = 0
    delay_time: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class QueryConsumeTimeSpanBody(JavaObject):
    """The time spans of a topic's queues on one broker."""

    consume_time_span_set: tuple[QueueTimeSpan, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class QueryCorrectionOffsetBody(JavaObject):
    """Queue id -> the smallest offset of the compared groups."""

    correction_offsets: Mapping[int, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class ConsumeQueueData(JavaObject):
    """One message in the index of a queue: where it is in the log, its bytes, the hash of its tag."""

    physic_offset: int = 0
    physic_size: int = 0
    tags_code: int = 0
    extend_data_json: str | None = None
    bit_map: str | None = None
    eval: bool = False
    msg: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class QueryConsumeQueueResponseBody(JavaObject):
    """A part of the index of a queue."""

    subscription_data: SubscriptionData | None = None
    filter_data: str | None = None
    queue_data: tuple[ConsumeQueueData, ...] = ()
    max_queue_index: int = 0
    min_queue_index: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class QuerySubscriptionResponseBody(JavaObject):
    """What a group wants of a topic."""

    group: str
    topic: str
    subscription_data: SubscriptionData | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class TopicConfigAndQueueMapping(TopicConfig):
    """A topic on one broker; the mapping of static topics is left out."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DelayOffsetSerializeWrapper(JavaObject):
    """Delay level -> offset of the next message that waits in it."""

    offset_table: Mapping[int, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class HARuntimeInfo(JavaObject):
    """How a master is replicated; the lists of connections are left out."""

    NAMES: ClassVar[Mapping[str, str]] = {"is_master": "master"}

    is_master: bool = True
    master_commit_log_max_offset: int = 0
    in_sync_slave_nums: int = 0
    ha_connection_info: tuple[str, ...] = ()
