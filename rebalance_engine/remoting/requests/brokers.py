"""What an observer reads from brokers.

All but GET_CONSUMER_LIST_BY_GROUP (``membership``) and QUERY_CONSUMER_OFFSET (``consuming``) run in the broker's admin
pool of 16 threads, together with requests that consumers depend on.

Sources: ``remoting/.../protocol/header/*.java``, each class under its own name;
``broker/.../processor/AdminBrokerProcessor.java``.
"""

from __future__ import annotations

from dataclasses import dataclass

from rebalance_engine.remoting.bodies.clients import ConsumerConnection, ProducerConnection, ProducerTableInfo
from rebalance_engine.remoting.bodies.queues import (
    ConsumerOffsetSerializeWrapper,
    ConsumeStats,
    ConsumeStatsList,
    TopicStatsTable,
)
from rebalance_engine.remoting.bodies.routes import GroupList, TopicList
from rebalance_engine.remoting.bodies.settings import (
    KVTable,
    MessageRequestModeSerializeWrapper,
    SubscriptionGroupConfig,
    SubscriptionGroupWrapper,
    TopicConfigSerializeWrapper,
)
from rebalance_engine.remoting.codes import RequestCode
from rebalance_engine.remoting.requests.contract import Request, Response, RpcRequest

# ---- what is configured ----


@dataclass(frozen=True, slots=True, kw_only=True)
class GetAllTopicConfigResponse(Response):
    """All topics of the broker."""

    total_topic_num: int | None = None
    body: TopicConfigSerializeWrapper


@dataclass(frozen=True, slots=True, kw_only=True)
class GetAllTopicConfig(RpcRequest[GetAllTopicConfigResponse]):
    """Ask for all topics. From 5.3.4 any of the three fields asks for a page; without them the whole table comes."""

    CODE = RequestCode.GET_ALL_TOPIC_CONFIG
    RESPONSE = GetAllTopicConfigResponse

    data_version: str | None = None
    topic_seq: int | None = None
    max_topic_num: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class GetAllSubscriptionGroupConfigResponse(Response):
    """All groups of the broker that are configured, online or not."""

    total_group_num: int | None = None
    body: SubscriptionGroupWrapper


@dataclass(frozen=True, slots=True, kw_only=True)
class GetAllSubscriptionGroupConfig(RpcRequest[GetAllSubscriptionGroupConfigResponse]):
    """Ask for all groups. From 5.3.4 any of the three fields asks for a page; without them the whole table comes."""

    CODE = RequestCode.GET_ALL_SUBSCRIPTIONGROUP_CONFIG
    RESPONSE = GetAllSubscriptionGroupConfigResponse

    data_version: str | None = None
    group_seq: int | None = None
    max_group_num: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class GetSubscriptionGroupConfigResponse(Response):
    """One group."""

    body: SubscriptionGroupConfig


@dataclass(frozen=True, slots=True, kw_only=True)
class GetSubscriptionGroupConfig(RpcRequest[GetSubscriptionGroupConfigResponse]):
    """Ask for one group. An unknown name can create it."""

    CODE = RequestCode.GET_SUBSCRIPTIONGROUP_CONFIG
    RESPONSE = GetSubscriptionGroupConfigResponse

    group: str


@dataclass(frozen=True, slots=True, kw_only=True)
class GetAllMessageRequestModeResponse(Response):
    """Which group gets which topic by POP."""

    body: MessageRequestModeSerializeWrapper


@dataclass(frozen=True, slots=True, kw_only=True)
class GetAllMessageRequestMode(Request[GetAllMessageRequestModeResponse]):
    """Ask which group gets which topic by POP (5.x)."""

    CODE = RequestCode.GET_ALL_MESSAGE_REQUEST_MODE
    RESPONSE = GetAllMessageRequestModeResponse


@dataclass(frozen=True, slots=True, kw_only=True)
class GetBrokerConfigResponse(Response):
    """One ``key=value`` a line. It may hold secrets."""

    version: str | None = None
    body: str


@dataclass(frozen=True, slots=True, kw_only=True)
class GetBrokerConfig(Request[GetBrokerConfigResponse]):
    """Ask for the broker's settings."""

    CODE = RequestCode.GET_BROKER_CONFIG
    RESPONSE = GetBrokerConfigResponse


@dataclass(frozen=True, slots=True, kw_only=True)
class GetBrokerRuntimeInfoResponse(Response):
    """Names and texts; they vary by version."""

    body: KVTable


@dataclass(frozen=True, slots=True, kw_only=True)
class GetBrokerRuntimeInfo(Request[GetBrokerRuntimeInfoResponse]):
    """Ask how the broker runs."""

    CODE = RequestCode.GET_BROKER_RUNTIME_INFO
    RESPONSE = GetBrokerRuntimeInfoResponse


# ---- who is there ----


