"""A survey of a cluster, within a deadline: its brokers, and its groups with who is online in each."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from rebalance_engine.effects import Address
from rebalance_engine.network.admin import Admin
from rebalance_engine.network.answers import Answerer
from rebalance_engine.network.asked import Deadline, Heard
from rebalance_engine.network.looking import cluster_of, ids_of, look_at_name_servers, masters_of
from rebalance_engine.network.system_groups import is_system_group
from rebalance_engine.remoting.bodies.clients import ConsumerConnection
from rebalance_engine.remoting.bodies.routes import MASTER_ID, ClusterInfo
from rebalance_engine.remoting.bodies.settings import SubscriptionGroupWrapper
from rebalance_engine.remoting.codes import RequestCode

SURVEY_S = 30.0


@dataclass(frozen=True, slots=True, kw_only=True)
class BrokerLook:
    """One broker process; ``runtime`` are its own figures (28), ``took_ms`` is how long they took to come."""

    cluster: str | None
    name: str
    broker_id: int
    address: Address
    known_to: tuple[Address, ...]
    runtime: Heard[Mapping[str, str]]
    took_ms: int

    @property
    def role(self) -> str:
        """Say what it is."""
        return "master" if self.broker_id == MASTER_ID else f"slave {self.broker_id}"

    @property
    def clock_ms(self) -> int | None:
        """What time its clock showed when it answered, to a second: when it started and how long it runs."""
        table = self.runtime.value
        return None if table is None else clock_shown(table)


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupLine:
    """One group; ``lists`` is broker -> who is online there."""

    group: str
    lists: Mapping[str, Heard[ConsumerConnection | None]]

    @property
    def clients(self) -> frozenset[str]:
        """Everybody who is online at some broker."""
        return frozenset(client for heard in self.lists.values() for client in ids_of(heard.value))

    @property
    def is_complete(self) -> bool:
        """Whether every broker that has the group answered."""
        return all(heard.trouble is None for heard in self.lists.values())

    @property
    def told(self) -> tuple[ConsumerConnection, ...]:
        """What brokers say at which somebody is online."""
        return tuple(heard.value for heard in self.lists.values() if heard.value is not None)

    @property
    def agree(self) -> bool:
        """Whether all brokers that answered list the same members."""
        lists = {tuple(sorted(ids_of(heard.value))) for heard in self.lists.values() if heard.trouble is None}
        return len(lists) <= 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Survey:
    """What was found; ``configs`` are the groups that each master has configured."""

    cluster: str | None
    name_servers: Mapping[Address, Heard[ClusterInfo]]
    configs: Mapping[str, Heard[SubscriptionGroupWrapper]]
    groups: tuple[GroupLine, ...]


async def look_at_brokers(
    admin: Admin, *, deadline_s: float = SURVEY_S
) -> tuple[dict[Address, Heard[ClusterInfo]], tuple[BrokerLook, ...]]:
    """Ask every NameServer for the brokers, and every broker how it runs."""
    deadline = Deadline(deadline_s)
    heard = await look_at_name_servers(admin, deadline)

    known: dict[tuple[str, int, Address], list[Address]] = {}
    clusters: dict[str, str | None] = {}
    for name_server, answer in heard.items():
        for broker in answer.value.broker_addr_table.values() if answer.value is not None else ():
            clusters.setdefault(broker.broker_name, broker.cluster)
            for number, address in broker.broker_addrs.items():
                known.setdefault((broker.broker_name, number, address), []).append(name_server)

    async def look(name: str, number: int, address: Address) -> BrokerLook:
        by = Answerer(address=address, code=RequestCode.GET_BROKER_RUNTIME_INFO, at=deadline.now(), broker=name)
        runtime = await deadline.hear(by, lambda left_s: admin.runtime(address, timeout_s=left_s))
        return BrokerLook(
            cluster=clusters[name],
            name=name,
            broker_id=number,
            address=address,
            known_to=tuple(known[name, number, address]),
            runtime=runtime,
            took_ms=max(0, runtime.by.at - by.at),
        )

    return heard, tuple(await asyncio.gather(*(look(*key) for key in sorted(known))))


async def look_at_groups(admin: Admin, *, deadline_s: float = SURVEY_S, own: bool = False) -> Survey:
    """Ask every master for its groups, and who is online in each; ``own`` counts RocketMQ's own groups in."""
    deadline = Deadline(deadline_s)
    name_servers = await look_at_name_servers(admin, deadline)
    masters = masters_of(heard.value for heard in name_servers.values())

    async def configs(name: str, address: Address) -> Heard[SubscriptionGroupWrapper]:
        code = RequestCode.GET_ALL_SUBSCRIPTIONGROUP_CONFIG
        by = Answerer(address=address, code=code, at=deadline.now(), broker=name)
        return await deadline.hear(by, lambda left_s: admin.group_configs(address, timeout_s=left_s))

    told = await asyncio.gather(*(configs(name, address) for name, address in masters.items()))
    by_broker = dict(zip(masters, told, strict=True))

    async def members(group: str, name: str) -> Heard[ConsumerConnection | None]:
        address = masters[name]
        code = RequestCode.GET_CONSUMER_CONNECTION_LIST
        by = Answerer(address=address, code=code, at=deadline.now(), broker=name)
        return await deadline.hear(by, lambda left_s: admin.members(address, group, timeout_s=left_s))

    async def line(group: str) -> GroupLine:
        having = _having(group, by_broker)
        lists = await asyncio.gather(*(members(group, name) for name in having))
        return GroupLine(group=group, lists=dict(zip(having, lists, strict=True)))

    names = {group for heard in told if heard.value is not None for group in heard.value.subscription_group_table}
    wanted = sorted(name for name in names if own or not is_system_group(name))
    return Survey(
        cluster=cluster_of(heard.value for heard in name_servers.values()),
        name_servers=name_servers,
        configs=by_broker,
        groups=tuple(await asyncio.gather(*map(line, wanted))),
    )


def _having(group: str, configs: Mapping[str, Heard[SubscriptionGroupWrapper]]) -> list[str]:
    """Name the brokers that have a group, or did not say whether they do."""
    return [
        name for name, heard in configs.items() if heard.value is None or group in heard.value.subscription_group_table
    ]


def clock_shown(table: Mapping[str, str]) -> int | None:
    """Add how long a broker runs to when it started; both are in its own time (``StoreStatsService.java``)."""
    booted, running = table.get("bootTimestamp", ""), _numbers(table.get("runtime", ""))
    if not (booted.isascii() and booted.isdigit() and len(booted) <= 15) or len(running) != 4:
        return None
    days, hours, minutes, seconds = running
    return int(booted) + 1000 * (((days * 24 + hours) * 60 + minutes) * 60 + seconds)


def _numbers(text: str) -> tuple[int, ...]:
    """Read the numbers of ``[ 0 days, 1 hours, 2 minutes, 3 seconds ]``."""
    words: Iterable[str] = text.split()
    return tuple(int(word) for word in words if word.isascii() and word.isdigit() and len(word) <= 9)
