"""What operators ask of brokers besides: single messages, rates, deleting and cleaning.

Sources: ``remoting/.../protocol/header/*Header.java``, each class under its own name;
``broker/.../processor/AdminBrokerProcessor.java``, ``QueryMessageProcessor.java``.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

from rebalance_engine.remoting.bodies.routes import TopicList
from rebalance_engine.remoting.bodies.upkeep import (
    BrokerStatsData,
    DelayOffsetSerializeWrapper,
    HARuntimeInfo,
    QueryConsumeQueueResponseBody,
    QueryConsumeTimeSpanBody,
    QueryCorrectionOffsetBody,
    QuerySubscriptionResponseBody,
    TopicConfigAndQueueMapping,
)
from rebalance_engine.remoting.codes import RequestCode
from rebalance_engine.remoting.java import Int32
from rebalance_engine.remoting.requests.contract import Request, Response, RpcRequest

# ---- single messages ----


@dataclass(frozen=True, slots=True, kw_only=True)
class QueryMessageResponse(Response):
    """The messages, as stored, one after another. None at all is refused with QUERY_NOT_FOUND."""

    index_last_update_timestamp: int = 0
    index_last_update_phyoffset: int = 0
    body: bytes = b""


@dataclass(frozen=True, slots=True, kw_only=True)
class QueryMessage(RpcRequest[QueryMessageResponse]):
    """Ask for the messages of a topic that have a key, or (``is_unique_key``) a unique id. Times are in ms."""

    CODE = RequestCode.QUERY_MESSAGE
    RESPONSE = QueryMessageResponse
    NAMES: ClassVar[Mapping[str, str]] = {"is_unique_key": "_UNIQUE_KEY_QUERY"}

    topic: str
    key: str
    max_num: int
    begin_timestamp: int
    end_timestamp: int
    is_unique_key: bool | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ViewMessageByIdResponse(Response):
    """The message, as stored."""

    body: bytes = b""


@dataclass(frozen=True, slots=True, kw_only=True)
class ViewMessageById(RpcRequest[ViewMessageByIdResponse]):
    """Ask for the message at a position of the log, which its offset id names."""

    CODE = RequestCode.VIEW_MESSAGE_BY_ID
    RESPONSE = ViewMessageByIdResponse

    offset: int
    topic: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class GetEarliestMsgStoretimeResponse(Response):
    """When it was stored, in ms."""

    timestamp: int


@dataclass(frozen=True, slots=True, kw_only=True)
class GetEarliestMsgStoretime(RpcRequest[GetEarliestMsgStoretimeResponse]):
    """Ask since when the oldest message of a queue is there."""

    CODE = RequestCode.GET_EARLIEST_MSG_STORETIME
    RESPONSE = GetEarliestMsgStoretimeResponse

    topic: str
    queue_id: Int32


@dataclass(frozen=True, slots=True, kw_only=True)
class QueryConsumeQueueResponse(Response):
    """A part of the index."""

    body: QueryConsumeQueueResponseBody


@dataclass(frozen=True, slots=True, kw_only=True)
class QueryConsumeQueue(RpcRequest[QueryConsumeQueueResponse]):
    """Ask for a part of the index of a queue."""

    CODE = RequestCode.QUERY_CONSUME_QUEUE
    RESPONSE = QueryConsumeQueueResponse

    topic: str
    queue_id: Int32
    index: int
    count: int
    consumer_group: str | None = None


# ---- how it runs ----


@dataclass(frozen=True, slots=True, kw_only=True)
class ViewBrokerStatsDataResponse(Response):
    """The rates. What nobody counted is refused with SYSTEM_ERROR."""

    body: BrokerStatsData


@dataclass(frozen=True, slots=True, kw_only=True)
class ViewBrokerStatsData(Request[ViewBrokerStatsDataResponse]):
    """Ask for the rates of something, such as ``TOPIC_PUT_NUMS`` of a topic."""

    CODE = RequestCode.VIEW_BROKER_STATS_DATA
    RESPONSE = ViewBrokerStatsDataResponse

    stats_name: str
    stats_key: str


@dataclass(frozen=True, slots=True, kw_only=True)
class QueryConsumeTimeSpanResponse(Response):
    """The time spans of the queues."""

    body: QueryConsumeTimeSpanBody


@dataclass(frozen=True, slots=True, kw_only=True)
class QueryConsumeTimeSpan(RpcRequest[QueryConsumeTimeSpanResponse]):
    """Ask how late a group is in a topic, in time."""

    CODE = RequestCode.QUERY_CONSUME_TIME_SPAN
    RESPONSE = QueryConsumeTimeSpanResponse

    topic: str
    group: str


@dataclass(frozen=True, slots=True, kw_only=True)
class QueryCorrectionOffsetResponse(Response):
    """The smallest offsets."""

    body: QueryCorrectionOffsetBody


@dataclass(frozen=True, slots=True, kw_only=True)
class QueryCorrectionOffset(RpcRequest[QueryCorrectionOffsetResponse]):
    """Ask for the smallest offset of some groups (comma-separated) in each queue of a topic."""

    CODE = RequestCode.QUERY_CORRECTION_OFFSET
    RESPONSE = QueryCorrectionOffsetResponse

    filter_groups: str | None = None
    compare_group: str
    topic: str


@dataclass(frozen=True, slots=True, kw_only=True)
class QuerySubscriptionByConsumerResponse(Response):
    """The subscription."""

    body: QuerySubscriptionResponseBody


@dataclass(frozen=True, slots=True, kw_only=True)
class QuerySubscriptionByConsumer(RpcRequest[QuerySubscriptionByConsumerResponse]):
    """Ask what a group wants of a topic (5.x)."""

    CODE = RequestCode.QUERY_SUBSCRIPTION_BY_CONSUMER
    RESPONSE = QuerySubscriptionByConsumerResponse

    group: str
    topic: str


@dataclass(frozen=True, slots=True, kw_only=True)
class GetAllDelayOffsetResponse(Response):
    """The offsets by level."""

    body: DelayOffsetSerializeWrapper


@dataclass(frozen=True, slots=True, kw_only=True)
class GetAllDelayOffset(Request[GetAllDelayOffsetResponse]):
    """Ask how far the delayed messages are delivered."""

    CODE = RequestCode.GET_ALL_DELAY_OFFSET
    RESPONSE = GetAllDelayOffsetResponse


@dataclass(frozen=True, slots=True, kw_only=True)
class GetBrokerHaStatusResponse(Response):
    """How the broker is replicated."""

    body: HARuntimeInfo


@dataclass(frozen=True, slots=True, kw_only=True)
class GetBrokerHaStatus(Request[GetBrokerHaStatusResponse]):
    """Ask how the broker is replicated (5.x)."""

    CODE = RequestCode.GET_BROKER_HA_STATUS
    RESPONSE = GetBrokerHaStatusResponse


# ---- topics and groups ----


@dataclass(frozen=True, slots=True, kw_only=True)
class GetSystemTopicListFromBrokerResponse(Response):
    """Names of topics."""

    body: TopicList


@dataclass(frozen=True, slots=True, kw_only=True)
class GetSystemTopicListFromBroker(Request[GetSystemTopicListFromBrokerResponse]):
    """Ask for the names of RocketMQ's own topics."""

    CODE = RequestCode.GET_SYSTEM_TOPIC_LIST_FROM_BROKER
    RESPONSE = GetSystemTopicListFromBrokerResponse