@dataclass(frozen=True, slots=True, kw_only=True)
class QueryTopicConsumeByWhoResponse(Response):
    """Groups that are online or ever committed an offset."""

    body: GroupList


@dataclass(frozen=True, slots=True, kw_only=True)
class QueryTopicConsumeByWho(RpcRequest[QueryTopicConsumeByWhoResponse]):
    """Ask which groups consume a topic, or did."""

    CODE = RequestCode.QUERY_TOPIC_CONSUME_BY_WHO
    RESPONSE = QueryTopicConsumeByWhoResponse

    topic: str


@dataclass(frozen=True, slots=True, kw_only=True)
class QueryTopicsByConsumerResponse(Response):
    """Topics for which the group ever committed an offset."""

    body: TopicList


@dataclass(frozen=True, slots=True, kw_only=True)
class QueryTopicsByConsumer(RpcRequest[QueryTopicsByConsumerResponse]):
    """Ask which topics a group consumes, or did."""

    CODE = RequestCode.QUERY_TOPICS_BY_CONSUMER
    RESPONSE = QueryTopicsByConsumerResponse

    group: str


@dataclass(frozen=True, slots=True, kw_only=True)
class GetConsumerConnectionListResponse(Response):
    """The group. One that nobody of is here is refused with CONSUMER_NOT_ONLINE."""

    body: ConsumerConnection


@dataclass(frozen=True, slots=True, kw_only=True)
class GetConsumerConnectionList(RpcRequest[GetConsumerConnectionListResponse]):
    """Ask for a group's members and subscriptions."""

    CODE = RequestCode.GET_CONSUMER_CONNECTION_LIST
    RESPONSE = GetConsumerConnectionListResponse

    consumer_group: str


@dataclass(frozen=True, slots=True, kw_only=True)
class GetProducerConnectionListResponse(Response):
    """The producers. An unknown group is refused with SYSTEM_ERROR."""

    body: ProducerConnection


@dataclass(frozen=True, slots=True, kw_only=True)
class GetProducerConnectionList(RpcRequest[GetProducerConnectionListResponse]):
    """Ask for the producers of a group."""

    CODE = RequestCode.GET_PRODUCER_CONNECTION_LIST
    RESPONSE = GetProducerConnectionListResponse

    producer_group: str


@dataclass(frozen=True, slots=True, kw_only=True)
class GetAllProducerInfoResponse(Response):
    """All producers, by group."""

    body: ProducerTableInfo


@dataclass(frozen=True, slots=True, kw_only=True)
class GetAllProducerInfo(Request[GetAllProducerInfoResponse]):
    """Ask for all producers (4.9.4 and later)."""

    CODE = RequestCode.GET_ALL_PRODUCER_INFO
    RESPONSE = GetAllProducerInfoResponse


# ---- how far they are ----


@dataclass(frozen=True, slots=True, kw_only=True)
class GetConsumeStatsResponse(Response):
    """How far the group is; a queue never committed reads 0."""

    body: ConsumeStats


@dataclass(frozen=True, slots=True, kw_only=True)
class GetConsumeStats(RpcRequest[GetConsumeStatsResponse]):
    """Ask how far a group is; ``topic_list`` is separated by semicolons (5.3.2)."""

    CODE = RequestCode.GET_CONSUME_STATS
    RESPONSE = GetConsumeStatsResponse

    consumer_group: str
    topic: str | None = None
    topic_list: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class GetBrokerConsumeStatsResponse(Response):
    """How far all groups are."""

    body: ConsumeStatsList


@dataclass(frozen=True, slots=True, kw_only=True)
class GetBrokerConsumeStats(Request[GetBrokerConsumeStatsResponse]):
    """Ask how far all groups are, or those of ordered topics only."""

    CODE = RequestCode.GET_BROKER_CONSUME_STATS
    RESPONSE = GetBrokerConsumeStatsResponse

    is_order: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class GetAllConsumerOffsetResponse(Response):
    """All committed offsets."""

    body: ConsumerOffsetSerializeWrapper


@dataclass(frozen=True, slots=True, kw_only=True)
class GetAllConsumerOffset(Request[GetAllConsumerOffsetResponse]):
    """Ask for all committed offsets."""

    CODE = RequestCode.GET_ALL_CONSUMER_OFFSET
    RESPONSE = GetAllConsumerOffsetResponse


@dataclass(frozen=True, slots=True, kw_only=True)
class GetTopicStatsInfoResponse(Response):
    """The ends of the topic's queues."""

    body: TopicStatsTable


@dataclass(frozen=True, slots=True, kw_only=True)
class GetTopicStatsInfo(RpcRequest[GetTopicStatsInfoResponse]):
    """Ask for the ends of a topic's queues."""

    CODE = RequestCode.GET_TOPIC_STATS_INFO
    RESPONSE = GetTopicStatsInfoResponse

    topic: str
