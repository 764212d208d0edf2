"""What operators read and change: topics, groups, settings, how the broker runs.

Source: ``broker/.../processor/AdminBrokerProcessor.java``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import fields
from typing import Any

from rebalance_engine.embedded import running, topics
from rebalance_engine.embedded.core import Call, Core, refuse
from rebalance_engine.embedded.rates import Snapshot
from rebalance_engine.remoting.bodies.routes import TopicList
from rebalance_engine.remoting.bodies.settings import (
    DataVersion,
    KVTable,
    TopicConfig,
    TopicConfigSerializeWrapper,
)
from rebalance_engine.remoting.bodies.upkeep import (
    BrokerStatsData,
    BrokerStatsItem,
    DelayOffsetSerializeWrapper,
    HARuntimeInfo,
    QuerySubscriptionResponseBody,
    TopicConfigAndQueueMapping,
)
from rebalance_engine.remoting.codes import ResponseCode
from rebalance_engine.remoting.requests.brokers import (
    GetAllTopicConfig,
    GetAllTopicConfigResponse,
    GetBrokerConfig,
    GetBrokerConfigResponse,
    GetBrokerRuntimeInfo,
    GetBrokerRuntimeInfoResponse,
)
from rebalance_engine.remoting.requests.changes import UpdateAndCreateTopic
from rebalance_engine.remoting.requests.contract import Refused, Response
from rebalance_engine.remoting.requests.upkeep import (
    CleanExpiredConsumequeue,
    CleanUnusedTopic,
    CloneGroupOffset,
    DeleteExpiredCommitlog,
    DeleteSubscriptiongroup,
    DeleteTopicInBroker,
    GetAllDelayOffset,
    GetAllDelayOffsetResponse,
    GetBrokerHaStatus,
    GetBrokerHaStatusResponse,
    GetSystemTopicListFromBroker,
    GetSystemTopicListFromBrokerResponse,
    GetTopicConfig,
    GetTopicConfigResponse,
    QuerySubscriptionByConsumer,
    QuerySubscriptionByConsumerResponse,
    UpdateBrokerConfig,
    ViewBrokerStatsData,
    ViewBrokerStatsDataResponse,
)

MOST_QUEUES = 10_000
DelayOffsets = Callable[[], Mapping[int, int]]


class Upkeep:
    """The room of operators.

    Args:
        core: of the broker.
        delay_offsets: says how far delayed messages are delivered.
        waiting_requests: says how many requests wait to be looked at.
    """

    def __init__(self, core: Core, delay_offsets: DelayOffsets, waiting_requests: Callable[[], int]) -> None:
        self._core = core
        self._delay_offsets = delay_offsets
        self._waiting_requests = waiting_requests
        self.serves: Mapping[type, Callable[[Call, Any], Response]] = {
            GetAllTopicConfig: self._list_topics,
            UpdateAndCreateTopic: self._put_topic,
            DeleteTopicInBroker: self._delete_topic,
            GetSystemTopicListFromBroker: self._list_system_topics,
            DeleteSubscriptiongroup: self._delete_group,
            CloneGroupOffset: self._clone_offsets,
            GetBrokerConfig: self._settings,
            UpdateBrokerConfig: self._change_settings,
            GetBrokerRuntimeInfo: self._running,
            ViewBrokerStatsData: self._stats,
            GetAllDelayOffset: self._delays,
            CleanExpiredConsumequeue: self._nothing_to_clean,
            CleanUnusedTopic: self._nothing_to_clean,
            DeleteExpiredCommitlog: self._nothing_to_clean,
        }
        if core.settings.is_since((5, 0, 0)):
            self.serves = {
                **self.serves,
                GetTopicConfig: self._find_topic,
                QuerySubscriptionByConsumer: self._subscription,
                GetBrokerHaStatus: self._replication,
            }

    # ---- topics ----

    def _list_topics(self, _: Call, __: GetAllTopicConfig) -> Response:
        membership, booted_at = self._core.membership, self._core.booted_at
        is_5 = self._core.settings.is_since((5, 0, 0))
        table = membership.topics.all()
        body = TopicConfigSerializeWrapper(
            topic_config_table=table,
            data_version=DataVersion(timestamp=booted_at, counter=membership.topics.version),
            mapping_data_version=DataVersion(timestamp=booted_at) if is_5 else None,
        )
        total = len(table) if membership.policy.rules.counts_groups else None
        return GetAllTopicConfigResponse(body=body, total_topic_num=total)

    def _find_topic(self, _: Call, request: GetTopicConfig) -> Response:
        config = self._core.find_topic(request.topic)
        if config is None:
            return refuse(ResponseCode.TOPIC_NOT_EXIST, f"No topic in this broker. topic: {request.topic}")
        values = {one.name: getattr(config, one.name) for one in fields(config)}
        return GetTopicConfigResponse(body=TopicConfigAndQueueMapping(**values))

    def _put_topic(self, _: Call, request: UpdateAndCreateTopic) -> Response:
        refused = self._refuse_name(request.topic)
        if refused is not None:
            return refused
        counts = (request.read_queue_nums, request.write_queue_nums)
        if not all(0 <= count <= MOST_QUEUES for count in counts):
            remark = f"queues {counts}; each number needs to be 0 to {MOST_QUEUES} here"
            return refuse(ResponseCode.INVALID_PARAMETER, remark)
        known = self._core.find_topic(request.topic)
        config = TopicConfig(
            topic_name=request.topic,
            read_queue_nums=request.read_queue_nums,
            write_queue_nums=request.write_queue_nums,
            perm=request.perm,
            topic_filter_type=request.topic_filter_type,
            topic_sys_flag=request.topic_sys_flag,
            order=request.order,
            attributes=self._attributes(request.attributes, known),
        )
        if config != known:
            self._core.membership.put_topic(config)
        return Response()

    def _refuse_name(self, topic: str) -> Refused | None:
        remark = topics.why_illegal(topic)
        if remark is None and topics.is_system_topic(topic):
            remark = f"The topic[{topic}] is conflict with system topic."
        if remark is None:
            return None
        is_5 = self._core.settings.is_since((5, 0, 0))
        return refuse(ResponseCode.INVALID_PARAMETER if is_5 else ResponseCode.SYSTEM_ERROR, remark)

    def _attributes(self, changes: str | None, known: TopicConfig | None) -> Mapping[str, str] | None:
        """Apply ``+name=value,-name`` (``AttributeParser.java``)."""
        if not self._core.settings.is_since((5, 0, 0)):
            return None
        attributes = dict((known.attributes or {}) if known else {})
        for change in filter(None, (changes or "").split(",")):
            name, _, value = change[1:].partition("=")
            if change.startswith("+"):
                attributes[name] = value
            elif change.startswith("-"):
                attributes.pop(name, None)
            else:
                raise ValueError(f"attribute {change!r}; it needs to be +name=value or -name")
        return attributes

    def _delete_topic(self, _: Call, request: DeleteTopicInBroker) -> Response:
        refused = self._refuse_name(request.topic)
        if refused is not None:
            return refused
        membership = self._core.membership
        membership.topics.delete(request.topic)
        membership.offsets.forget_topic(request.topic)
        self._core.store.delete_topic(request.topic)
        return Response()

    def _list_system_topics(self, _: Call, __: GetSystemTopicListFromBroker) -> Response:
        own = tuple(config.topic_name for config in topics.own_topics(self._core.settings))
        names = dict.fromkeys((*sorted(topics.SYSTEM_TOPICS), *own))
        return GetSystemTopicListFromBrokerResponse(body=TopicList(topic_list=tuple(names)))

    # ---- groups ----

    def _delete_group(self, _: Call, request: DeleteSubscriptiongroup) -> Response:
        self._core.membership.groups.delete(request.group_name)
        if request.clean_offset:
            self._core.membership.offsets.forget_group(request.group_name)
        return Response()

    def _subscription(self, _: Call, request: QuerySubscriptionByConsumer) -> Response:
        found = self._core.membership.registry.find_subscription(request.group, request.topic)
        body = QuerySubscriptionResponseBody(group=request.group, topic=request.topic, subscription_data=found)
        return QuerySubscriptionByConsumerResponse(body=body)

    def _clone_offsets(self, _: Call, request: CloneGroupOffset) -> Response:
        membership = self._core.membership
        online = membership.registry.find(request.src_group)
        named = (request.topic,) if request.topic else membership.offsets.topics_of(request.src_group)
        for topic in named:
            config = self._core.find_topic(topic)
            is_left = online is not None and bool(online.subscriptions) and topic not in online.subscriptions
            if config is None or (is_left and not request.offline):
                continue
            for queue_id in range(config.read_queue_nums):
                offset = membership.offsets.find(request.src_group, topic, queue_id)
                if offset is not None:
                    membership.offsets.commit(request.dest_group, topic, queue_id, offset)
        return Response()

    # ---- how it runs ----

    def _settings(self, _: Call, __: GetBrokerConfig) -> Response:
        lines = "".join(f"{name}={value}\n" for name, value in running.settings_table(self._core).items())
        return GetBrokerConfigResponse(body=lines)

    def _change_settings(self, _: Call, request: UpdateBrokerConfig) -> Response:
        """Change what can be changed while it runs, ``brokerPermission``; with anything else nothing is changed."""
        lines = (line.strip() for line in request.body.splitlines())
        pairs = [line.partition("=") for line in lines if line and not line.startswith("#")]
        changes = {name.strip(): value.strip() for name, _, value in pairs}
        others = changes.keys() - {"brokerPermission"}
        if others:
            remark = (
                f"{', '.join(sorted(others))} cannot be changed; only brokerPermission can be, of an embedded broker"
            )
            return refuse(ResponseCode.SYSTEM_ERROR, remark)
        permission = changes.get("brokerPermission")
        if permission is not None:
            if permission not in {"0", "2", "4", "6"}:
                return refuse(
                    ResponseCode.INVALID_PARAMETER, f"brokerPermission is {permission}; it needs to be 0, 2, 4 or 6"
                )
            self._core.permission = int(permission)
        return Response()

    def _running(self, call: Call, _: GetBrokerRuntimeInfo) -> Response:
        table = running.runtime_table(self._core, self._waiting_requests(), call.at)
        return GetBrokerRuntimeInfoResponse(body=KVTable(table=table))

    def _stats(self, call: Call, request: ViewBrokerStatsData) -> Response:
        spans = self._core.rates.spans(request.stats_name, request.stats_key, call.at)
        if spans is None:
            remark = f"The stats <{request.stats_name}> <{request.stats_key}> not exist"
            return refuse(ResponseCode.SYSTEM_ERROR, remark)
        minute, hour, day = map(_item, spans)
        body = BrokerStatsData(stats_minute=minute, stats_hour=hour, stats_day=day)
        return ViewBrokerStatsDataResponse(body=body)

    def _delays(self, _: Call, __: GetAllDelayOffset) -> Response:
        offsets = {level: offset for level, offset in self._delay_offsets().items() if level}
        return GetAllDelayOffsetResponse(body=DelayOffsetSerializeWrapper(offset_table=offsets))

    def _replication(self, _: Call, __: GetBrokerHaStatus) -> Response:
        body = HARuntimeInfo(master_commit_log_max_offset=self._core.store.log_end)
        return GetBrokerHaStatusResponse(body=body)

    def _nothing_to_clean(self, _: Call, __: object) -> Response:
        return Response()  # what is gone from the log is gone from the indexes at once


def _item(snapshot: Snapshot) -> BrokerStatsItem:
    return BrokerStatsItem(sum=snapshot.total, tps=snapshot.per_second, avgpt=snapshot.per_time)
