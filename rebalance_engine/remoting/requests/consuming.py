"""Consuming: offsets, pulls, failed messages, queue locks, assignments by the broker.

Sources: ``remoting/.../protocol/header/*Header.java``, each class under its own name;
``broker/.../processor/PullMessageProcessor.java``, ``ConsumerManageProcessor.java``, ``AdminBrokerProcessor.java``,
``QueryAssignmentProcessor.java``.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import ClassVar

from rebalance_engine.remoting.bodies.queues import (
    LockBatchRequestBody,
    LockBatchResponseBody,
    QueryAssignmentRequestBody,
    QueryAssignmentResponseBody,
)
from rebalance_engine.remoting.codes import RequestCode, ResponseCode
from rebalance_engine.remoting.java import Int32
from rebalance_engine.remoting.requests.contract import Response, RpcRequest

# ---- offsets ----


@dataclass(frozen=True, slots=True, kw_only=True)
class OffsetResponse(Response):
    """An offset."""

    offset: int


@dataclass(frozen=True, slots=True, kw_only=True)
class QueryConsumerOffset(RpcRequest[OffsetResponse]):
    """Ask how far the group is in a queue; QUERY_NOT_FOUND when nothing is stored."""

    CODE = RequestCode.QUERY_CONSUMER_OFFSET
    RESPONSE = OffsetResponse

    consumer_group: str
    topic: str
    queue_id: Int32
    set_zero_if_not_found: bool | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class UpdateConsumerOffset(RpcRequest[Response]):
    """Store how far the group is in a queue; a smaller offset is stored too."""

    CODE = RequestCode.UPDATE_CONSUMER_OFFSET

    consumer_group: str
    topic: str
    queue_id: Int32
    commit_offset: int


@dataclass(frozen=True, slots=True, kw_only=True)
class GetMaxOffset(RpcRequest[OffsetResponse]):
    """Ask for the offset that the next message will get."""

    CODE = RequestCode.GET_MAX_OFFSET
    RESPONSE = OffsetResponse

    topic: str
    queue_id: Int32
    committed: bool | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class GetMinOffset(RpcRequest[OffsetResponse]):
    """Ask for the offset of the oldest message."""

    CODE = RequestCode.GET_MIN_OFFSET
    RESPONSE = OffsetResponse

    topic: str
    queue_id: Int32


class BoundaryType(Enum):
    """Which offset is meant where several messages have the same time; Java clients write the name."""

    LOWER = "lower"
    UPPER = "upper"


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchOffsetByTimestamp(RpcRequest[OffsetResponse]):
    """Ask for the offset at a time, in ms."""

    CODE = RequestCode.SEARCH_OFFSET_BY_TIMESTAMP
    RESPONSE = OffsetResponse

    topic: str
    queue_id: Int32
    timestamp: int
    boundary_type: BoundaryType | None = None


# ---- messages ----


@dataclass(frozen=True, slots=True, kw_only=True)
class PullMessageResponse(Response):
    """What the broker found. The ``remark`` is the store's status; ``body`` is stored messages, one after another.

    It comes with these fields for SUCCESS (found), PULL_NOT_FOUND, PULL_RETRY_IMMEDIATELY and PULL_OFFSET_MOVED.

    Attributes:
        suggest_which_broker_id: the broker id to ask next; 0 is the master.
        next_begin_offset: where to go on.
    """

    CODES: ClassVar[frozenset[int]] = frozenset(
        {
            ResponseCode.SUCCESS,
            ResponseCode.PULL_NOT_FOUND,
            ResponseCode.PULL_RETRY_IMMEDIATELY,
            ResponseCode.PULL_OFFSET_MOVED,
        }
    )

    suggest_which_broker_id: int
    next_begin_offset: int
    min_offset: int
    max_offset: int
    offset_delta: int | None = None
    topic_sys_flag: int | None = None
    group_sys_flag: int | None = None
    forbidden_type: int | None = None
    body: bytes = b""


@dataclass(frozen=True, slots=True, kw_only=True)
class PullMessage(RpcRequest[PullMessageResponse]):
    """Ask for messages of a queue, and wait for them.

    Attributes:
        sys_flag: bits, see ``sysflags.PullFlag``.
        commit_offset: how far the group is, if its bit is set.
        sub_version: of our subscription; a newer one than the broker has is refused with SUBSCRIPTION_NOT_LATEST.
        max_msg_bytes: 5.x.
    """

    CODE = RequestCode.PULL_MESSAGE
    RESPONSE = PullMessageResponse

    consumer_group: str
    topic: str
    queue_id: Int32
    queue_offset: int
    max_msg_nums: int
    sys_flag: int
    commit_offset: int
    suspend_timeout_millis: int
    subscription: str | None = None
    sub_version: int
    expression_type: str | None = None
    max_msg_bytes: int | None = None
    request_source: int | None = None
    proxy_froward_client_id: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class LitePullMessage(PullMessage):
    """The same from a client that does not push to its application."""

    CODE = RequestCode.LITE_PULL_MESSAGE


@dataclass(frozen=True, slots=True, kw_only=True)
class ConsumerSendMsgBack(RpcRequest[Response]):
    """Give a message back that could not be consumed.

    Attributes:
        offset: commit-log offset of the message.
        delay_level: -1 dead letter now, 0 the broker decides, above: a level.
    """

    CODE = RequestCode.CONSUMER_SEND_MSG_BACK

    offset: int
    group: str
    delay_level: int
    origin_msg_id: str | None = None
    origin_topic: str | None = None
    unit_mode: bool = False
    max_reconsume_times: int | None = None


# ---- locks and assignments ----


@dataclass(frozen=True, slots=True, kw_only=True)
class LockBatchMqResponse(Response):
    """The queues whose lock the client now holds."""

    body: LockBatchResponseBody


@dataclass(frozen=True, slots=True, kw_only=True)
class LockBatchMq(RpcRequest[LockBatchMqResponse]):
    """Lock queues for a client id, or hold on to them."""

    CODE = RequestCode.LOCK_BATCH_MQ
    RESPONSE = LockBatchMqResponse

    body: LockBatchRequestBody


@dataclass(frozen=True, slots=True, kw_only=True)
class UnlockBatchMq(RpcRequest[Response]):
    """Let go of queues."""

    CODE = RequestCode.UNLOCK_BATCH_MQ

    body: LockBatchRequestBody


@dataclass(frozen=True, slots=True, kw_only=True)
class QueryAssignmentResponse(Response):
    """The queues that the broker assigns."""

    body: QueryAssignmentResponseBody


@dataclass(frozen=True, slots=True, kw_only=True)
class QueryAssignment(RpcRequest[QueryAssignmentResponse]):
    """Let the broker divide the queues (5.x, ``clientRebalance=false``)."""

    CODE = RequestCode.QUERY_ASSIGNMENT
    RESPONSE = QueryAssignmentResponse

    body: QueryAssignmentRequestBody