@dataclass(frozen=True, slots=True, kw_only=True)
class GetTopicConfigResponse(Response):
    """The topic. An unknown one is refused with TOPIC_NOT_EXIST."""

    body: TopicConfigAndQueueMapping


@dataclass(frozen=True, slots=True, kw_only=True)
class GetTopicConfig(RpcRequest[GetTopicConfigResponse]):
    """Ask for one topic (5.x)."""

    CODE = RequestCode.GET_TOPIC_CONFIG
    RESPONSE = GetTopicConfigResponse

    topic: str


@dataclass(frozen=True, slots=True, kw_only=True)
class DeleteTopicInBroker(RpcRequest[Response]):
    """Delete a topic and its messages."""

    CODE = RequestCode.DELETE_TOPIC_IN_BROKER

    topic: str


@dataclass(frozen=True, slots=True, kw_only=True)
class DeleteSubscriptiongroup(RpcRequest[Response]):
    """Delete what is configured of a group, and its offsets if so wanted."""

    CODE = RequestCode.DELETE_SUBSCRIPTIONGROUP

    group_name: str
    clean_offset: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class CloneGroupOffset(RpcRequest[Response]):
    """Let a group begin where another one is, in one topic or in all of its."""

    CODE = RequestCode.CLONE_GROUP_OFFSET

    src_group: str
    dest_group: str
    topic: str | None = None
    offline: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class UpdateBrokerConfig(Request[Response]):
    """Change settings: one ``key=value`` a line."""

    CODE = RequestCode.UPDATE_BROKER_CONFIG

    body: str


@dataclass(frozen=True, slots=True, kw_only=True)
class CleanExpiredConsumequeue(Request[Response]):
    """Remove what is left of queues whose messages are gone."""

    CODE = RequestCode.CLEAN_EXPIRED_CONSUMEQUEUE


@dataclass(frozen=True, slots=True, kw_only=True)
class CleanUnusedTopic(Request[Response]):
    """Remove what is left of topics that are gone."""

    CODE = RequestCode.CLEAN_UNUSED_TOPIC


@dataclass(frozen=True, slots=True, kw_only=True)
class DeleteExpiredCommitlog(Request[Response]):
    """Remove messages that are kept for too long."""

    CODE = RequestCode.DELETE_EXPIRED_COMMITLOG
