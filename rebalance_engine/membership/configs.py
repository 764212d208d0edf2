"""What is configured of groups and topics on one broker, as far as membership depends on it; it outlives restarts.

Sources: ``broker/.../subscription/SubscriptionGroupManager.java``,
``broker/.../topic/TopicConfigManager.java`` (``createTopicInSendMessageBackMethod``),
``common/.../topic/TopicValidator.java``, ``common/.../MixAll.java``.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace

from rebalance_engine.membership.profiles import Policy
from rebalance_engine.model import RETRY_TOPIC_PREFIX
from rebalance_engine.remoting.bodies.settings import (
    SubscriptionGroupConfig,
    SubscriptionGroupWrapper,
    TopicConfig,
)

SYSTEM_GROUP_PREFIX = "CID_RMQ_SYS_"
SYSTEM_GROUPS = (  # ``SubscriptionGroupManager.init``
    "TOOLS_CONSUMER",
    "FILTERSRV_CONSUMER",
    "SELF_TEST_C_GROUP",
    "CID_ONS-HTTP-PROXY",
    "CID_ONSAPI_PULL",
    "CID_ONSAPI_PERMISSION",
    "CID_ONSAPI_OWNER",
)
TRANSACTION_GROUP = "CID_RMQ_SYS_TRANS"
ALWAYS_PULLING = frozenset(  # ``MixAll.isSysConsumerGroupPullMessage``
    {*SYSTEM_GROUPS, "DEFAULT_CONSUMER", "SCHEDULE_CONSUMER", "__MONITOR_CONSUMER"}
)
LEGAL_CHARACTERS = frozenset("%|-_0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz")
READ, WRITE = 4, 2  # ``PermName.java``
FORBIDDEN_TO_READ = 1 << 2  # ``PermName.INDEX_PERM_READ``
UNIT_SUBSCRIBED = 2  # ``TopicSysFlag.FLAG_UNIT_SUB``


def retry_topic(group: str) -> str:
    """Name the topic through which messages come back that could not be consumed."""
    return RETRY_TOPIC_PREFIX + group


def may_always_pull(group: str) -> bool:
    """Say whether a group is RocketMQ's own, and may pull where pull consumers are rejected."""
    return group in ALWAYS_PULLING or group.startswith(SYSTEM_GROUP_PREFIX)


class GroupConfigs:
    """Group name -> its configuration, and which topics a group may not read."""

    def __init__(self, policy: Policy, kept: SubscriptionGroupWrapper | None = None) -> None:
        kept = kept or SubscriptionGroupWrapper()
        self._policy = policy
        own = (*SYSTEM_GROUPS, TRANSACTION_GROUP) if policy.rules.has_transaction_group else SYSTEM_GROUPS
        self._groups = {group: SubscriptionGroupConfig(group_name=group) for group in own}
        self._groups.update(kept.subscription_group_table)
        self._forbidden = {group: dict(topics) for group, topics in (kept.forbidden_table or {}).items()}

    def find(self, group: str) -> SubscriptionGroupConfig | None:
        """Look a group up without creating it."""
        return self._groups.get(group)

    def find_or_create(self, group: str) -> SubscriptionGroupConfig | None:
        """Look a group up, as most requests do: an unknown one is created, unless it may not be."""
        config = self._groups.get(group)
        if config is None and self._may_create(group):
            config = self._groups[group] = SubscriptionGroupConfig(group_name=group)
        return config

    def _may_create(self, group: str) -> bool:
        if not (self._policy.settings.creates_groups or group.startswith(SYSTEM_GROUP_PREFIX)):
            return False
        return not self._policy.rules.checks_group_names or self.why_illegal(group) is None

    def why_illegal(self, group: str) -> str | None:
        """Say in Java's words why no group may have this name; None if one may."""
        is_strict = self._policy.rules.limits_group_names_to_120
        longest = 120 if is_strict else 255
        if is_strict and not group.strip():
            return "The specified group is blank."
        if not LEGAL_CHARACTERS.issuperset(group):
            return f"The specified group: {group}, contains illegal characters, allowing only ^[%|a-zA-Z0-9_-]+$"
        if len(group) > longest:
            return f"The specified group: {group}, is longer than group max length: {longest}"
        return None

    def put(self, config: SubscriptionGroupConfig) -> None:
        """Create a group or replace what is configured of it, as a whole."""
        self._groups[config.group_name] = config

    def delete(self, group: str) -> None:
        """Forget what is configured of a group, and what it may not read."""
        self._groups.pop(group, None)
        self._forbidden.pop(group, None)

    def forbid(self, group: str, topic: str, *, is_forbidden: bool) -> None:
        """Forbid a group to read a topic, or allow it again. Allowing one allows all: Java drops the group's table."""
        if is_forbidden:
            self._forbidden.setdefault(group, {})[topic] = FORBIDDEN_TO_READ
        else:
            self._forbidden.pop(group, None)

    def is_forbidden(self, group: str, topic: str) -> bool:
        """Say whether the group may not read the topic."""
        return bool(self._forbidden.get(group, {}).get(topic, 0) & FORBIDDEN_TO_READ)

    def all(self) -> Mapping[str, SubscriptionGroupConfig]:
        """Give all groups."""
        return dict(self._groups)

    def all_forbidden(self) -> Mapping[str, Mapping[str, int]]:
        """Give group -> topic -> bits, as request 201 answers it."""
        return {group: dict(topics) for group, topics in self._forbidden.items()}


