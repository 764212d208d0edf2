"""What one heartbeat does to the tables of a broker.

Source: ``broker/.../processor/ClientManageProcessor.java`` (``heartBeat``, ``heartBeatV2``).
"""

from __future__ import annotations

from dataclasses import dataclass

from rebalance_engine.membership.configs import GroupConfigs, TopicConfigs
from rebalance_engine.membership.presence import Peer, Presence
from rebalance_engine.membership.producers import ProducerTable
from rebalance_engine.membership.profiles import Policy
from rebalance_engine.membership.registry import Registry, Update
from rebalance_engine.remoting.bodies.clients import ConsumerData, ConsumeType, HeartbeatData
from rebalance_engine.remoting.requests.membership import HeartBeatResponse


@dataclass(frozen=True, slots=True)
class Entered:
    """A consumer of a heartbeat was entered; ``group_switch`` is whether its group wants notifications."""

    update: Update
    group_switch: bool


@dataclass(slots=True)
class Tables:
    """The tables that a heartbeat changes."""

    groups: GroupConfigs
    topics: TopicConfigs
    registry: Registry
    producers: ProducerTable


class Heartbeats:
    """Reads heartbeats into the tables, and remembers the last fingerprint of each *group*.

    Members of one group that subscribe to different things therefore overwrite each other's fingerprint for ever, and
    never get to leave their subscriptions out.
    """

    def __init__(self, policy: Policy, tables: Tables) -> None:
        self._policy = policy
        self._tables = tables
        self._fingerprints: dict[str, int] = {}

    def hear(self, peer: Peer, data: HeartbeatData, at: int) -> tuple[HeartBeatResponse, tuple[Entered, ...]]:
        """Enter all consumers and producers of a client. A heartbeat is never refused, whatever is left out."""
        presence = Presence(peer, data.client_id, at)
        consumers = tuple(filter(self._is_welcome, data.consumer_data_set))
        is_changed = [self._is_other_fingerprint(consumer.group_name, data) for consumer in consumers]
        entered = [self._enter(presence, consumer, data, at) for consumer in consumers]
        for producer in data.producer_data_set:
            self._tables.producers.register(producer.group_name, presence, at)
        return self._response(data, is_changed=any(is_changed)), tuple(filter(None, entered))

    def _is_welcome(self, consumer: ConsumerData) -> bool:
        is_pull = consumer.consume_type is ConsumeType.CONSUME_ACTIVELY
        return not (is_pull and self._policy.rejects_pull_consumers)

    def _is_other_fingerprint(self, group: str, data: HeartbeatData) -> bool:
        before = self._fingerprints.get(group)
        self._fingerprints[group] = data.heartbeat_fingerprint
        return before is not None and before != data.heartbeat_fingerprint

    def _enter(self, presence: Presence, consumer: ConsumerData, data: HeartbeatData, at: int) -> Entered | None:
        config = self._tables.groups.find_or_create(consumer.group_name)
        if config is None and self._policy.rules.skips_unconfigured_groups:
            return None  # the client is told SUCCESS all the same, and believes that it belongs
        if config is not None:
            topics = (subscription.topic for subscription in consumer.subscription_data_set)
            self._tables.topics.ensure_retry_topic(config, topics, is_unit=consumer.unit_mode)
        has_subscriptions = not (self._is_second_version(data) and data.without_sub)
        update = self._tables.registry.register(presence, consumer, at, has_subscriptions=has_subscriptions)
        return Entered(update, config.notify_consumer_ids_changed_enable if config else True)

    def _is_second_version(self, data: HeartbeatData) -> bool:
        return self._policy.rules.has_heartbeat_v2 and data.heartbeat_fingerprint != 0

    def _response(self, data: HeartbeatData, *, is_changed: bool) -> HeartBeatResponse:
        if not self._policy.rules.has_heartbeat_v2:
            return HeartBeatResponse()
        is_sub_change = is_changed if self._is_second_version(data) else True
        return HeartBeatResponse(is_support_heart_beat_v2=True, is_sub_change=is_sub_change)
