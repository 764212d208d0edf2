"""How far topics and groups are: the ends of queues, times, lag.

Source: ``broker/.../processor/AdminBrokerProcessor.java`` (``getMaxOffset``, ``getTopicStatsInfo``,
``getConsumeStats``, ``fetchAllConsumeStatsInBroker``, ``queryConsumeTimeSpan``, ``queryCorrectionOffset``).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from rebalance_engine.embedded.core import GOT, PUT, Call, Core, refuse
from rebalance_engine.model import MessageQueue
from rebalance_engine.remoting.bodies.queues import (
    ConsumeStats,
    ConsumeStatsList,
    OffsetWrapper,
    TopicOffset,
    TopicStatsTable,
)
from rebalance_engine.remoting.bodies.settings import TopicConfig
from rebalance_engine.remoting.bodies.upkeep import (
    QueryConsumeTimeSpanBody,
    QueryCorrectionOffsetBody,
    QueueTimeSpan,
)
from rebalance_engine.remoting.codes import ResponseCode
from rebalance_engine.remoting.requests.brokers import (
    GetBrokerConsumeStats,
    GetBrokerConsumeStatsResponse,
    GetConsumeStats,
    GetConsumeStatsResponse,
    GetTopicStatsInfo,
    GetTopicStatsInfoResponse,
)
from rebalance_engine.remoting.requests.consuming import (
    BoundaryType,
    GetMaxOffset,
    GetMinOffset,
    OffsetResponse,
    SearchOffsetByTimestamp,
)
from rebalance_engine.remoting.requests.contract import Response
from rebalance_engine.remoting.requests.upkeep import (
    GetEarliestMsgStoretime,
    GetEarliestMsgStoretimeResponse,
    QueryConsumeTimeSpan,
    QueryConsumeTimeSpanResponse,
    QueryCorrectionOffset,
    QueryCorrectionOffsetResponse,
)


class Progress:
    """The room of whoever asks how far something is."""

    def __init__(self, core: Core) -> None:
        self._core = core
        self.serves: Mapping[type, Callable[[Call, Any], Response]] = {
            GetMaxOffset: self._max_offset,
            GetMinOffset: self._min_offset,
            SearchOffsetByTimestamp: self._search,
            GetEarliestMsgStoretime: self._earliest,
            GetTopicStatsInfo: self._topic_stats,
            GetConsumeStats: self._consume_stats,
            GetBrokerConsumeStats: self._all_consume_stats,
            QueryConsumeTimeSpan: self._time_span,
            QueryCorrectionOffset: self._correction,
        }

    # ---- queues ----

    def _max_offset(self, _: Call, request: GetMaxOffset) -> Response:
        return OffsetResponse(offset=self._core.store.end(request.topic, request.queue_id))

    def _min_offset(self, _: Call, request: GetMinOffset) -> Response:
        remark = "" if self._is_5 else None  # 5.x writes an empty one
        return OffsetResponse(offset=self._core.store.begin(request.topic, request.queue_id), remark=remark)

    @property
    def _is_5(self) -> bool:
        return self._core.settings.is_since((5, 0, 0))

    def _search(self, _: Call, request: SearchOffsetByTimestamp) -> Response:
        is_upper = request.boundary_type is BoundaryType.UPPER
        offset = self._core.store.search(request.topic, request.queue_id, request.timestamp, is_upper=is_upper)
        return OffsetResponse(offset=offset)

    def _earliest(self, _: Call, request: GetEarliestMsgStoretime) -> Response:
        return GetEarliestMsgStoretimeResponse(timestamp=self._earliest_at(request.topic, request.queue_id))

    def _earliest_at(self, topic: str, queue_id: int) -> int:
        store = self._core.store
        return store.stored_at(topic, queue_id, store.begin(topic, queue_id))

    def _topic_stats(self, call: Call, request: GetTopicStatsInfo) -> Response:
        config = self._core.find_topic(request.topic)
        if config is None:
            return refuse(ResponseCode.TOPIC_NOT_EXIST, f"topic[{request.topic}] not exist")
        store = self._core.store
        table: dict[MessageQueue, TopicOffset] = {}
        for queue in self._queues(config, max(config.read_queue_nums, config.write_queue_nums)):
            end = store.end(queue.topic, queue.queue_id)
            table[queue] = TopicOffset(
                min_offset=store.begin(queue.topic, queue.queue_id),
                max_offset=end,
                last_update_timestamp=max(0, store.stored_at(queue.topic, queue.queue_id, end - 1)),
            )
        per_second = self._core.rates.per_second(PUT, request.topic, call.at)
        has_rate = self._core.settings.is_since((5, 4, 0))
        return GetTopicStatsInfoResponse(
            body=TopicStatsTable(offset_table=table, topic_put_tps=per_second if has_rate else None)
        )

    def _queues(self, config: TopicConfig, count: int) -> Iterator[MessageQueue]:
        for queue_id in range(count):
            yield MessageQueue(config.topic_name, self._core.settings.membership.broker, queue_id)

    # ---- groups ----

    def _consume_stats(self, call: Call, request: GetConsumeStats) -> Response:
        group = request.consumer_group
        named = tuple(filter(None, (request.topic_list or "").split(";"))) if self._is_5 else ()
        topics = named or ((request.topic,) if request.topic else self._core.membership.offsets.topics_of(group))
        table: dict[MessageQueue, OffsetWrapper] = {}
        per_second = 0.0
        for config in self._consumed(group, topics, checks=not named):
            table |= self._offsets(group, config, config.read_queue_nums, shows_pulled=self._has_pulled)
            per_second += self._core.rates.per_second(GOT, f"{config.topic_name}@{group}", call.at)
        return GetConsumeStatsResponse(body=ConsumeStats(offset_table=table, consume_tps=round(per_second, 2)))

    @property
    def _has_pulled(self) -> bool:
        return self._core.membership.policy.rules.keeps_pull_offsets

    def _consumed(self, group: str, topics: Iterable[str], *, checks: bool) -> Iterator[TopicConfig]:
        """Give the topics that are here, and to which the group still subscribes if it is online."""
        online = self._core.membership.registry.find(group)
        for topic in topics:
            config = self._core.find_topic(topic)
            is_left = online is not None and bool(online.subscriptions) and topic not in online.subscriptions
            if config is not None and not (checks and is_left):
                yield config

    def _offsets(
        self, group: str, config: TopicConfig, count: int, *, shows_pulled: bool
    ) -> dict[MessageQueue, OffsetWrapper]:
        offsets, store = self._core.membership.offsets, self._core.store
        table: dict[MessageQueue, OffsetWrapper] = {}
        for queue in self._queues(config, count):
            topic, queue_id = queue.topic, queue.queue_id
            consumed = max(0, offsets.find(group, topic, queue_id) or 0)
            pulled = max(0, offsets.find_pulled(group, topic, queue_id) or 0) if shows_pulled else 0
            table[queue] = OffsetWrapper(
                broker_offset=store.end(topic, queue_id),
                consumer_offset=consumed,
                pull_offset=pulled if self._has_pulled else None,
                last_timestamp=max(0, store.stored_at(topic, queue_id, consumed - 1)),
            )
        return table

    def _all_consume_stats(self, call: Call, request: GetBrokerConsumeStats) -> Response:
        lists: list[Mapping[str, tuple[ConsumeStats, ...]]] = []
        behind = 0
        for group in self._core.membership.groups.all():
            of_group: list[ConsumeStats] = []
            topics = self._core.membership.offsets.topics_of(group)
            for config in self._consumed(group, topics, checks=True):
                if request.is_order and not config.order:
                    continue
                table = self._offsets(group, config, config.write_queue_nums, shows_pulled=False)
                behind += sum(one.broker_offset - one.consumer_offset for one in table.values())
                rate = self._core.rates.per_second(GOT, f"{config.topic_name}@{group}", call.at)
                of_group.append(ConsumeStats(offset_table=table, consume_tps=rate))
            lists.append({group: tuple(of_group)})
        body = ConsumeStatsList(
            consume_stats_list=tuple(lists), broker_addr=self._core.settings.membership.address, total_diff=behind
        )
        return GetBrokerConsumeStatsResponse(body=body)

    def _time_span(self, call: Call, request: QueryConsumeTimeSpan) -> Response:
        config = self._core.find_topic(request.topic)
        if config is None:
            return refuse(ResponseCode.TOPIC_NOT_EXIST, f"topic[{request.topic}] not exist")
        queues = self._queues(config, config.write_queue_nums)
        spans = tuple(self._span(request.group, queue, call.at) for queue in queues)
        return QueryConsumeTimeSpanResponse(body=QueryConsumeTimeSpanBody(consume_time_span_set=spans))

    def _span(self, group: str, queue: MessageQueue, at: int) -> QueueTimeSpan:
        store, (topic, _, queue_id) = self._core.store, queue
        end, earliest = store.end(topic, queue_id), self._earliest_at(topic, queue_id)
        consumed = self._core.membership.offsets.find(group, topic, queue_id) or 0
        waits_since = store.stored_at(topic, queue_id, consumed) if consumed < end else at
        return QueueTimeSpan(
            message_queue=queue,
            min_time_stamp=earliest,
            max_time_stamp=store.stored_at(topic, queue_id, end - 1),
            consume_time_stamp=store.stored_at(topic, queue_id, consumed - 1) if consumed > 0 else earliest,
            delay_time=at - waits_since,
        )

    def _correction(self, _: Call, request: QueryCorrectionOffset) -> Response:
        """Give the smallest offset of all groups of the topic, but for those that are left out."""
        config = self._core.find_topic(request.topic)
        if config is None:
            return refuse(ResponseCode.TOPIC_NOT_EXIST, f"topic[{request.topic}] not exist")
        offsets = self._core.membership.offsets
        left_out = set((request.filter_groups or "").split(","))
        groups = [group for group in offsets.groups_of(request.topic) if group not in left_out]
        smallest: dict[int, int] = {}
        for queue_id in range(config.read_queue_nums):
            own = offsets.find(request.compare_group, request.topic, queue_id)
            found = [own, *(offsets.find(group, request.topic, queue_id) for group in groups)]
            known = [offset for offset in found if offset is not None]
            if known:
                smallest[queue_id] = min(known)
        return QueryCorrectionOffsetResponse(body=QueryCorrectionOffsetBody(correction_offsets=smallest))
