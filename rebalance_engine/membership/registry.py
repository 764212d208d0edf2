"""Who belongs to which group, and what the group wants: the heart of membership.

The unit is the TCP channel, not the client id. A group's topics are those of the last heartbeat, whoever sent it; each
topic's expression is that of the highest version. A channel that is silent too long is thrown out by a scan.

Sources: ``broker/.../client/ConsumerManager.java``, ``ConsumerGroupInfo.java``. Java's tables have no order; here
everything is in the order in which it came.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass, field

from rebalance_engine.effects import Channel
from rebalance_engine.events import Departure
from rebalance_engine.membership.presence import Presence
from rebalance_engine.model import MessageModel
from rebalance_engine.remoting.bodies.clients import (
    ConsumeFromWhere,
    ConsumerData,
    ConsumeType,
    SubscriptionData,
)

# ---- what happened to a group ----


@dataclass(frozen=True, slots=True)
class Came:
    """A channel came to a group; ``is_first`` is whether it is the only one with its client id."""

    group: str
    presence: Presence
    is_first: bool


@dataclass(frozen=True, slots=True)
class Went:
    """A channel left a group; ``is_last`` is whether no other one has its client id."""

    group: str
    presence: Presence
    departure: Departure
    is_last: bool


@dataclass(frozen=True, slots=True)
class TopicAdded:
    """The group subscribes to a further topic."""

    group: str
    subscription: SubscriptionData


@dataclass(frozen=True, slots=True)
class TopicReplaced:
    """A higher version of a topic's subscription came."""

    group: str
    subscription: SubscriptionData


@dataclass(frozen=True, slots=True)
class TopicRemoved:
    """The last heartbeat did not name the topic."""

    group: str
    topic: str


Change = Came | Went | TopicAdded | TopicReplaced | TopicRemoved


@dataclass(frozen=True, slots=True, kw_only=True)
class Update:
    """What one event did to one group.

    Attributes:
        is_change: whether Java calls it a change: its members are to hear of it, unless something speaks against it.
        channels: of the members afterwards.
    """

    group: str
    message_model: MessageModel
    changes: tuple[Change, ...]
    is_change: bool
    channels: tuple[Channel, ...]


# ---- the tables ----


@dataclass(slots=True, kw_only=True)
class ConsumerGroup:
    """A group while it has members. The three attributes are those of whichever heartbeat came last."""

    name: str
    consume_type: ConsumeType
    message_model: MessageModel
    consume_from_where: ConsumeFromWhere
    subscriptions: dict[str, SubscriptionData] = field(default_factory=dict)
    members: dict[Channel, Presence] = field(default_factory=dict)

    def clients(self) -> tuple[str, ...]:
        """Give the client id of every channel, duplicates included: the list that members divide queues by."""
        return tuple(presence.client for presence in self.members.values())


