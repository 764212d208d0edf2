"""Questions about the tables of a broker. Answering changes nothing, but for asking after a group, which can create it.

Sources: ``broker/.../processor/ConsumerManageProcessor.java``, ``AdminBrokerProcessor.java``,
``ClientManageProcessor.java`` (``checkClientConfig``).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from rebalance_engine.membership.filters import check_filter
from rebalance_engine.membership.heartbeats import Tables
from rebalance_engine.membership.modes import RequestModes
from rebalance_engine.membership.offsets import OffsetTable
from rebalance_engine.membership.profiles import Policy, Version, is_since
from rebalance_engine.remoting.bodies.clients import (
    ConsumerConnection,
    GetConsumerListByGroupResponseBody,
    ProducerConnection,
)
from rebalance_engine.remoting.bodies.routes import GroupList, TopicList
from rebalance_engine.remoting.bodies.settings import SubscriptionGroupWrapper
from rebalance_engine.remoting.codes import ResponseCode
from rebalance_engine.remoting.requests.brokers import (
    GetAllConsumerOffset,
    GetAllConsumerOffsetResponse,
    GetAllMessageRequestMode,
    GetAllMessageRequestModeResponse,
    GetAllProducerInfo,
    GetAllProducerInfoResponse,
    GetAllSubscriptionGroupConfig,
    GetAllSubscriptionGroupConfigResponse,
    GetConsumerConnectionList,
    GetConsumerConnectionListResponse,
    GetProducerConnectionList,
    GetProducerConnectionListResponse,
    GetSubscriptionGroupConfig,
    GetSubscriptionGroupConfigResponse,
    QueryTopicConsumeByWho,
    QueryTopicConsumeByWhoResponse,
    QueryTopicsByConsumer,
    QueryTopicsByConsumerResponse,
)
from rebalance_engine.remoting.requests.changes import SetMessageRequestMode, UpdateAndGetGroupForbidden
from rebalance_engine.remoting.requests.consuming import QueryAssignment
from rebalance_engine.remoting.requests.contract import Refused, Request, Response
from rebalance_engine.remoting.requests.membership import (
    CheckClientConfig,
    GetConsumerListByGroup,
    GetConsumerListByGroupResponse,
)

SUPPORTED_SINCE: Mapping[type, Version] = {
    GetAllProducerInfo: (4, 9, 4),
    QueryTopicsByConsumer: (5, 0, 0),
    GetSubscriptionGroupConfig: (5, 0, 0),
    UpdateAndGetGroupForbidden: (5, 0, 0),
    QueryAssignment: (5, 0, 0),
    SetMessageRequestMode: (5, 0, 0),
    GetAllMessageRequestMode: (5, 0, 0),
}


def refuse_unsupported(request: Request[Response], policy: Policy) -> Refused | None:
    """Refuse a request that this version does not know."""
    since = SUPPORTED_SINCE.get(type(request))
    if since is None or is_since(policy.settings.version, since):
        return None
    remark = f" request type {int(request.CODE)} not supported"
    return Refused(code=ResponseCode.REQUEST_CODE_NOT_SUPPORTED, remark=remark)


class Answers:
    """Answers questions from the tables of one broker."""

    def __init__(self, policy: Policy, tables: Tables, offsets: OffsetTable, modes: RequestModes) -> None:
        self._policy = policy
        self._tables = tables
        self._offsets = offsets
        self._modes = modes
        self._by_request: Mapping[type, Callable[[Any], Response]] = {  # each takes the request that it stands beside
            GetConsumerListByGroup: self._list_clients,
            GetConsumerConnectionList: self._list_consumers,
            GetProducerConnectionList: self._list_producers,
            GetAllProducerInfo: self._list_all_producers,
            QueryTopicConsumeByWho: self._who_consumes,
            QueryTopicsByConsumer: self._what_is_consumed,
            GetAllConsumerOffset: self._list_offsets,
            GetAllSubscriptionGroupConfig: self._list_groups,
            GetSubscriptionGroupConfig: self._find_group,
            CheckClientConfig: self._check_filter,
            GetAllMessageRequestMode: self._list_modes,
        }

    def knows(self, request: object) -> bool:
        """Say whether this is a question for these tables."""
        return type(request) in self._by_request

    def answer(self, request: object) -> Response:
        """Answer a question that is known."""
        return self._by_request[type(request)](request)

    # ---- members ----

    def _list_clients(self, request: GetConsumerListByGroup) -> Response:
        clients = self._tables.registry.clients(request.consumer_group)
        if not clients:
            remark = f"no consumer for this group, {request.consumer_group}"
            return Refused(code=ResponseCode.SYSTEM_ERROR, remark=remark)
        return GetConsumerListByGroupResponse(body=GetConsumerListByGroupResponseBody(consumer_id_list=clients))

    def _list_consumers(self, request: GetConsumerConnectionList) -> Response:
        group = self._tables.registry.find(request.consumer_group)
        if group is None:
            remark = f"the consumer group[{request.consumer_group}] not online"
            return Refused(code=ResponseCode.CONSUMER_NOT_ONLINE, remark=remark)
        connection = ConsumerConnection(
            connection_set=tuple(presence.connection() for presence in group.members.values()),
            subscription_table=dict(group.subscriptions),
            consume_type=group.consume_type,
            message_model=group.message_model,
            consume_from_where=group.consume_from_where,
        )
        return GetConsumerConnectionListResponse(body=connection)

    def _list_producers(self, request: GetProducerConnectionList) -> Response:
        producers = self._tables.producers.find(request.producer_group)
        if producers is None:
            remark = f"the producer group[{request.producer_group}] not exist"
            return Refused(code=ResponseCode.SYSTEM_ERROR, remark=remark)
        connections = tuple(presence.connection() for presence in producers)
        return GetProducerConnectionListResponse(body=ProducerConnection(connection_set=connections))

    def _list_all_producers(self, _: GetAllProducerInfo) -> Response:
        return GetAllProducerInfoResponse(body=self._tables.producers.table())

    # ---- topics and offsets ----

    def _who_consumes(self, request: QueryTopicConsumeByWho) -> Response:
        by_index = self._policy.rules.keeps_topic_index
        online = self._tables.registry.who_consumes(request.topic, by_index=by_index)
        groups = dict.fromkeys((*online, *self._offsets.groups_of(request.topic)))
        return QueryTopicConsumeByWhoResponse(body=GroupList(group_list=tuple(groups)))

    def _what_is_consumed(self, request: QueryTopicsByConsumer) -> Response:
        topics = self._offsets.topics_of(request.group)
        body = TopicList(topic_list=topics, broker_addr=self._policy.settings.address)
        return QueryTopicsByConsumerResponse(body=body)

    def _list_offsets(self, _: GetAllConsumerOffset) -> Response:
        return GetAllConsumerOffsetResponse(body=self._offsets.all())

    # ---- settings ----

    def _list_groups(self, _: GetAllSubscriptionGroupConfig) -> Response:
        groups = self._tables.groups
        forbidden = groups.all_forbidden() if self._policy.rules.can_forbid_topics else None
        table = SubscriptionGroupWrapper(subscription_group_table=groups.all(), forbidden_table=forbidden)
        total = len(table.subscription_group_table) if self._policy.rules.counts_groups else None
        return GetAllSubscriptionGroupConfigResponse(body=table, total_group_num=total)

    def _find_group(self, request: GetSubscriptionGroupConfig) -> Response:
        config = self._tables.groups.find_or_create(request.group)
        if config is None:
            return Refused(code=ResponseCode.SUBSCRIPTION_GROUP_NOT_EXIST, remark="No group in this broker")
        return GetSubscriptionGroupConfigResponse(body=config)

    def _list_modes(self, _: GetAllMessageRequestMode) -> Response:
        return GetAllMessageRequestModeResponse(body=self._modes.all())

    def _check_filter(self, request: CheckClientConfig) -> Response:
        return check_filter(request, filters_by_property=self._policy.settings.filters_by_property)
