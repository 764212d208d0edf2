"""Why a pull is refused before anybody looks for messages.

The checks stand in Java's order, and the first that fails answers. Filters by SQL92 go no further than whether the
broker understands them at all (FILTER_DATA_NOT_EXIST and FILTER_DATA_NOT_LATEST are never answered).

Source: ``broker/.../processor/PullMessageProcessor.java`` (``processRequest``).
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum

from rebalance_engine.membership.configs import READ, GroupConfigs, TopicConfigs, may_always_pull
from rebalance_engine.membership.filters import is_tag_type, pulled_subscription, refuse_filter
from rebalance_engine.membership.presence import Peer
from rebalance_engine.membership.profiles import Policy
from rebalance_engine.membership.registry import ConsumerGroup, Registry
from rebalance_engine.model import MessageModel
from rebalance_engine.remoting.bodies.clients import ConsumeType, SubscriptionData
from rebalance_engine.remoting.bodies.settings import SubscriptionGroupConfig, TopicConfig
from rebalance_engine.remoting.codes import RequestCode, ResponseCode
from rebalance_engine.remoting.requests.consuming import PullMessage
from rebalance_engine.remoting.requests.contract import Refused
from rebalance_engine.remoting.sysflags import PullFlag

OLD_FAQ = "http://rocketmq.apache.org/docs/faq/"  # ``FAQUrl.java``
NEW_FAQ = "https://rocketmq.apache.org/docs/bestPractice/06FAQ"


class Forbidden(IntEnum):
    """Who does not permit a pull (``ForbiddenType.java``)."""

    BROKER = 1
    GROUP = 2
    TOPIC = 3
    BROADCASTING = 4
    SUBSCRIPTION = 5


@dataclass(frozen=True, slots=True)
class PullTerms:
    """What a pull that is not refused goes by; ``subscription`` is what the broker filters with."""

    group: SubscriptionGroupConfig
    topic: TopicConfig
    subscription: SubscriptionData


class PullChecks:
    """Checks pulls against the tables of one broker."""

    def __init__(self, policy: Policy, groups: GroupConfigs, topics: TopicConfigs, registry: Registry) -> None:
        self._policy = policy
        self._groups = groups
        self._topics = topics
        self._registry = registry

    def check(self, pull: PullMessage, peer: Peer, at: int) -> PullTerms | Refused:
        """Refuse a pull, or say what it goes by; a subscription that it carries is kept for a while."""
        group = self._check_group(pull)
        if isinstance(group, Refused):
            return group
        topic = self._check_topic(pull, peer)
        if isinstance(topic, Refused):
            return topic
        subscription = self._find_subscription(pull, group, at)
        if isinstance(subscription, Refused):
            return subscription
        return self._check_kind(pull, peer, subscription) or PullTerms(group, topic, subscription)

    # ---- the group ----

    def _check_group(self, pull: PullMessage) -> SubscriptionGroupConfig | Refused:
        settings, host = self._policy.settings, self._policy.settings.address.rpartition(":")[0]
        if not settings.is_readable:
            return self._forbid(Forbidden.BROKER, f"the broker[{host}] pulling message is forbidden")
        if pull.CODE is RequestCode.LITE_PULL_MESSAGE and not settings.allows_lite_pull:
            return self._forbid(Forbidden.BROKER, f"the broker[{host}] for lite pull consumer is forbidden")
        config = self._groups.find_or_create(pull.consumer_group)
        if config is None:
            remark = f"subscription group [{pull.consumer_group}] does not exist, {self._see_faq()}"
            return Refused(code=ResponseCode.SUBSCRIPTION_GROUP_NOT_EXIST, remark=remark)
        if not config.consume_enable:
            return self._forbid(Forbidden.GROUP, f"subscription group no permission, {pull.consumer_group}")
        return config

    # ---- the topic ----

    def _check_topic(self, pull: PullMessage, peer: Peer) -> TopicConfig | Refused:
        config = self._topics.find(pull.topic)
        if config is None:
            remark = f"topic[{pull.topic}] not exist, apply first please! {self._see_faq()}"
            return Refused(code=ResponseCode.TOPIC_NOT_EXIST, remark=remark)
        if not config.perm & READ:
            return self._forbid(Forbidden.TOPIC, f"the topic[{pull.topic}] pulling message is forbidden")
        if not 0 <= pull.queue_id < config.read_queue_nums:
            return self._refuse_queue_id(pull, config, peer)
        return config

    def _refuse_queue_id(self, pull: PullMessage, config: TopicConfig, peer: Peer) -> Refused:
        is_new = self._policy.rules.calls_queue_ids_invalid
        remark = (
            f"queueId[{pull.queue_id}] is illegal, topic:[{pull.topic}] "
            f"topicConfig.readQueueNums:[{config.read_queue_nums}] consumer:[/{peer.address}]"
        )
        return Refused(code=ResponseCode.INVALID_PARAMETER if is_new else ResponseCode.SYSTEM_ERROR, remark=remark)

    # ---- the subscription ----

    def _find_subscription(
        self, pull: PullMessage, config: SubscriptionGroupConfig, at: int
    ) -> SubscriptionData | Refused:
        if pull.sys_flag & PullFlag.SUBSCRIPTION:
            return self._read_subscription(pull, at)
        group = self._registry.find(pull.consumer_group)
        if group is None:
            return self._refuse_unknown("the consumer's group info not exist")
        return self._check_permission(pull, config, group) or self._check_version(pull, group)

    def _read_subscription(self, pull: PullMessage, at: int) -> SubscriptionData | Refused:
        subscription = pulled_subscription(pull, at)
        if subscription is None:
            remark = "parse the consumer's subscription failed"
            return Refused(code=ResponseCode.SUBSCRIPTION_PARSE_FAILED, remark=remark)
        if self._policy.rules.keeps_pulled_subscriptions:
            self._registry.keep_pulled(pull.consumer_group, subscription)
        return subscription

    def _check_permission(
        self, pull: PullMessage, config: SubscriptionGroupConfig, group: ConsumerGroup
    ) -> Refused | None:
        name = f"the consumer group[{pull.consumer_group}]"
        if not config.consume_broadcast_enable and group.message_model is MessageModel.BROADCASTING:
            return self._forbid(Forbidden.BROADCASTING, f"{name} can not consume by broadcast way")
        if self._policy.rules.can_forbid_topics and self._groups.is_forbidden(pull.consumer_group, pull.topic):
            return self._forbid(Forbidden.SUBSCRIPTION, f"{name} is forbidden for topic[{pull.topic}]")
        return None

    def _check_version(self, pull: PullMessage, group: ConsumerGroup) -> SubscriptionData | Refused:
        """An older version than the stored one is let through: the stored, newer expression filters."""
        subscription = group.subscriptions.get(pull.topic)
        if subscription is None:
            return self._refuse_unknown("the consumer's subscription not exist")
        if subscription.sub_version < pull.sub_version:
            remark = "the consumer's subscription not latest"
            return Refused(code=ResponseCode.SUBSCRIPTION_NOT_LATEST, remark=remark)
        return subscription

    # ---- kinds of consumers ----

    def _check_kind(self, pull: PullMessage, peer: Peer, subscription: SubscriptionData) -> Refused | None:
        expression_type = subscription.expression_type
        if not is_tag_type(expression_type) and not self._policy.settings.filters_by_property:
            return refuse_filter(expression_type)
        if self._policy.rejects_pull_consumers and self._is_stranger(pull, peer):
            remark = "the consumer's group info not exist, or the pull consumer is rejected by server."
            return self._refuse_unknown(remark)
        return None

    def _is_stranger(self, pull: PullMessage, peer: Peer) -> bool:
        if may_always_pull(pull.consumer_group):
            return False
        group = self._registry.find(pull.consumer_group)
        if group is None:
            return True
        return group.consume_type is ConsumeType.CONSUME_ACTIVELY and peer.channel not in group.members

    # ---- words ----

    def _forbid(self, why: Forbidden, remark: str) -> Refused:
        fields = {"forbiddenType": str(int(why))} if self._policy.rules.names_forbidden_type else {}
        return Refused(code=ResponseCode.NO_PERMISSION, remark=remark, ext_fields=fields)

    def _refuse_unknown(self, what: str) -> Refused:
        return Refused(code=ResponseCode.SUBSCRIPTION_NOT_EXIST, remark=what + self._see_faq())

    def _see_faq(self) -> str:
        return f"\nSee {NEW_FAQ if self._policy.rules.names_new_faq else OLD_FAQ} for further details."
