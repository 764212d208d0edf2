"""Belonging to a group: heartbeats, leaving, who else is there, and the notification that somebody came or went.

Sources: ``remoting/.../protocol/header/HeartbeatRequestHeader.java``, ``UnregisterClientRequestHeader.java``,
``NotifyConsumerIdsChangedRequestHeader.java``, ``GetConsumerListByGroupRequestHeader.java``;
``broker/.../processor/ClientManageProcessor.java``, ``ConsumerManageProcessor.java``.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

from rebalance_engine.remoting.bodies.clients import (
    CheckClientRequestBody,
    GetConsumerListByGroupResponseBody,
    HeartbeatData,
)
from rebalance_engine.remoting.codes import RequestCode
from rebalance_engine.remoting.requests.contract import Response, RpcRequest


@dataclass(frozen=True, slots=True, kw_only=True)
class HeartBeatResponse(Response):
    """The broker has heard; 5.x says what it can and what it noticed."""

    NAMES: ClassVar[Mapping[str, str]] = {
        "is_support_heart_beat_v2": "IS_SUPPORT_HEART_BEAT_V2",
        "is_sub_change": "IS_SUB_CHANGE",
    }

    is_support_heart_beat_v2: bool | None = None
    is_sub_change: bool | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class HeartBeat(RpcRequest[HeartBeatResponse]):
    """Join with all producers and consumers of a client, or stay."""

    CODE = RequestCode.HEART_BEAT
    RESPONSE = HeartBeatResponse

    body: HeartbeatData


@dataclass(frozen=True, slots=True, kw_only=True)
class UnregisterClient(RpcRequest[Response]):
    """Leave. The broker removes by channel, and notifies the group even if nobody was removed."""

    CODE = RequestCode.UNREGISTER_CLIENT
    NAMES: ClassVar[Mapping[str, str]] = {"client_id": "clientID"}

    client_id: str
    producer_group: str | None = None
    consumer_group: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class NotifyConsumerIdsChanged(RpcRequest[Response]):
    """Broker to member, one-way: the members of your group have changed."""

    CODE = RequestCode.NOTIFY_CONSUMER_IDS_CHANGED

    consumer_group: str


@dataclass(frozen=True, slots=True, kw_only=True)
class GetConsumerListByGroupResponse(Response):
    """The client ids. A group without members is refused with SYSTEM_ERROR."""

    body: GetConsumerListByGroupResponseBody


@dataclass(frozen=True, slots=True, kw_only=True)
class GetConsumerListByGroup(RpcRequest[GetConsumerListByGroupResponse]):
    """Ask for the client ids of a group."""

    CODE = RequestCode.GET_CONSUMER_LIST_BY_GROUP
    RESPONSE = GetConsumerListByGroupResponse

    consumer_group: str


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckClientConfig(RpcRequest[Response]):
    """Ask whether the broker understands a subscription; Java clients do for SQL expressions."""

    CODE = RequestCode.CHECK_CLIENT_CONFIG

    body: CheckClientRequestBody
