"""Where topics are: routes, brokers, clusters.

Sources: ``remoting/.../protocol/route/*.java``; ``remoting/.../protocol/statictopic/TopicQueueMappingInfo.java``,
``TopicQueueMappingDetail.java``, ``LogicQueueMappingItem.java``; ``remoting/.../protocol/body/ClusterInfo.java``,
``TopicList.java``, ``GroupList.java``.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import ClassVar

from rebalance_engine.remoting.errors import BrokenContent
from rebalance_engine.remoting.java import Int32, JavaObject

MOST_QUEUES = 2**20  # of one topic, readable or writable; a few digits must not fill a client's memory
MASTER_ID = 0
PERM_READ = 4
PERM_WRITE = 2
PERM_INHERIT = 1
_ORDERED = re.compile(r"[^:;]*:\s*\+?([0-9]+)[^;]*")


@dataclass(frozen=True, slots=True, kw_only=True)
class QueueData(JavaObject):
    """The queues of one topic on one broker."""

    ALIASES: ClassVar[Mapping[str, str]] = {"topicSynFlag": "topic_sys_flag"}  # servers before 4.9

    broker_name: str
    read_queue_nums: Int32
    write_queue_nums: Int32
    perm: Int32
    topic_sys_flag: int = 0

    @property
    def is_readable(self) -> bool:
        """Whether consumers divide its queues."""
        return bool(self.perm & PERM_READ)

    @property
    def is_writable(self) -> bool:
        """Whether producers send to its queues."""
        return bool(self.perm & PERM_WRITE)


@dataclass(frozen=True, slots=True, kw_only=True)
class BrokerData(JavaObject):
    """One broker group: a master, its slaves, and where they listen."""

    cluster: str | None = None
    broker_name: str
    broker_addrs: Mapping[int, str] = field(default_factory=dict)
    zone_name: str | None = None
    enable_acting_master: bool = False

    @property
    def master_address(self) -> str | None:
        """Where the master listens, if there is one."""
        return self.broker_addrs.get(MASTER_ID)


@dataclass(frozen=True, slots=True, kw_only=True)
class TopicQueueMappingInfo(JavaObject):
    """Which logical queues of a static topic one broker hosts; ``curr_id_map`` is logical id -> physical id."""

    topic: str | None = None
    scope: str | None = None
    total_queues: Int32 = 0
    bname: str | None = None
    epoch: int = 0
    dirty: bool = False
    curr_id_map: Mapping[int, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class LogicQueueMappingItem(JavaObject):
    """One stretch of a logical queue's life on one broker."""

    gen: int = 0
    queue_id: Int32 = 0
    bname: str | None = None
    logic_offset: int = 0
    start_offset: int = 0
    end_offset: int = -1
    time_of_start: int = -1
    time_of_end: int = -1


@dataclass(frozen=True, slots=True, kw_only=True)
class TopicQueueMappingDetail(TopicQueueMappingInfo):
    """The same with the whole history of each logical queue."""

    hosted_queues: Mapping[int, tuple[LogicQueueMappingItem, ...]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class TopicRouteData(JavaObject):
    """Where a topic is. What names more than ``MOST_QUEUES`` queues is no route: clients make a value of each queue.

    Raises:
        BrokenContent: it names more.

    Attributes:
        order_topic_conf: ``brokerA:4;brokerB:4``; replaces the publish view where it is not empty.
        topic_queue_mapping_by_broker: not empty for static topics.
    """

    order_topic_conf: str | None = None
    queue_datas: tuple[QueueData, ...] = ()
    broker_datas: tuple[BrokerData, ...] = ()
    filter_server_table: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    topic_queue_mapping_by_broker: Mapping[str, TopicQueueMappingInfo] | None = None

    def __post_init__(self) -> None:
        """Hold the numbers of queues to what can be listed."""
        datas = self.queue_datas
        for count, what in (
            (sum(max(0, data.read_queue_nums) for data in datas), "readable queues"),
            (sum(max(0, data.write_queue_nums) for data in datas), "writable queues"),
            (_count_logical((self.topic_queue_mapping_by_broker or {}).values()), "logical queues"),
            (_count_ordered(self.order_topic_conf or ""), "ordered queues"),
        ):
            if count > MOST_QUEUES:
                raise BrokenContent(f"the route names {count} {what}; it needs to be {MOST_QUEUES} at most")


def _count_logical(mappings: Iterable[TopicQueueMappingInfo]) -> int:
    """Add up the scopes of a static topic; each has as many queues as its largest mapping says."""
    totals: dict[str | None, int] = {}
    for mapping in mappings:
        totals[mapping.scope] = max(totals.get(mapping.scope, 0), mapping.total_queues)
    return sum(totals.values())


def _count_ordered(configuration: str) -> int:
    """Add up an order configuration, as the most generous client reads it; longer numbers are none to any of them."""
    counts = (_ORDERED.match(entry) for entry in configuration.split(";"))
    return sum(int(count[1][:9]) for count in counts if count)


@dataclass(frozen=True, slots=True, kw_only=True)
class ClusterInfo(JavaObject):
    """All brokers that one NameServer knows, and the clusters they form."""

    broker_addr_table: Mapping[str, BrokerData] = field(default_factory=dict)
    cluster_addr_table: Mapping[str, tuple[str, ...]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class TopicList(JavaObject):
    """Names of topics."""

    topic_list: tuple[str, ...] = ()
    broker_addr: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupList(JavaObject):
    """Names of consumer groups."""

    group_list: tuple[str, ...] = ()
