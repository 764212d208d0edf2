"""What a consumer subscribes to, and as of when.

Source: ``client/.../impl/consumer/RebalanceImpl.java`` (``subscriptionInner``).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from rebalance_engine.remoting.bodies.clients import SubscriptionData
from rebalance_engine.remoting.tags import subscription


class Subscriptions:
    """The topics of one consumer, in the order in which it subscribed (Java's is that of hashes)."""

    def __init__(self) -> None:
        self._by_topic: dict[str, SubscriptionData] = {}

    def add(self, topic: str, expression: str, version: int) -> None:
        """Subscribe, or change the expression.

        Raises:
            ValueError: the expression has no tag.
        """
        self._by_topic[topic] = subscription(topic, expression, version=version)

    def remove(self, topic: str) -> None:
        """Subscribe no more."""
        self._by_topic.pop(topic, None)

    def bump(self, topic: str, version: int) -> None:
        """Make a subscription as new as now, so that brokers prefer it to an older one."""
        known = self._by_topic.get(topic)
        if known is not None:
            self._by_topic[topic] = replace(known, sub_version=version)

    def get(self, topic: str) -> SubscriptionData | None:
        """Give the subscription of a topic."""
        return self._by_topic.get(topic)

    @property
    def all(self) -> tuple[SubscriptionData, ...]:
        """All of them."""
        return tuple(self._by_topic.values())

    @property
    def topics(self) -> tuple[str, ...]:
        """Their topics."""
        return tuple(self._by_topic)

    def __contains__(self, topic: object) -> bool:
        return topic in self._by_topic

    def __iter__(self) -> Iterator[str]:
        return iter(self.topics)
