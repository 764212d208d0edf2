"""What brokers do differently by version, and what an operator can set, as data.

``rules_of("5.3.0")`` gives the rules of that release. They were read from the released sources, tag by tag:
``broker/.../client/{ConsumerManager,ProducerManager,DefaultConsumerIdsChangeListener}.java``,
``broker/.../processor/{ClientManageProcessor,ConsumerManageProcessor,PullMessageProcessor}.java``,
``broker/.../subscription/SubscriptionGroupManager.java``, ``common/.../BrokerConfig.java``.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from rebalance_engine.remoting.bodies.settings import MessageRequestMode
from rebalance_engine.remoting.versions import Release, release

Version = Release
FIRST: Version = (4, 0, 0)


@dataclass(frozen=True, slots=True, kw_only=True)
class BrokerRules:
    """What one release does; ``SINCE`` says from which release on each is true, ``UNTIL`` before which.

    Attributes:
        forgets_empty_producer_groups: a producer group whose channels closed is forgotten; before, it stays, empty.
        marks_ordered_retry_topics: the retry topic of a group that subscribes to an ordered topic is ordered.
        can_notify_later: ``realTimeNotifyConsumerChange`` exists.
        can_reject_pull_consumers: ``rejectPullConsumerEnable`` exists.
        names_forbidden_type: a pull that is not permitted says why in ``forbiddenType``.
        can_forbid_topics: a group may be forbidden one topic.
        heeds_set_zero: ``setZeroIfNotFound=false`` of an offset query counts.
        can_reset_offsets: ``useServerSideResetOffset`` exists.
        has_transaction_group: the group ``CID_RMQ_SYS_TRANS`` is always there.
        gives_topics_attributes: topics have attributes, if only empty ones.
        lists_topics_of_groups: the list of all offsets says which topics each group has.
        keeps_pull_offsets: how far a group has pulled is kept beside how far it is.
        checks_topic_of_offsets: an offset of an unknown topic is not stored.
        takes_empty_for_new: a group without an offset starts at 0 of a queue that never had a message; later, it is
            told that there is none, and starts where its own setting says.
        names_new_faq: remarks name the newer address of the questions and answers.
        keeps_pulled_subscriptions: a subscription that comes with a pull is kept for ten minutes (compensation).
        checks_group_names: no group is created under an illegal name.
        skips_unconfigured_groups: a heartbeat for a group without configuration does nothing; before, it registers.
        has_heartbeat_v2: heartbeats may come without subscriptions.
        resets_offsets: ``useServerSideResetOffset`` is on unless it is set.
        checks_group_of_offsets: an offset of an unknown group is not stored.
        spares_broadcasting: members of broadcasting groups are not notified.
        calls_queue_ids_invalid: a queue id out of range is INVALID_PARAMETER; before, SYSTEM_ERROR.
        keeps_topic_index: ``topicGroupTable`` answers who consumes a topic; topics leave it only with their group.
        has_fast_channel_events: ``enableFastChannelEventProcess`` exists.
        checks_request_modes: no request mode is set for a topic or a group that is not there.
        counts_groups: the list of all groups says how many there are.
        limits_group_names_to_120: before, to 255 characters.
    """

    forgets_empty_producer_groups: bool
    marks_ordered_retry_topics: bool
    can_notify_later: bool
    can_reject_pull_consumers: bool
    names_forbidden_type: bool
    can_forbid_topics: bool
    heeds_set_zero: bool
    can_reset_offsets: bool
    has_transaction_group: bool
    gives_topics_attributes: bool
    lists_topics_of_groups: bool
    keeps_pull_offsets: bool
    checks_topic_of_offsets: bool
    takes_empty_for_new: bool
    names_new_faq: bool
    keeps_pulled_subscriptions: bool
    checks_group_names: bool
    skips_unconfigured_groups: bool
    has_heartbeat_v2: bool
    resets_offsets: bool
    checks_group_of_offsets: bool
    spares_broadcasting: bool
    calls_queue_ids_invalid: bool
    keeps_topic_index: bool
    has_fast_channel_events: bool
    checks_request_modes: bool
    counts_groups: bool
    limits_group_names_to_120: bool


SINCE: Mapping[str, Version] = {
    "forgets_empty_producer_groups": (5, 0, 0),
    "marks_ordered_retry_topics": (5, 0, 0),
    "can_notify_later": (5, 0, 0),
    "can_reject_pull_consumers": (5, 0, 0),
    "names_forbidden_type": (5, 0, 0),
    "can_forbid_topics": (5, 0, 0),
    "heeds_set_zero": (5, 0, 0),
    "can_reset_offsets": (5, 1, 0),
    "has_transaction_group": (5, 0, 0),
    "gives_topics_attributes": (5, 0, 0),
    "lists_topics_of_groups": (5, 0, 0),
    "keeps_pull_offsets": (5, 1, 0),
    "checks_topic_of_offsets": (5, 1, 0),
    "names_new_faq": (5, 1, 0),
    "keeps_pulled_subscriptions": (5, 1, 0),
    "checks_group_names": (5, 1, 1),
    "skips_unconfigured_groups": (5, 1, 1),
    "has_heartbeat_v2": (5, 1, 3),
    "resets_offsets": (5, 2, 0),
    "checks_group_of_offsets": (5, 3, 0),
    "spares_broadcasting": (5, 3, 1),
    "calls_queue_ids_invalid": (5, 3, 2),
    "keeps_topic_index": (5, 3, 3),
    "has_fast_channel_events": (5, 3, 3),
    "checks_request_modes": (5, 3, 3),
    "counts_groups": (5, 3, 4),
    "limits_group_names_to_120": (5, 3, 4),
}
UNTIL: Mapping[str, Version] = {
    "takes_empty_for_new": (5, 1, 0),  # ``checkInDiskByConsumeOffset`` became ``checkInMemByConsumeOffset``
}


def rules_of(version: str) -> BrokerRules:
    """Give the rules of a release such as ``5.3.1``.

    Raises:
        ValueError: it is no release from 4.0.0 on.
    """
    asked = _release(version)
    rules = {rule: asked >= since for rule, since in SINCE.items()}
    rules.update({rule: asked < until for rule, until in UNTIL.items()})
    return BrokerRules(**rules)


def is_since(version: str, since: Version) -> bool:
    """Say whether a version is that one or later."""
    return _release(version) >= since


def _release(version: str) -> Version:
    found = release(version, "the broker version")
    if found < FIRST:
        raise ValueError(f"the broker version is {version!r}; known is 4.0.0 and later")
    return found


@dataclass(frozen=True, slots=True, kw_only=True)
class BrokerSettings:
    """What an operator can set, by version; the defaults are ``BrokerConfig.java``'s. Times are in ms.

    A setting that the version does not have is not looked at.

    Attributes:
        version: of the broker.
        cluster: the name of its cluster, for facts; None where nobody needs it.
        broker: ``brokerName``.
        address: ``ip:port`` that it listens on.
        is_readable: the read bit of ``brokerPermission``.
        creates_groups: ``autoCreateSubscriptionGroup``.
        notifies: ``notifyConsumerIdsChangedEnable``.
        notifies_at_once: ``realTimeNotifyConsumerChange``.
        rejects_pull_consumers: ``rejectPullConsumerEnable``.
        handles_channels_fast: ``enableFastChannelEventProcess``.
        resets_offsets: ``useServerSideResetOffset``; None is the version's default.
        filters_by_property: ``enablePropertyFilter``: whether SQL92 expressions are understood.
        allows_lite_pull: ``litePullMessageEnable``.
        divides_queues: ``serverLoadBalancerEnable``: for clients that let it; without it they all get everything.
        default_request_mode: ``defaultMessageRequestMode``, of a topic and a group for which none was set.
        default_pop_share_queue_num: ``defaultPopShareQueueNum``, where the default is POP; -1: all share all.
        channel_expires_after_ms: ``channelExpiredTimeout``; of consumers.
        pulled_subscription_expires_after_ms: ``subscriptionExpiredTimeout``.
        lock_expires_after_ms: the system property ``rocketmq.broker.rebalance.lockMaxLiveTime``.
    """

    version: str = "5.5.0"
    cluster: str | None = None
    broker: str = "broker-a"
    address: str = "127.0.0.1:10911"
    is_readable: bool = True
    creates_groups: bool = True
    notifies: bool = True
    notifies_at_once: bool = True
    rejects_pull_consumers: bool = False
    handles_channels_fast: bool = False
    resets_offsets: bool | None = None
    filters_by_property: bool = False
    allows_lite_pull: bool = True
    divides_queues: bool = True
    default_request_mode: MessageRequestMode = MessageRequestMode.PULL
    default_pop_share_queue_num: int = -1
    channel_expires_after_ms: int = 120_000
    pulled_subscription_expires_after_ms: int = 600_000
    lock_expires_after_ms: int = 60_000


@dataclass(frozen=True, slots=True)
class Policy:
    """Settings and rules of one broker, put together: what it may do."""

    settings: BrokerSettings
    rules: BrokerRules

    @classmethod
    def of(cls, settings: BrokerSettings) -> Policy:
        """Look up the rules of the version that is set."""
        return cls(settings, rules_of(settings.version))

    @property
    def notifies_later(self) -> bool:
        """Whether notifications wait for the next flush."""
        return self.rules.can_notify_later and not self.settings.notifies_at_once

    @property
    def rejects_pull_consumers(self) -> bool:
        """Whether consumers that pull by themselves are turned away."""
        return self.rules.can_reject_pull_consumers and self.settings.rejects_pull_consumers

    @property
    def handles_channels_fast(self) -> bool:
        """Whether a closed channel is removed from its own groups only, with its own rule of notification."""
        return self.rules.has_fast_channel_events and self.settings.handles_channels_fast

    @property
    def resets_offsets(self) -> bool:
        """Whether an offset that was reset wins over the stored one."""
        chosen = self.settings.resets_offsets
        return self.rules.can_reset_offsets and (self.rules.resets_offsets if chosen is None else chosen)