class Registry:
    """The consumer groups of one broker."""

    def __init__(self, *, expires_after_ms: int = 120_000, pulled_expires_after_ms: int = 600_000) -> None:
        self._expires_after_ms = expires_after_ms
        self._pulled_expires_after_ms = pulled_expires_after_ms
        self._groups: dict[str, ConsumerGroup] = {}
        self._topics: dict[str, dict[str, None]] = {}  # topic -> groups; ``topicGroupTable``
        self._pulled: dict[str, dict[str, SubscriptionData]] = {}  # ``consumerCompensationTable``
        self._announced: dict[Channel, dict[str, None]] = {}  # ``ClientChannelAttributeHelper``
        self._scanned_at: int | None = None

    # ---- coming ----

    def register(
        self, presence: Presence, consumer: ConsumerData, at: int, *, has_subscriptions: bool = True
    ) -> Update:
        """Enter a consumer of a heartbeat; one without subscriptions leaves those of the group alone (version 2)."""
        group = self._groups.get(consumer.group_name) or self._create(consumer)
        self._index(group.name, _topics(consumer) if has_subscriptions else tuple(group.subscriptions))
        _copy_attributes(consumer, group)
        is_new, changes = _update_channel(group, presence, at)
        topics = tuple(_update_subscriptions(group, consumer.subscription_data_set)) if has_subscriptions else ()
        if is_new and has_subscriptions:  # Java forgets the other case, so that closing does not find it again
            self._announced.setdefault(presence.peer.channel, {})[group.name] = None
        return _update(group, (*changes, *topics), is_change=is_new or any(map(_changes_topics, topics)))

    def _create(self, consumer: ConsumerData) -> ConsumerGroup:
        group = self._groups[consumer.group_name] = ConsumerGroup(
            name=consumer.group_name,
            consume_type=consumer.consume_type,
            message_model=consumer.message_model,
            consume_from_where=consumer.consume_from_where,
        )
        return group

    def _index(self, group: str, topics: Iterable[str]) -> None:
        for topic in topics:
            self._topics.setdefault(topic, {})[group] = None

    def keep_pulled(self, group: str, subscription: SubscriptionData) -> None:
        """Keep the subscription that came with a pull, for whoever finds none in the group itself."""
        self._pulled.setdefault(group, {})[subscription.topic] = subscription

    # ---- going ----

    def unregister(self, name: str, channel: Channel) -> Update | None:
        """Take a channel out of a group that is there; it is a change even if the channel was no member."""
        group = self._groups.get(name)
        if group is None:
            return None
        changes = tuple(_take_out(group, channel, Departure.UNREGISTERED))
        self._drop_if_empty(group)
        return _update(group, changes, is_change=True)

    def close(self, channel: Channel, *, only_announced: bool = False) -> tuple[Update, ...]:
        """Take a channel out of all its groups; or only of those that it announced with subscriptions.

        Args:
            channel: it is no more.
            only_announced: ``enableFastChannelEventProcess``.
        """
        announced = self._announced.pop(channel, {})
        names = announced if only_announced else tuple(self._groups)
        groups = (self._groups[name] for name in names if name in self._groups)
        return tuple(self._close_in(group, channel) for group in groups if channel in group.members)

    def _close_in(self, group: ConsumerGroup, channel: Channel) -> Update:
        changes = tuple(_take_out(group, channel, Departure.CONNECTION_CLOSED))
        self._drop_if_empty(group)
        return _update(group, changes, is_change=True)

    def _drop_if_empty(self, group: ConsumerGroup) -> None:
        if group.members:
            return
        del self._groups[group.name]
        for topic in group.subscriptions:
            groups = self._topics[topic]
            groups.pop(group.name, None)
            if not groups:
                del self._topics[topic]

    def expire(self, at: int) -> tuple[Update, ...]:
        """Take out who was silent for too long. Nobody calls that a change, so nobody is notified.

        A group that is empty then goes too, but the index of topics keeps it: Java's scan does not clear it.
        """
        self._scanned_at = at
        updates = tuple(self._expire_in(group, at) for group in tuple(self._groups.values()))
        self._expire_pulled(at)
        return tuple(update for update in updates if update.changes)

    def _expire_in(self, group: ConsumerGroup, at: int) -> Update:
        silent = [
            channel for channel, presence in group.members.items() if at - presence.heard_at > self._expires_after_ms
        ]
        changes = [went for channel in silent for went in _take_out(group, channel, Departure.HEARTBEAT_EXPIRED)]
        if not group.members:
            del self._groups[group.name]
        return _update(group, tuple(changes), is_change=False)

    def _expire_pulled(self, at: int) -> None:
        for group, topics in tuple(self._pulled.items()):
            for topic, subscription in tuple(topics.items()):
                if at - subscription.sub_version > self._pulled_expires_after_ms:
                    del topics[topic]
            if not topics:
                del self._pulled[group]

    # ---- questions ----

    def find(self, group: str) -> ConsumerGroup | None:
        """Give a group that has members; look, do not touch."""
        return self._groups.get(group)

    def groups(self) -> tuple[ConsumerGroup, ...]:
        """Give all groups that have members."""
        return tuple(self._groups.values())

    def clients(self, group: str) -> tuple[str, ...]:
        """Give the group's client ids, one a channel; none where nobody is."""
        found = self._groups.get(group)
        return found.clients() if found else ()

    def find_member(self, group: str, channel: Channel) -> Presence | None:
        """Give what a group knows of a channel."""
        found = self._groups.get(group)
        return found.members.get(channel) if found else None

    def find_subscription(self, group: str, topic: str) -> SubscriptionData | None:
        """Give the group's subscription, or else the one that last came with a pull."""
        found = self._groups.get(group)
        subscription = found.subscriptions.get(topic) if found else None
        return subscription or self._pulled.get(group, {}).get(topic)

    def who_consumes(self, topic: str, *, by_index: bool) -> tuple[str, ...]:
        """Name the groups that subscribe to a topic; the index also has those that did (``topicGroupTable``)."""
        if by_index:
            return tuple(self._topics.get(topic, ()))
        return tuple(group.name for group in self._groups.values() if topic in group.subscriptions)

    def check(self, open_channels: Collection[Channel], at: int, *, may_outlive: bool = False) -> None:
        """Hold the tables to their promises.

        Args:
            open_channels: all that are.
            at: what time it is.
            may_outlive: whether a member may outlive its channel, which happens where only announced groups are left.
        """
        for group in self._groups.values():
            assert group.members, f"{group.name} has no members and is still there"
            for channel, presence in group.members.items():
                self._check_member(group, channel, presence, at)
                assert may_outlive or channel in open_channels, f"{group.name} lists {channel}, which is closed"
            for topic, subscription in group.subscriptions.items():
                assert subscription.topic == topic, f"{group.name} keeps {subscription.topic} as {topic}"
                assert group.name in self._topics[topic], f"{group.name} is missing among those that want {topic}"
        assert all(self._topics.values()), "a topic that nobody wants is still in the index"
        assert self._announced.keys() <= set(open_channels), "a closed channel is still remembered"

    def _check_member(self, group: ConsumerGroup, channel: Channel, presence: Presence, at: int) -> None:
        assert presence.peer.channel == channel, f"{group.name} keeps {presence} under channel {channel}"
        assert presence.heard_at <= at, f"{presence} was heard in the future; it is {at}"
        if self._scanned_at is not None:
            silence = self._scanned_at - presence.heard_at
            assert silence <= self._expires_after_ms, (
                f"{group.name}: {presence} was left by the scan after {silence} ms"
            )