class TopicConfigs:
    """Topic name -> its configuration on this broker.

    Attributes:
        version: grows with every change; whoever registers this broker with name servers looks at it, because a retry
            topic that a heartbeat creates is registered at once.
    """

    def __init__(self, policy: Policy, configs: Iterable[TopicConfig] = ()) -> None:
        self._policy = policy
        self._topics = {config.topic_name: config for config in configs}
        self.version = 0

    def find(self, topic: str) -> TopicConfig | None:
        """Look a topic up."""
        return self._topics.get(topic)

    def put(self, config: TopicConfig) -> None:
        """Create a topic or replace what is configured of it."""
        self._topics[config.topic_name] = config
        self.version += 1

    def delete(self, topic: str) -> None:
        """Forget a topic."""
        if self._topics.pop(topic, None) is not None:
            self.version += 1

    def ensure_retry_topic(self, config: SubscriptionGroupConfig, topics: Iterable[str], *, is_unit: bool) -> None:
        """Create the retry topic of a group that subscribes to ``topics``, unless it is there.

        Of one that is there only the order flag follows the subscriptions; ``retryQueueNums`` counts at creation.
        """
        is_ordered = self._policy.rules.marks_ordered_retry_topics and any(map(self._is_ordered, topics))
        known = self._topics.get(retry_topic(config.group_name))
        if known is None:
            self.put(self._retry_topic_config(config, is_ordered=is_ordered, is_unit=is_unit))
        elif self._policy.rules.marks_ordered_retry_topics and known.order is not is_ordered:
            self.put(replace(known, order=is_ordered))

    def _retry_topic_config(self, config: SubscriptionGroupConfig, *, is_ordered: bool, is_unit: bool) -> TopicConfig:
        return TopicConfig(
            topic_name=retry_topic(config.group_name),
            read_queue_nums=config.retry_queue_nums,
            write_queue_nums=config.retry_queue_nums,
            perm=READ | WRITE,
            topic_sys_flag=UNIT_SUBSCRIBED if is_unit else 0,
            order=is_ordered,
            attributes={} if self._policy.rules.gives_topics_attributes else None,
        )

    def _is_ordered(self, topic: str) -> bool:
        config = self._topics.get(topic)
        return config is not None and config.order

    def all(self) -> Mapping[str, TopicConfig]:
        """Give all topics."""
        return dict(self._topics)
