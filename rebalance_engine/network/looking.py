"""A whole look at one group, within a deadline: what every server says of it, and what every member holds.

What did not come in time is unknown, and is named. All is asked within the budget of ``Admin``.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import chain

from rebalance_engine.consumer.routes import RouteBook
from rebalance_engine.effects import Address
from rebalance_engine.events import Fact, Missing
from rebalance_engine.group import GroupView, Member
from rebalance_engine.model import MessageModel, MessageQueue
from rebalance_engine.network import answers
from rebalance_engine.network.admin import Admin
from rebalance_engine.network.answers import Answerer
from rebalance_engine.network.asked import Deadline, Heard
from rebalance_engine.network.progress import Progress, ask_progress
from rebalance_engine.proxied import is_of_grpc
from rebalance_engine.remoting.bodies.clients import Connection, ConsumerConnection
from rebalance_engine.remoting.bodies.queues import ConsumerRunningInfo
from rebalance_engine.remoting.bodies.routes import BrokerData, ClusterInfo, TopicRouteData
from rebalance_engine.remoting.bodies.settings import SubscriptionGroupConfig, SubscriptionGroupWrapper
from rebalance_engine.remoting.codes import RequestCode

LOOK_S = 15.0
MOST_TRIES = 3  # brokers by which a member is asked, if one does not reach it

RouteKey = tuple[str, Address]


@dataclass(frozen=True, slots=True, kw_only=True)
class MemberLook:
    """One member as it was seen.

    Attributes:
        connections: broker -> its connections there; a client id that is there twice has two.
        running: its own answer; its ``by.at`` is when, its ``why`` is why there is none.
    """

    client_id: str
    connections: Mapping[str, tuple[Connection, ...]]
    running: Heard[ConsumerRunningInfo]

    @property
    def registrations(self) -> int:
        """How many processes have registered this id, as RocketMQ counts them."""
        return max((len(there) for there in self.connections.values()), default=1)

    @property
    def first(self) -> Connection | None:
        """One of its connections."""
        return next((one for there in self.connections.values() for one in there), None)

    @property
    def held(self) -> tuple[MessageQueue, ...] | None:
        """What it holds; None is unknown. Of several processes it is what one of them told."""
        info = self.running.value
        return None if info is None else tuple(sorted(q for q, entry in info.mq_table.items() if not entry.dropped))

    @property
    def topics(self) -> frozenset[str] | None:
        """What it subscribes to by its own word; None is unknown."""
        info = self.running.value
        return None if info is None else frozenset(data.topic for data in info.subscription_set)

    @property
    def assigns_itself(self) -> bool:
        """Whether it subscribes to nothing and holds queues all the same (``DefaultLitePullConsumer.assign``)."""
        return self.topics is not None and not self.topics and bool(self.held)

    @property
    def is_proxied(self) -> bool:
        """Whether it seems to come through a proxy, by its id: it owns no queues, and cannot be asked."""
        return self.running.value is None and is_of_grpc(self.client_id)

    @property
    def strategy(self) -> str | None:
        """What it divides by; None is unknown."""
        return None if self.running.value is None else answers.strategy_of(self.running.value.properties)

    @property
    def started_at(self) -> int | None:
        """When it was made, by its own clock, in ms since 1970; None is unknown."""
        return None if self.running.value is None else answers.started_at(self.running.value.properties)


@dataclass(frozen=True, eq=False, kw_only=True)
class GroupLook:
    """One look at a group.

    Attributes:
        began_at, ended_at: ms since 1970.
        name_servers: what each knows of the brokers.
        lists: what each master says of the members; a ``value`` of None without trouble is nobody online there.
        configs: what each master has configured of groups.
        routes: what each NameServer says of each topic.
        view: what the engine takes; ``silent`` members are unknown.
        lag: messages that wait in each queue; None is unknown.
        progress: what each master says of how far the group is, if it was asked.
        never_stored: the queues of which their broker said that no offset is stored; of others that may be unknown.
    """

    group: str
    cluster: str | None
    began_at: int
    ended_at: int
    name_servers: Mapping[Address, Heard[ClusterInfo]]
    lists: Mapping[str, Heard[ConsumerConnection | None]]
    configs: Mapping[str, Heard[SubscriptionGroupWrapper]]
    routes: Mapping[RouteKey, Heard[TopicRouteData | None]]
    members: tuple[MemberLook, ...]
    view: GroupView
    lag: Mapping[MessageQueue, int | None]
    progress: tuple[Progress, ...] = ()
    never_stored: frozenset[MessageQueue] = frozenset()

    @property
    def config(self) -> SubscriptionGroupConfig | None:
        """What is configured of the group, by the first broker that has it."""
        tables = (heard.value.subscription_group_table for heard in self.configs.values() if heard.value is not None)
        return next((table[self.group] for table in tables if self.group in table), None)

    @property
    def is_known(self) -> bool | None:
        """Whether the group exists anywhere; None while somebody who did not answer could know it."""
        if self.members or self.config is not None:
            return True
        is_complete = bool(self.configs) and all(heard.trouble is None for heard in self.configs.values())
        return False if is_complete else None

    @property
    def assigns_itself(self) -> bool:
        """Whether members take queues as they like, and nobody subscribes; who is silent may, if brokers know of it."""
        may_subscribe = self.view.silent and any(told.subscription_table for told in _told(self.lists))
        subscribe = may_subscribe or any(member.topics for member in self.members)
        return not subscribe and any(member.assigns_itself for member in self.members)

    @property
    def are_all_proxied(self) -> bool:
        """Whether there are members, and all seem to come through a proxy: nobody divides queues."""
        return bool(self.members) and all(member.is_proxied for member in self.members)

    def troubles(self) -> Iterator[Heard[object]]:
        """Give all that is missing."""
        heard: Iterable[Heard[object]] = chain(
            self.name_servers.values(),
            self.lists.values(),
            self.configs.values(),
            self.routes.values(),
            (member.running for member in self.members),
            chain.from_iterable(one.heard for one in self.progress),
        )
        yield from (one for one in heard if one.trouble is not None)

    def disagreements(self) -> Iterator[str]:
        """Say where those who should agree do not: brokers on the members, NameServers on routes and brokers."""
        told = {name: heard.value for name, heard in self.lists.items() if heard.trouble is None}
        counts = {name: Counter(ids_of(value)) for name, value in told.items()}
        for client_id in sorted(set().union(*counts.values())):
            there = [name for name, count in counts.items() if count[client_id]]
            if len(there) < len(counts):
                lacking = ", ".join(name for name in counts if name not in there)
                yield f"{client_id} is known to {', '.join(there)} and not to {lacking}"
        for topic in sorted({topic for topic, _ in self.routes}):
            said = {
                address: _queues(topic, heard.value)
                for (of, address), heard in self.routes.items()
                if of == topic and heard.trouble is None
            }
            if len(set(said.values())) > 1:
                sizes = ", ".join(f"{address} has {len(queues)} queues" for address, queues in said.items())
                yield f"NameServers differ on the route of {topic}: {sizes}"
        known = {
            address: frozenset(heard.value.broker_addr_table)
            for address, heard in self.name_servers.items()
            if heard.value
        }
        if len(set(known.values())) > 1:
            yield "NameServers know different brokers: " + "; ".join(
                f"{address} {', '.join(sorted(names)) or 'none'}" for address, names in known.items()
            )

    def facts(self) -> Iterator[Fact]:
        """State everything that was seen, and what is missing."""
        for heard in self.name_servers.values():
            if heard.value is not None:
                yield from answers.brokers_stated(heard.value, heard.by, {})
        for (topic, _), route in self.routes.items():
            if route.trouble is None:
                yield answers.route_stated(topic, route.value, route.by)
        yield from self._member_facts()
        for missing in self.troubles():
            assert missing.trouble is not None
            yield answers.missed(missing.by, missing.trouble, group=self.group)

    def _member_facts(self) -> Iterator[Fact]:
        for connection in self.lists.values():
            if connection.trouble is None:
                yield answers.list_stated(self.group, ids_of(connection.value), connection.by)
            if connection.value is not None:
                yield from answers.members_stated(self.group, connection.value, connection.by)
        for member in self.members:
            if member.running.value is not None:
                yield from answers.held_stated(self.group, member.client_id, member.running.value, member.running.by)


def ids_of(connection: ConsumerConnection | None) -> tuple[str, ...]:
    """Give the client ids of a list, as often as they are there; nobody online is an empty list."""
    return () if connection is None else tuple(one.client_id for one in connection.connection_set if one.client_id)


async def look_at_group(admin: Admin, group: str, *, deadline_s: float = LOOK_S, lag: bool = True) -> GroupLook:
    """Look at a group: every NameServer, every master, every member, within one deadline.

    Returns:
        a look in any case; if nobody answered, one in which everything is missing.
    """
    deadline = Deadline(deadline_s)
    began_at = deadline.now()
    name_servers = await look_at_name_servers(admin, deadline)
    masters = masters_of(heard.value for heard in name_servers.values())
    looking = _Looking(admin, group, deadline, masters)
    lists, configs = await looking.lists(), await looking.configs()
    members = await looking.members(lists)
    topics = _topics(lists, members)
    routes, far = await asyncio.gather(looking.routes(topics), looking.progress() if lag else _nothing())
    waiting = {queue: waits for one in far for queue, waits in one.lag.items()}
    queues = frozenset(queue for (topic, _), heard in routes.items() for queue in _queues(topic, heard.value))
    model = next((told.message_model for told in _told(lists) if told.message_model), MessageModel.CLUSTERING)
    return GroupLook(
        group=group,
        cluster=cluster_of(heard.value for heard in name_servers.values()),
        began_at=began_at,
        ended_at=deadline.now(),
        name_servers=name_servers,
        lists=lists,
        configs=configs,
        routes=routes,
        members=members,
        view=GroupView.of(group, queues, chain.from_iterable(map(as_members, members)), model),
        lag={queue: waiting.get(queue) for queue in sorted(queues)},
        progress=far,
        never_stored=frozenset(queue for queue in queues if any(one.has_none(queue) for one in far)),
    )


async def look_at_name_servers(admin: Admin, deadline: Deadline) -> dict[Address, Heard[ClusterInfo]]:
    """Ask every NameServer which brokers there are."""

    async def ask(address: Address) -> Heard[ClusterInfo]:
        by = Answerer(address=address, code=RequestCode.GET_BROKER_CLUSTER_INFO, at=deadline.now())
        return await deadline.hear(by, lambda left_s: admin.cluster(at=address, timeout_s=left_s))

    addresses = admin.name_servers.addresses
    return dict(zip(addresses, await asyncio.gather(*map(ask, addresses)), strict=True))


def masters_of(infos: Iterable[ClusterInfo | None]) -> dict[str, Address]:
    """Give the masters that any NameServer knows: name -> address."""
    brokers: list[BrokerData] = [broker for info in infos if info for broker in info.broker_addr_table.values()]
    return {broker.broker_name: master for broker in brokers if (master := broker.master_address) is not None}


def cluster_of(infos: Iterable[ClusterInfo | None]) -> str | None:
    """Name the cluster; several share NameServers, then all of them."""
    names = {name for info in infos if info for name in info.cluster_addr_table}
    return ", ".join(sorted(names)) or None


class _Looking:
    """One look that is under way."""

    def __init__(self, admin: Admin, group: str, deadline: Deadline, masters: Mapping[str, Address]) -> None:
        self._admin, self._group, self._deadline, self._masters = admin, group, deadline, masters

    async def lists(self) -> dict[str, Heard[ConsumerConnection | None]]:
        """Ask every master for the members."""

        async def ask(broker: str, address: Address) -> Heard[ConsumerConnection | None]:
            return await self._deadline.hear(
                self._by(address, RequestCode.GET_CONSUMER_CONNECTION_LIST, broker),
                lambda left_s: self._admin.members(address, self._group, timeout_s=left_s),
            )

        heard = await asyncio.gather(*(ask(name, address) for name, address in self._masters.items()))
        return dict(zip(self._masters, heard, strict=True))

    async def configs(self) -> dict[str, Heard[SubscriptionGroupWrapper]]:
        """Ask every master for what is configured."""

        async def ask(broker: str, address: Address) -> Heard[SubscriptionGroupWrapper]:
            return await self._deadline.hear(
                self._by(address, RequestCode.GET_ALL_SUBSCRIPTIONGROUP_CONFIG, broker),
                lambda left_s: self._admin.group_configs(address, timeout_s=left_s),
            )

        heard = await asyncio.gather(*(ask(name, address) for name, address in self._masters.items()))
        return dict(zip(self._masters, heard, strict=True))

    async def members(self, lists: Mapping[str, Heard[ConsumerConnection | None]]) -> tuple[MemberLook, ...]:
        """Ask every member what it holds, by brokers that know it, by turns."""
        known: dict[str, dict[str, tuple[Connection, ...]]] = {}
        for broker, heard in lists.items():
            for client_id in dict.fromkeys(ids_of(heard.value)):
                assert heard.value is not None
                there = tuple(one for one in heard.value.connection_set if one.client_id == client_id)
                known.setdefault(client_id, {})[broker] = there
        looks = [self._member(turn, client_id, known[client_id]) for turn, client_id in enumerate(sorted(known))]
        return tuple(await asyncio.gather(*looks))

    async def _member(self, turn: int, client_id: str, at: Mapping[str, tuple[Connection, ...]]) -> MemberLook:
        names = list(at)
        names = names[turn % len(names) :] + names[: turn % len(names)]
        for broker in names[:MOST_TRIES]:
            address = self._masters[broker]
            heard = await self._deadline.hear(
                self._by(address, RequestCode.GET_CONSUMER_RUNNING_INFO, broker, client_id),
                partial(self._ask_member, address, client_id),
            )
            if heard.trouble is None or _is_final(heard):
                break
        return MemberLook(client_id=client_id, connections=at, running=heard)

    async def _ask_member(self, address: Address, client_id: str, left_s: float) -> ConsumerRunningInfo:
        return answers.usable(await self._admin.running_info(address, self._group, client_id, timeout_s=left_s))

    async def routes(self, topics: Iterable[str]) -> dict[RouteKey, Heard[TopicRouteData | None]]:
        """Ask every NameServer for the route of each topic."""

        async def ask(topic: str, address: Address) -> Heard[TopicRouteData | None]:
            return await self._deadline.hear(
                self._by(address, RequestCode.GET_ROUTEINFO_BY_TOPIC),
                lambda left_s: self._admin.route(topic, at=address, timeout_s=left_s),
            )

        keys = [(topic, address) for topic in topics for address in self._admin.name_servers.addresses]
        return dict(zip(keys, await asyncio.gather(*(ask(*key) for key in keys)), strict=True))

    async def progress(self) -> tuple[Progress, ...]:
        """Ask every master how far the group is."""
        asked = (ask_progress(self._admin, self._group, self._deadline, *master) for master in self._masters.items())
        return tuple(await asyncio.gather(*asked))

    def _by(
        self, address: Address, code: RequestCode, broker: str | None = None, client: str | None = None
    ) -> Answerer:
        return Answerer(address=address, code=code, at=self._deadline.now(), broker=broker, client=client)


async def _nothing() -> tuple[Progress, ...]:
    return ()


def _is_final(heard: Heard[ConsumerRunningInfo]) -> bool:
    """Whether another broker would say the same: the client is silent, or refuses; or we may not ask."""
    assert heard.trouble is not None
    missing = answers.why_missing(heard.trouble)
    return missing in {Missing.TIMEOUT, Missing.NO_PERMISSION} or "does not answer" in heard.why


def _told(lists: Mapping[str, Heard[ConsumerConnection | None]]) -> Iterator[ConsumerConnection]:
    yield from (heard.value for heard in lists.values() if heard.value is not None)


def _topics(lists: Mapping[str, Heard[ConsumerConnection | None]], members: Sequence[MemberLook]) -> list[str]:
    """Name what the group consumes, by its brokers and by its members; or what these took, if nobody subscribes."""
    by_brokers = (topic for told in _told(lists) for topic in told.subscription_table)
    by_members = (topic for member in members for topic in member.topics or ())
    subscribed = {topic for topic in chain(by_brokers, by_members) if topic}
    taken = {queue.topic for member in members if member.assigns_itself for queue in member.held or ()}
    return sorted(subscribed or taken)


def _queues(topic: str, route: TopicRouteData | None) -> frozenset[MessageQueue]:
    """Give the queues that a client divides who got this route."""
    if route is None:
        return frozenset()
    book = RouteBook()
    book.learn(topic, route)
    return book.queues(topic) or frozenset()


def as_members(look: MemberLook) -> Iterator[Member]:
    """Give a member as often as it is registered: a broker asks one of these processes, what others hold is unknown."""
    for number in range(look.registrations):
        yield Member(
            client_id=look.client_id,
            topics=look.topics,
            held=None if number else look.held,
            strategy=look.strategy,
        )
