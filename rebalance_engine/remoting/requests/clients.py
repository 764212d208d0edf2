"""What brokers ask of clients, over the connection that the client opened; observers ask brokers to relay two of them.

Sources: ``remoting/.../protocol/header/ResetOffsetRequestHeader.java``, ``GetConsumerStatusRequestHeader.java``,
``GetConsumerRunningInfoRequestHeader.java``, ``ConsumeMessageDirectlyResultRequestHeader.java``;
``client/.../impl/ClientRemotingProcessor.java``; ``broker/.../client/net/Broker2Client.java``.
"""

from __future__ import annotations

from dataclasses import dataclass

from rebalance_engine.remoting.bodies.queues import (
    ConsumeMessageDirectlyResult,
    ConsumerRunningInfo,
    GetConsumerStatusBody,
    ResetOffsetBody,
)
from rebalance_engine.remoting.codes import RequestCode
from rebalance_engine.remoting.java import Int32
from rebalance_engine.remoting.requests.contract import Response, RpcRequest


@dataclass(frozen=True, slots=True, kw_only=True)
class ResetConsumerClientOffset(RpcRequest[Response]):
    """Broker to member, one-way: go to these offsets."""

    CODE = RequestCode.RESET_CONSUMER_CLIENT_OFFSET

    topic: str
    group: str
    timestamp: int
    is_force: bool = False
    queue_id: Int32 | None = None
    offset: int | None = None
    body: ResetOffsetBody


@dataclass(frozen=True, slots=True, kw_only=True)
class GetConsumerStatusResponse(Response):
    """The offsets."""

    body: GetConsumerStatusBody


@dataclass(frozen=True, slots=True, kw_only=True)
class GetConsumerStatusFromClient(RpcRequest[GetConsumerStatusResponse]):
    """Broker to member: which offsets are you at?"""

    CODE = RequestCode.GET_CONSUMER_STATUS_FROM_CLIENT
    RESPONSE = GetConsumerStatusResponse

    topic: str
    group: str
    client_addr: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class InvokeBrokerToGetConsumerStatus(RpcRequest[GetConsumerStatusResponse]):
    """Ask the broker to ask all members, or one, for their offsets; it waits up to 5 s for each."""

    CODE = RequestCode.INVOKE_BROKER_TO_GET_CONSUMER_STATUS
    RESPONSE = GetConsumerStatusResponse

    topic: str
    group: str
    client_addr: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class GetConsumerRunningInfoResponse(Response):
    """What the consumer tells of itself."""

    body: ConsumerRunningInfo


@dataclass(frozen=True, slots=True, kw_only=True)
class GetConsumerRunningInfo(RpcRequest[GetConsumerRunningInfoResponse]):
    """Ask a consumer, through its broker, what it holds. A broker thread waits up to 10 s for it."""

    CODE = RequestCode.GET_CONSUMER_RUNNING_INFO
    RESPONSE = GetConsumerRunningInfoResponse

    consumer_group: str
    client_id: str
    jstack_enable: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class ConsumeMessageDirectlyResponse(Response):
    """What came of it."""

    body: ConsumeMessageDirectlyResult


@dataclass(frozen=True, slots=True, kw_only=True)
class ConsumeMessageDirectly(RpcRequest[ConsumeMessageDirectlyResponse]):
    """Broker to member: consume this message now; ``body`` is the message, as stored."""

    CODE = RequestCode.CONSUME_MESSAGE_DIRECTLY
    RESPONSE = ConsumeMessageDirectlyResponse

    consumer_group: str
    client_id: str | None = None
    msg_id: str | None = None
    broker_name: str | None = None
    topic: str | None = None
    topic_sys_flag: int | None = None
    group_sys_flag: int | None = None
    body: bytes = b""
