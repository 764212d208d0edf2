"""What a client knows of topics and brokers: routes, publish infos made from them, and addresses.

Source: ``client/.../impl/factory/MQClientInstance.java`` (``topicRouteTable``, ``brokerAddrTable``,
``updateTopicRouteInfoFromNameServer``, ``cleanOfflineBroker``).
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping

from rebalance_engine.effects import Address
from rebalance_engine.producer.index import Index
from rebalance_engine.producer.java_numbers import map_order
from rebalance_engine.producer.profiles import IndexRule, Profile
from rebalance_engine.producer.publish_info import PublishInfo, differs, narrowed
from rebalance_engine.producer.settings import Settings
from rebalance_engine.remoting.bodies.routes import MASTER_ID, TopicRouteData

_BUCKETS = 16  # of ``new ConcurrentHashMap<>()``


class RouteBook:
    """The tables of one client, and the rule by which a new route replaces an old one."""

    def __init__(self, profile: Profile, settings: Settings, luck: random.Random) -> None:
        self._profile = profile
        self._settings = settings
        self._luck = luck
        self._infos: dict[str, PublishInfo] = {}
        self._routes: dict[str, TopicRouteData] = {}
        self._addresses: dict[str, Mapping[int, Address]] = {}
        self._kept_indexes: dict[str, Index] = {}

    def info(self, topic: str) -> PublishInfo | None:
        """Give what is known of a topic, if it was ever asked for."""
        return self._infos.get(topic)

    def expect(self, topic: str) -> PublishInfo:
        """Give what is known of a topic, an empty entry if nothing was; from now on it is refreshed."""
        info = self._infos.get(topic)
        if info is None:
            info = self._infos[topic] = PublishInfo(topic, self._index(topic))
        return info

    def accept(self, topic: str, route: TopicRouteData, at: int) -> PublishInfo | None:
        """Take in an answer; give the new publish info, or None where the route is what it was.

        Raises:
            BadRoute: the order configuration is malformed; nothing was taken in.
        """
        info = self._infos.get(topic)
        if not differs(route, self._routes.get(topic)) and info is not None and info.has_queues:
            return None
        replacement = PublishInfo.from_route(topic, route, self._index(topic), self._profile, at)
        self._addresses.update({broker.broker_name: broker.broker_addrs for broker in route.broker_datas})
        self._routes[topic] = route
        self._infos[topic] = replacement
        return replacement

    def accept_default(self, topic: str, route: TopicRouteData, at: int) -> PublishInfo | None:
        """Take in the default topic's route in the name of a topic that does not exist.

        Raises:
            BadRoute: the order configuration is malformed; nothing was taken in.
        """
        return self.accept(topic, narrowed(route, self._profile, self._settings.default_topic_queues), at)

    def master_of(self, broker: str | None) -> Address | None:
        """Say where the master of a broker listens, if it is known (``findBrokerAddressInPublish``)."""
        return self._addresses.get(broker, {}).get(MASTER_ID) if broker is not None else None

    def masters(self) -> tuple[Address, ...]:
        """Give the addresses of all masters that are known; those are told of producers."""
        return tuple(table[MASTER_ID] for table in self._addresses.values() if MASTER_ID in table)

    def forget_offline(self) -> None:
        """Drop addresses that no route names any more."""
        known = {
            address
            for route in self._routes.values()
            for broker in route.broker_datas
            for address in broker.broker_addrs.values()
        }
        kept = {name: {i: a for i, a in table.items() if a in known} for name, table in self._addresses.items()}
        self._addresses = {name: table for name, table in kept.items() if table}

    def topics(self) -> list[str]:
        """Name every topic that was asked for, in the order of Java's map."""
        return map_order(self._infos, buckets=_BUCKETS)

    def __iter__(self) -> Iterator[PublishInfo]:
        """Walk the publish infos."""
        return iter(self._infos.values())

    def _index(self, topic: str) -> Index:
        if self._profile.index is not IndexRule.PER_SELECTOR:
            return Index(self._profile.index, self._luck)
        return self._kept_indexes.setdefault(topic, Index(self._profile.index, self._luck))
