"""What NameServers told of brokers and routes, and what a further answer adds: with the bounds of every change.

A change lies between the last look that showed the old and the first that showed the new. What a watcher sees first
may have been so for any time.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Set
from dataclasses import replace

from rebalance_engine.effects import Address
from rebalance_engine.events import EXACT, BrokerGone, BrokerSeen, Fact, RouteSeen
from rebalance_engine.network import answers
from rebalance_engine.network.answers import Answerer
from rebalance_engine.network.watcher.bounds import between
from rebalance_engine.network.watcher.known import BrokerKey
from rebalance_engine.network.watcher.news import is_same
from rebalance_engine.remoting.bodies.routes import MASTER_ID, ClusterInfo, TopicRouteData


class Servers:
    """Brokers and routes, as NameServers list them.

    Args:
        name_servers: how many there are.
        brokers: those that were known before.
    """

    def __init__(self, name_servers: int, brokers: Mapping[BrokerKey, Address]) -> None:
        self._name_servers = name_servers
        self._brokers: dict[BrokerKey, Address] = dict(brokers)
        self._tables: dict[Address, frozenset[BrokerKey]] = {}
        self._tables_at: dict[Address, int] = {}
        self._listed_at: dict[BrokerKey, int] = {}  # when any of them listed it last
        self._versions: dict[Address, str] = {}
        self._routes: dict[tuple[str, Address], Fact] = {}
        self._routes_at: dict[tuple[str, Address], int] = {}

    @property
    def masters(self) -> dict[str, Address]:
        """Every master that some NameServer knows, or knew before one stopped to answer."""
        return {name: address for (name, number), address in self._brokers.items() if number == MASTER_ID}

    def routed(self, topics: Iterable[str]) -> set[str]:
        """Name the brokers that routes of these topics name."""
        routes = (self._routes.get((topic, at)) for topic in topics for at in self._tables)
        return {broker.broker for fact in routes if isinstance(fact, RouteSeen) for broker in fact.brokers}

    def has_route(self, topic: str, name_server: Address) -> bool:
        """Ask whether a NameServer told a topic's route before, or that it has none."""
        return (topic, name_server) in self._routes

    def routes_at(self, topics: Iterable[str], name_servers: Iterable[Address]) -> int | None:
        """Say since when each NameServer has told each of these topics' routes once more; None: one never was."""
        names = tuple(name_servers)
        times = [self._routes_at.get((topic, name)) for topic in topics for name in names]
        told = [at for at in times if at is not None]
        return min(told, default=None) if len(told) == len(times) else None

    def keep_routes(self, topics: Set[str]) -> None:
        """Forget the routes of all other topics: nobody asks for them, so that the next answer is news."""
        for kept in (self._routes, self._routes_at):
            for key in [key for key in kept if key[0] not in topics]:
                del kept[key]

    def cluster_heard(self, info: ClusterInfo, by: Answerer) -> Iterator[BrokerSeen | BrokerGone]:
        """Take in what a NameServer knows of the brokers (106)."""
        low = min(self._tables_at.values()) if len(self._tables_at) == self._name_servers else None
        listed = frozenset(
            (broker.broker_name, number) for broker in info.broker_addr_table.values() for number in broker.broker_addrs
        )
        self._tables[by.address], self._tables_at[by.address] = listed, by.since
        for fact in answers.brokers_stated(info, by, self._versions):
            key = (fact.broker, fact.broker_id)
            if self._brokers.get(key) != fact.address:
                self._brokers[key] = fact.address
                yield replace(fact, exactness=between(low, by.at))
        self._listed_at.update(dict.fromkeys(listed, by.since))
        if len(self._tables) == self._name_servers:
            yield from self._gone(by)

    def _gone(self, by: Answerer) -> Iterator[BrokerGone]:
        """A broker is gone when no NameServer lists it any more, each by its last answer."""
        listed = frozenset[BrokerKey]().union(*self._tables.values())
        for key in sorted(self._brokers.keys() - listed):
            address, low = self._brokers.pop(key), self._listed_at.pop(key, None)
            name, number = key
            yield BrokerGone(
                at=by.at,
                source=by.source,
                exactness=between(low, by.at),
                broker=name,
                broker_id=number,
                address=address,
            )

    def version_heard(self, broker: str, address: Address, version: str, by: Answerer) -> Iterator[BrokerSeen]:
        """Take in what a broker says that it is (28)."""
        if not version or self._versions.get(address) == version:
            return
        self._versions[address] = version
        number = next((number for (name, number), at in self._brokers.items() if (name, at) == (broker, address)), None)
        if number is not None:
            yield BrokerSeen(
                at=by.at,
                source=by.source,
                exactness=EXACT,
                broker=broker,
                broker_id=number,
                address=address,
                version=version,
            )

    def route_heard(self, topic: str, route: TopicRouteData | None, by: Answerer) -> Fact | None:
        """Take in a topic's route by one NameServer (105); None where it says what it said before."""
        key = (topic, by.address)
        low, self._routes_at[key] = self._routes_at.get(key), by.since
        fact = replace(answers.route_stated(topic, route, by), exactness=between(low, by.at))
        if is_same(self._routes.get(key), fact):
            return None
        self._routes[key] = fact
        return fact
