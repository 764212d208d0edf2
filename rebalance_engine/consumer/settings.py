"""What an application configures; defaults are Java's, and None is the profile's.

Sources: ``client/.../ClientConfig.java``, ``consumer/DefaultMQPushConsumer.java``, ``DefaultLitePullConsumer.java``.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import Any

from rebalance_engine.allocation.contract import Strategy
from rebalance_engine.effects import Address
from rebalance_engine.model import RETRY_TOPIC_PREFIX, MessageModel
from rebalance_engine.remoting.bodies.clients import ConsumeFromWhere, ConsumeType

UNLIMITED = 2**31 - 1
SHORTEST_INVISIBLE, LONGEST_INVISIBLE = 5_000, 300_000  # ms; ``DefaultMQPushConsumerImpl.checkConfig``


class Mode(Enum):
    """How the application gets messages."""

    PUSH = "a listener"
    PULL = "poll, of the queues that the rebalance gives"
    ASSIGN = "poll, of the queues that the application names"
    BY_HAND = "pull by itself, from the queues that the rebalance gives"  # the legacy ``DefaultMQPullConsumer``


@dataclass(frozen=True, slots=True, kw_only=True)
class ClientSettings:
    """One client process.

    Attributes:
        client_id: ``clientIP@instanceName``.
        name_servers: where they listen.
        heartbeat_v2: ``useHeartbeatV2``: leave out subscriptions that a broker already has (5.1.3 and later).
        utc_offset_ms: by how much the machine's zone is ahead of UTC; only Go's start by timestamp looks at it.
        waits_to_heartbeat: news for brokers waits while other heartbeats are sent, and goes out after them. Java skips
            it, and its brokers refuse pulls until the next heartbeat is due; but there the sending takes a millisecond.
        channel_listener: heartbeat and rebalance when a channel opens (``enableHeartbeatChannelEventListener``).
        persist_every_ms: ``persistConsumerOffsetInterval``.
        heartbeat_every_ms: ``heartbeatBrokerInterval``.
        routes_every_ms: ``pollNameServerInterval``.
    """

    client_id: str
    name_servers: tuple[Address, ...]
    heartbeat_v2: bool = False
    utc_offset_ms: int = 0
    waits_to_heartbeat: bool = False
    channel_listener: bool = True
    persist_every_ms: int = 5_000
    heartbeat_every_ms: int = 30_000
    routes_every_ms: int = 30_000


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupSettings:
    """One consumer of a group.

    Attributes:
        topics: topic -> subscription expression, of tags or an :class:`~rebalance_engine.remoting.tags.Sql`; the retry
            topic is added where Java adds it.
        strategy: a name of ``STRATEGIES``, whose parameters are ``strategy_params``; or a strategy of one's own.
        orderly: the listener is an orderly one.
        from_timestamp: for CONSUME_FROM_TIMESTAMP, in ms; None: half an hour before the start.
        threads: ``consumeThreadMin``, the size of the pool as its queue has no bound.
        batch: ``consumeMessageBatchMaxSize``.
        max_reconsume_times: -1 is 16 for a concurrent, unlimited for an orderly one.
        queue_messages, queue_mib, span: ``pullThresholdForQueue``, ``pullThresholdSizeForQueue``,
            ``consumeConcurrentlyMaxSpan``.
        topic_messages, topic_mib: ``pullThresholdForTopic`` and its size; -1 is off.
        pull_batch: ``pullBatchSize``.
        async_pull: C++'s ``setAsyncPull``; other clients do not know it.
        suspend_ms: ``suspendCurrentQueueTimeMillis``; C++ and Go heed none.
        consume_timeout_ms: ``consumeTimeout``.
        rebalances: of a consumer that pulls by hand (``enableRebalance``).
        client_rebalance: False lets the broker divide the queues (``clientRebalance``).
        pop_batch, pop_threshold, pop_invisible_ms: ``popBatchNums``, ``popThresholdForQueue`` and ``popInvisibleTime``,
            for queues that the broker assigns by POP.
        auto_commit_ms: lite pull commits inside of a poll this often; None: never.
    """

    group: str
    topics: Mapping[str, str]
    mode: Mode = Mode.PUSH
    strategy: str | Strategy | None = None
    strategy_params: Mapping[str, Any] = field(default_factory=dict)
    model: MessageModel = MessageModel.CLUSTERING
    orderly: bool = False
    from_where: ConsumeFromWhere = ConsumeFromWhere.CONSUME_FROM_LAST_OFFSET
    from_timestamp: int | None = None
    threads: int = 20
    batch: int = 1
    max_reconsume_times: int = -1
    queue_messages: int | None = None
    queue_mib: int | None = None
    span: int | None = None
    topic_messages: int | None = None
    topic_mib: int | None = None
    pull_batch: int | None = None
    async_pull: bool = True
    pull_interval_ms: int = 0
    suspend_ms: int = 1_000
    consume_timeout_ms: int = 900_000
    rebalances: bool = True
    client_rebalance: bool = True
    pop_batch: int = 32
    pop_threshold: int = 96
    pop_invisible_ms: int = 60_000
    auto_commit_ms: int | None = 5_000

    def __post_init__(self) -> None:
        """Refuse what no consumer can be.

        Raises:
            ValueError: fields that do not go together.
        """
        if not self.group or self.threads < 1 or self.batch < 1:
            seen = f"group {self.group!r}, {self.threads} threads, batch {self.batch}"
            raise ValueError(f"{seen}; needed are a name, a thread and a message at least")
        if not SHORTEST_INVISIBLE <= self.pop_invisible_ms <= LONGEST_INVISIBLE:
            needed = f"{SHORTEST_INVISIBLE} to {LONGEST_INVISIBLE}"
            raise ValueError(f"group {self.group!r} pops for {self.pop_invisible_ms} ms; needed are {needed}")
        if self.mode is not Mode.PUSH and self.orderly:
            raise ValueError(f"group {self.group!r} is orderly and {self.mode.value!r}; only a listener can be orderly")

    @property
    def is_clustering(self) -> bool:
        """Whether members share the queues."""
        return self.model is MessageModel.CLUSTERING

    @property
    def locks_queues(self) -> bool:
        """Whether queues are consumed under a broker's lock."""
        return self.orderly and self.is_clustering

    @property
    def consume_type(self) -> ConsumeType:
        """What heartbeats say."""
        return ConsumeType.CONSUME_PASSIVELY if self.mode is Mode.PUSH else ConsumeType.CONSUME_ACTIVELY

    @property
    def retry_topic(self) -> str:
        """Where failed messages come back."""
        return RETRY_TOPIC_PREFIX + self.group

    @property
    def attempts(self) -> int:
        """How often a message is retried before it is a dead letter."""
        if self.max_reconsume_times >= 0:
            return self.max_reconsume_times
        return UNLIMITED if self.orderly else 16
