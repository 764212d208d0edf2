"""A name server: brokers register with it, clients ask it for routes.

A machine as the others: ``handle`` hears one event and gives effects.

Sources: ``namesrv/.../processor/DefaultRequestProcessor.java``, ``ClientRequestProcessor.java``,
``kvconfig/KVConfigManager.java``.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from rebalance_engine.effects import Channel, Closed, Effect, Heard, Received, Respond, WakeAt, Woken
from rebalance_engine.embedded.core import NEW_FAQ, OLD_FAQ, refuse
from rebalance_engine.embedded.faults import code_of
from rebalance_engine.embedded.routes import RouteTable
from rebalance_engine.membership.profiles import is_since
from rebalance_engine.remoting.bodies.routes import MASTER_ID, TopicList
from rebalance_engine.remoting.bodies.settings import KVTable
from rebalance_engine.remoting.codes import ResponseCode
from rebalance_engine.remoting.requests.contract import Response
from rebalance_engine.remoting.requests.nameserver import (
    ORDER_TOPIC_CONFIG,
    AddWritePermOfBroker,
    AddWritePermOfBrokerResponse,
    DeleteKvConfig,
    DeleteTopicInNamesrv,
    GetAllTopicListFromNameserver,
    GetBrokerClusterInfo,
    GetBrokerClusterInfoResponse,
    GetKvConfig,
    GetKvConfigResponse,
    GetKvlistByNamespace,
    GetKvlistByNamespaceResponse,
    GetNamesrvConfig,
    GetNamesrvConfigResponse,
    GetRouteInfoByTopic,
    GetRouteInfoByTopicResponse,
    GetSystemTopicListFromNs,
    GetTopicsByCluster,
    PutKvConfig,
    RegisterBroker,
    RegisterBrokerResponse,
    TopicListResponse,
    UnregisterBroker,
    WipeWritePermOfBroker,
    WipeWritePermOfBrokerResponse,
)

logger = logging.getLogger(__name__)

SCAN = "silent brokers are looked for"
SCAN_EVERY_MS = 5_000  # ``scanNotActiveBrokerInterval``
MOST_TEXTS = 10_000  # of the order configurations of topics and the like

Serve = Callable[[Channel, Any, int], Response]


class NameServer:
    """The name server of a cluster.

    Args:
        version: that it presents.
        orders_topics: ``orderMessageEnable``: whether routes hold the order configuration of a topic.
    """

    def __init__(self, version: str, *, orders_topics: bool = False) -> None:
        self.routes = RouteTable()
        self._version = version
        self._orders_topics = orders_topics
        self._texts: dict[str, dict[str, str]] = {}
        self._serves: Mapping[type, Serve] = {
            GetRouteInfoByTopic: self._route,
            GetBrokerClusterInfo: self._clusters,
            GetAllTopicListFromNameserver: self._topics,
            GetTopicsByCluster: self._topics_of_cluster,
            GetSystemTopicListFromNs: self._system_topics,
            RegisterBroker: self._register,
            UnregisterBroker: self._unregister,
            WipeWritePermOfBroker: self._wipe_write,
            AddWritePermOfBroker: self._add_write,
            DeleteTopicInNamesrv: self._delete_topic,
            PutKvConfig: self._put,
            GetKvConfig: self._get,
            DeleteKvConfig: self._delete,
            GetKvlistByNamespace: self._list,
            GetNamesrvConfig: self._settings,
        }

    def start(self, at: int) -> tuple[Effect, ...]:
        """Begin; say when to be woken."""
        return (WakeAt(at=at + SCAN_EVERY_MS, timer=SCAN),)

    def handle(self, heard: Heard, at: int) -> tuple[Effect, ...]:
        """Hear one event."""
        match heard:
            case Received(channel=channel, request=request, token=token):
                response = self._answer(channel, request, at)
                if token is not None:
                    return (Respond(channel=channel, token=token, response=response),)
            case Closed(channel=channel):
                self.routes.closed(channel)
            case Woken():
                self.routes.expire(at)
                return (WakeAt(at=at + SCAN_EVERY_MS, timer=SCAN),)
            case _:
                pass
        return ()

    def _answer(self, channel: Channel, request: object, at: int) -> Response:
        serve = self._serves.get(type(request))
        if serve is None:
            remark = f" request type {code_of(request)} not supported"
            return refuse(ResponseCode.REQUEST_CODE_NOT_SUPPORTED, remark)
        return serve(channel, request, at)

    # ---- clients ----

    def _route(self, _: Channel, request: GetRouteInfoByTopic, __: int) -> Response:
        route = self.routes.route(request.topic)
        if route is None:
            faq = NEW_FAQ if is_since(self._version, (5, 1, 0)) else OLD_FAQ
            remark = (
                f"No topic route info in name server for the topic: {request.topic}\nSee {faq} for further details."
            )
            return refuse(ResponseCode.TOPIC_NOT_EXIST, remark)
        if self._orders_topics:
            route = replace(route, order_topic_conf=self._texts.get(ORDER_TOPIC_CONFIG, {}).get(request.topic))
        return GetRouteInfoByTopicResponse(body=route)

    def _clusters(self, _: Channel, __: GetBrokerClusterInfo, ___: int) -> Response:
        return GetBrokerClusterInfoResponse(body=self.routes.clusters())

    def _topics(self, _: Channel, __: GetAllTopicListFromNameserver, ___: int) -> Response:
        return TopicListResponse(body=TopicList(topic_list=self.routes.topics()))

    def _topics_of_cluster(self, _: Channel, request: GetTopicsByCluster, __: int) -> Response:
        return TopicListResponse(body=TopicList(topic_list=self.routes.topics(request.cluster)))

    def _system_topics(self, _: Channel, __: GetSystemTopicListFromNs, ___: int) -> Response:
        return TopicListResponse(body=self.routes.system_topics())

    # ---- brokers ----

    def _register(self, channel: Channel, request: RegisterBroker, at: int) -> Response:
        self.register(request, at, channel=channel)
        master = self.routes.master_of(request.broker_name) if request.broker_id != MASTER_ID else None
        orders = KVTable(table=self._texts.get(ORDER_TOPIC_CONFIG, {}))
        return RegisterBrokerResponse(master_addr=master, body=orders)

    def register(self, request: RegisterBroker, at: int, *, channel: Channel | None = None) -> None:
        """Enter a broker of this process, or one that registers over a channel."""
        topics = request.body.topic_config_serialize_wrapper.topic_config_table if request.body else {}
        self.routes.register(
            request.broker_name,
            request.broker_id,
            address=request.broker_addr,
            cluster=request.cluster_name,
            topics=topics,
            channel=channel,
            at=at,
        )

    def _unregister(self, _: Channel, request: UnregisterBroker, __: int) -> Response:
        self.routes.unregister(request.broker_name, request.broker_id)
        return Response()

    # ---- operators ----

    def _wipe_write(self, _: Channel, request: WipeWritePermOfBroker, __: int) -> Response:
        return WipeWritePermOfBrokerResponse(wipe_topic_count=self.routes.wipe_write(request.broker_name))

    def _add_write(self, _: Channel, request: AddWritePermOfBroker, __: int) -> Response:
        return AddWritePermOfBrokerResponse(add_topic_count=self.routes.add_write(request.broker_name))

    def _delete_topic(self, _: Channel, request: DeleteTopicInNamesrv, __: int) -> Response:
        self.routes.delete_topic(request.topic, request.cluster_name)
        return Response()

    def _put(self, _: Channel, request: PutKvConfig, __: int) -> Response:
        if sum(map(len, self._texts.values())) >= MOST_TEXTS:
            return refuse(ResponseCode.SYSTEM_ERROR, f"{MOST_TEXTS} texts are kept; there is no room for more")
        self._texts.setdefault(request.namespace, {})[request.key] = request.value
        return Response()

    def _get(self, _: Channel, request: GetKvConfig, __: int) -> Response:
        value = self._texts.get(request.namespace, {}).get(request.key)
        if value is None:
            remark = f"No config item, Namespace: {request.namespace} Key: {request.key}"
            return refuse(ResponseCode.QUERY_NOT_FOUND, remark)
        return GetKvConfigResponse(value=value)

    def _delete(self, _: Channel, request: DeleteKvConfig, __: int) -> Response:
        self._texts.get(request.namespace, {}).pop(request.key, None)
        return Response()

    def _list(self, _: Channel, request: GetKvlistByNamespace, __: int) -> Response:
        texts = self._texts.get(request.namespace)
        if not texts:
            return refuse(ResponseCode.QUERY_NOT_FOUND, f"No config item, Namespace: {request.namespace}")
        return GetKvlistByNamespaceResponse(body=KVTable(table=dict(texts)))

    def _settings(self, _: Channel, __: GetNamesrvConfig, ___: int) -> Response:
        settings = {"orderMessageEnable": self._orders_topics, "returnOrderTopicConfigToBroker": True}
        lines = "".join(f"{name}={str(value).lower()}\n" for name, value in settings.items())
        return GetNamesrvConfigResponse(body=lines)