def _topics(consumer: ConsumerData) -> tuple[str, ...]:
    return tuple(subscription.topic for subscription in consumer.subscription_data_set)


def _copy_attributes(consumer: ConsumerData, group: ConsumerGroup) -> None:
    group.consume_type = consumer.consume_type
    group.message_model = consumer.message_model
    group.consume_from_where = consumer.consume_from_where


def _update_channel(group: ConsumerGroup, presence: Presence, at: int) -> tuple[bool, tuple[Change, ...]]:
    """Enter a channel, or refresh it. To come under another client id replaces the entry, and is no change."""
    known = group.members.get(presence.peer.channel)
    if known is None:
        return True, (_enter(group, presence),)
    known.heard_at = at
    if known.client == presence.client:
        return False, ()
    went = tuple(_take_out(group, presence.peer.channel, Departure.UNKNOWN))
    return False, (*went, _enter(group, presence))


def _enter(group: ConsumerGroup, presence: Presence) -> Came:
    is_first = presence.client not in group.clients()
    group.members[presence.peer.channel] = presence
    return Came(group.name, presence, is_first)


def _take_out(group: ConsumerGroup, channel: Channel, departure: Departure) -> Iterator[Went]:
    presence = group.members.pop(channel, None)
    if presence is not None:
        yield Went(group.name, presence, departure, is_last=presence.client not in group.clients())


def _update_subscriptions(group: ConsumerGroup, subscriptions: Iterable[SubscriptionData]) -> Iterator[Change]:
    named: set[str] = set()
    for subscription in subscriptions:
        named.add(subscription.topic)
        known = group.subscriptions.get(subscription.topic)
        if known is not None and subscription.sub_version <= known.sub_version:
            continue  # even if the expression differs
        group.subscriptions[subscription.topic] = subscription
        yield (TopicReplaced if known else TopicAdded)(group.name, subscription)
    for topic in [topic for topic in group.subscriptions if topic not in named]:
        del group.subscriptions[topic]
        yield TopicRemoved(group.name, topic)


def _changes_topics(change: Change) -> bool:
    return isinstance(change, TopicAdded | TopicRemoved)


def _update(group: ConsumerGroup, changes: tuple[Change, ...], *, is_change: bool) -> Update:
    return Update(
        group=group.name,
        message_model=group.message_model,
        changes=changes,
        is_change=is_change,
        channels=tuple(group.members),
    )
