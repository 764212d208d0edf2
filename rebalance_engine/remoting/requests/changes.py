"""What an operator changes on brokers. Each is sent to every master that should have it.

Sources: ``remoting/.../protocol/header/CreateTopicRequestHeader.java``, ``ResetOffsetRequestHeader.java``,
``UpdateGroupForbiddenRequestHeader.java``; ``broker/.../processor/AdminBrokerProcessor.java``,
``QueryAssignmentProcessor.java``.
"""

from __future__ import annotations

from dataclasses import dataclass

from rebalance_engine.remoting.bodies.queues import ResetOffsetBody
from rebalance_engine.remoting.bodies.settings import (
    GroupForbidden,
    SetMessageRequestModeRequestBody,
    SubscriptionGroupConfig,
)
from rebalance_engine.remoting.codes import RequestCode
from rebalance_engine.remoting.java import Int32
from rebalance_engine.remoting.requests.contract import Request, Response, RpcRequest
from rebalance_engine.remoting.requests.producing import DEFAULT_TOPIC

ALL_QUEUES = -1
NEWEST = -1
BY_TIME = -1


@dataclass(frozen=True, slots=True, kw_only=True)
class UpdateAndCreateTopic(RpcRequest[Response]):
    """Make a topic or change it; ``attributes`` is ``+name=value`` to set and ``-name`` to remove, with commas."""

    CODE = RequestCode.UPDATE_AND_CREATE_TOPIC

    topic: str
    default_topic: str = DEFAULT_TOPIC
    read_queue_nums: Int32
    write_queue_nums: Int32
    perm: Int32
    topic_filter_type: str = "SINGLE_TAG"
    topic_sys_flag: int = 0
    order: bool = False
    attributes: str | None = None
    force: bool | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class UpdateAndCreateSubscriptionGroup(RpcRequest[Response]):
    """Make a group or replace what is configured of it, as a whole."""

    CODE = RequestCode.UPDATE_AND_CREATE_SUBSCRIPTIONGROUP

    body: SubscriptionGroupConfig


@dataclass(frozen=True, slots=True, kw_only=True)
class InvokeBrokerToResetOffsetResponse(Response):
    """Where each queue was reset to."""

    body: ResetOffsetBody | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class InvokeBrokerToResetOffset(RpcRequest[InvokeBrokerToResetOffsetResponse]):
    """Move a group's offsets.

    Since 5.2.0 the broker does it itself; before, it tells all members to, and ignores ``queue_id`` and ``offset``.

    Attributes:
        timestamp: in ms; ``NEWEST`` is the end.
        queue_id: one queue, or ``ALL_QUEUES``.
        offset: this offset, or ``BY_TIME``.
    """

    CODE = RequestCode.INVOKE_BROKER_TO_RESET_OFFSET
    RESPONSE = InvokeBrokerToResetOffsetResponse

    group: str
    topic: str
    timestamp: int
    is_force: bool
    queue_id: Int32 = ALL_QUEUES
    offset: int = BY_TIME


@dataclass(frozen=True, slots=True, kw_only=True)
class SetMessageRequestMode(Request[Response]):
    """Say whether a group gets a topic by PULL or by POP."""

    CODE = RequestCode.SET_MESSAGE_REQUEST_MODE

    body: SetMessageRequestModeRequestBody


@dataclass(frozen=True, slots=True, kw_only=True)
class UpdateAndGetGroupForbiddenResponse(Response):
    """Whether the group may read the topic now."""

    body: GroupForbidden


@dataclass(frozen=True, slots=True, kw_only=True)
class UpdateAndGetGroupForbidden(RpcRequest[UpdateAndGetGroupForbiddenResponse]):
    """Let a group read a topic or not; without ``readable`` only ask (5.x)."""

    CODE = RequestCode.UPDATE_AND_GET_GROUP_FORBIDDEN
    RESPONSE = UpdateAndGetGroupForbiddenResponse

    group: str
    topic: str
    readable: bool | None = None
