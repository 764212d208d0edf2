"""A cluster in this process, on real sockets: start it, use it, break it, stop it.

::

    async with Cluster(brokers=2, topics={"orders": 4}) as cluster:
        print(cluster.namesrv)                       # where stock clients find it
        cluster.broker("broker-a").be_slow(700)      # ms, for each request
        await cluster.broker("broker-b").kill()

For development and demonstration: what it acknowledges is in the hands of the operating system, there is one copy of
it, and the oldest messages go when there is no room.
"""

from __future__ import annotations

import asyncio
import logging
import tempfile
from collections.abc import Callable, Iterable, Mapping
from contextlib import AsyncExitStack
from dataclasses import dataclass, field, replace
from itertools import chain
from pathlib import Path
from random import Random
from types import TracebackType
from typing import Self

from rebalance_engine.effects import Address, Heard
from rebalance_engine.embedded.broker import EmbeddedBroker
from rebalance_engine.embedded.disk import alone_in, replace_file
from rebalance_engine.embedded.faults import SENDS
from rebalance_engine.embedded.nameserver import NameServer
from rebalance_engine.embedded.process import OnFact, Process
from rebalance_engine.embedded.settings import EmbeddedSettings
from rebalance_engine.membership.configs import READ, WRITE
from rebalance_engine.network.driver import Driver
from rebalance_engine.network.tls import ServerTls
from rebalance_engine.remoting.acl import Credentials
from rebalance_engine.remoting.versions import release

logger = logging.getLogger(__name__)

LOOPBACK = "127.0.0.1"
MOST_BROKERS = 26  # they are called broker-a to broker-z
# Below the ports that Linux gives to callers (32768 and up): a client that calls a port on which nobody listens for the
# moment may otherwise be given that very port, connect to itself, and keep the broker from coming back.
PORTS = range(15_000, 32_000)
TRIES = 200
LAST_PORT = 65_535
FIRST_VERSION, BEYOND_LATEST = (4, 0, 0), (5, 6, 0)


@dataclass(frozen=True, slots=True, kw_only=True)
class ClusterSettings:
    """A cluster.

    Attributes:
        brokers: how many.
        topics: name -> queues on each broker.
        directory: where it keeps everything and finds it again; None: a new one that goes with the cluster.
        host: where it listens, and what it says of where it is.
        port: of the name server; 0: any free one. Brokers take the next free ones, and the same again later.
        broker: what is set of each broker; its name, cluster, version and address are not looked at.
        cluster: its name.
        version: the release that it presents, such as 5.5.0 or 4.9.7.
        acl: the one key pair with which requests to brokers must be signed; None: they need not. A NameServer asks
            nobody for keys, as RocketMQ's does not.
        tls: who the listeners are, if connections may be TLS.
    """

    brokers: int = 1
    topics: Mapping[str, int] = field(default_factory=dict)
    directory: Path | None = None
    host: str = LOOPBACK
    port: int = 0
    broker: EmbeddedSettings = field(default_factory=EmbeddedSettings)
    cluster: str = "DefaultCluster"
    version: str = "5.5.0"
    acl: Credentials | None = None
    tls: ServerTls | None = None

    def __post_init__(self) -> None:
        """Refuse what cannot be."""
        if not 1 <= self.brokers <= MOST_BROKERS:
            raise ValueError(f"{self.brokers} brokers; it needs to be 1 to {MOST_BROKERS}")
        if self.host in {"", "0.0.0.0", "::"}:  # noqa: S104  # it is refused here
            raise ValueError(
                f"host {self.host!r} is no address that clients could call; it needs to be one of this machine"
            )
        if not FIRST_VERSION <= release(self.version, "the version") < BEYOND_LATEST:
            raise ValueError(f"the version is {self.version!r}; there are brokers of 4.0.0 to 5.5.0")
        for topic, queues in self.topics.items():
            if not 1 <= queues <= 1024:
                raise ValueError(f"topic {topic} has {queues} queues on each broker; it needs 1 to 1024")


class TopicShrinks(ValueError):
    """A topic has more queues already than it is to have."""


class BrokerHandle:
    """One broker of a cluster, over all its runs."""

    def __init__(self, cluster: Cluster, name: str, directory: Path) -> None:
        self.name = name
        self.address: Address = ""
        self._cluster = cluster
        self._directory = directory
        self._process: Process | None = None
        self._machine: EmbeddedBroker | None = None
        self._registered = -1
        self._has_run = False

    @property
    def is_up(self) -> bool:
        """Whether it listens."""
        return self._process is not None

    @property
    def machine(self) -> EmbeddedBroker:
        """Its present run, to be looked at.

        Raises:
            RuntimeError: it is down.
        """
        if self._machine is None:
            raise RuntimeError(f"{self.name} is down; it needs to be up")
        return self._machine

    # ---- up and down ----

    async def start(self) -> None:
        """Start, on what the last run left; on its last port if that is free, for the first time on any.

        Raises:
            TopicShrinks: a topic of the settings has more queues there.
        """
        if self.is_up:
            raise RuntimeError(f"{self.name} is up already")
        settings = self._cluster.settings
        process = Process(settings.version, tls=settings.tls, acl=settings.acl)
        known = self._directory / "address"
        last = self.address or (known.read_text() if known.exists() else "")
        wanted = [int(last.rpartition(":")[2])] if last else []
        ports = wanted if self.address else chain(wanted, self._cluster.next_ports())
        try:
            self.address = await process.listen(settings.host, ports)
            self._begin(process)
        except BaseException:
            await process.close()
            raise
        replace_file(known, self.address)
        self._process = process

    def _begin(self, process: Process) -> None:
        settings = self._cluster.settings
        membership = replace(
            settings.broker.membership,
            version=settings.version,
            cluster=settings.cluster,
            broker=self.name,
            address=self.address,
        )
        driver = process.drive(self._react, self._cluster.on_fact)
        at = driver.clock.now()
        machine = EmbeddedBroker(
            replace(settings.broker, membership=membership),
            self._directory,
            at,
            luck=self._cluster.luck,
            route_of=self._cluster.name_server.routes.route,
        )
        try:
            self._create_topics(machine)
        except TopicShrinks:
            machine.crash()
            raise
        self._machine, self._registered = machine, -1
        driver.do(machine.start)
        self._register(at)
        logger.info("%s listens on %s, from %s", self.name, self.address, self._directory)

    def _create_topics(self, machine: EmbeddedBroker) -> None:
        """Create what is wanted and is not there; what changed since this process began stays as it is."""
        is_first, self._has_run = not self._has_run, True
        for topic, queues in self._cluster.settings.topics.items():
            known = machine.membership.topics.find(topic)
            has = 0 if known is None else max(known.read_queue_nums, known.write_queue_nums)
            if is_first and has > queues:
                raise TopicShrinks(
                    f"{self.name} in {self._directory} has topic {topic!r} with {has} queues, and {queues} are wanted; "
                    f"messages in the others could not be reached. Needed is {has} or more, or another directory"
                )
            if known is None or (is_first and has < queues):
                machine.put_topic(topic, queues)

    def _react(self, heard: Heard, at: int) -> Iterable[object]:
        effects = self.machine.handle(heard, at)
        self._register(at)
        return effects

    def _register(self, at: int) -> None:
        if self.machine.topics_version != self._registered:
            self._registered = self.machine.topics_version
            self._cluster.name_server.register(self.machine.registration(), at)

    async def stop(self) -> None:
        """Stop in order: everything is written down."""
        await self._end(EmbeddedBroker.stop)

    async def kill(self, *, keeps_route: bool = False) -> None:
        """Break off, as a process that is killed: offsets of the last seconds are lost.

        Args:
            keeps_route: let the name server not notice, as when the whole machine is gone.
        """
        await self._end(EmbeddedBroker.crash, keeps_route=keeps_route)

    async def _end(self, end: Callable[[EmbeddedBroker], None], *, keeps_route: bool = False) -> None:
        process, machine = self._process, self._machine
        self._process = self._machine = None
        if process is None or machine is None:
            return
        if not keeps_route:
            self._cluster.name_server.routes.unregister(self.name, 0)
        await process.close()
        end(machine)

    # ---- faults ----

    def be_slow(self, delay_ms: int) -> None:
        """Let every request wait so long before it is looked at; 0 ends it."""
        self._do(lambda at: self.machine.be_slow(delay_ms, at))

    def be_busy(self, codes: Iterable[int] = SENDS) -> None:
        """Refuse requests of these codes with SYSTEM_BUSY, by default all that send messages; no codes end it."""
        self.machine.faults.busy_for = frozenset(map(int, codes))

    def permit(self, *, reading: bool = True, writing: bool = True) -> None:
        """Set ``brokerPermission``; routes follow."""
        self._do(lambda at: self._permit(READ * reading | WRITE * writing, at))

    def _permit(self, permission: int, at: int) -> tuple[()]:
        self.machine.core.permission = permission
        self._register(at)
        return ()

    def be_well(self) -> None:
        """End all faults."""
        self.be_slow(0)
        self.be_busy(())
        self.permit()

    def put_topic(self, topic: str, queues: int) -> None:
        """Create a topic on this broker, or change its number of queues."""
        self._do(lambda at: self._put_topic(topic, queues, at))

    def _put_topic(self, topic: str, queues: int, at: int) -> tuple[()]:
        self.machine.put_topic(topic, queues)
        self._register(at)
        return ()

    def _do(self, step: Callable[[int], Iterable[object]]) -> None:
        if self._process is None or self._process.driver is None:
            raise RuntimeError(f"{self.name} is down; it needs to be up")
        self._process.driver.do(step)

    @property
    def driver(self) -> Driver | None:
        """What drives its present run."""
        return self._process.driver if self._process is not None else None


class Cluster:
    """A name server and brokers.

    Args:
        settings: what is set; or give its fields one by one.
        on_fact: is told each fact that the brokers' membership states.
        luck: chooses queues where clients leave it to the broker.
    """

    def __init__(
        self,
        settings: ClusterSettings | None = None,
        *,
        on_fact: OnFact = lambda _fact: None,
        luck: Random | None = None,
    ) -> None:
        self.settings = settings or ClusterSettings()
        self.on_fact = on_fact
        self.luck = luck or Random()  # noqa: S311  # nothing here is secret
        self.name_server = NameServer(self.settings.version)
        self.namesrv: Address = ""
        self.brokers: dict[str, BrokerHandle] = {}
        self._process: Process | None = None
        self._stack = AsyncExitStack()
        self._last_port = 0

    async def __aenter__(self) -> Self:
        """Start everything."""
        try:
            await self._start()
        except BaseException:
            await self._stack.aclose()
            raise
        return self

    async def _start(self) -> None:
        settings = self.settings
        directory = settings.directory or Path(
            self._stack.enter_context(tempfile.TemporaryDirectory(prefix="evenkeel-"))
        )
        self._stack.enter_context(alone_in(directory))
        self._process = Process(settings.version, tls=settings.tls)
        self._stack.push_async_callback(self._process.close)
        self._last_port = settings.port or self.luck.choice(PORTS)
        self.namesrv = await self._process.listen(
            settings.host, [settings.port] if settings.port else self.next_ports()
        )
        self._process.drive(self.name_server.handle, self.on_fact).do(self.name_server.start)
        for number in range(settings.brokers):
            name = f"broker-{chr(ord('a') + number)}"
            self.brokers[name] = BrokerHandle(self, name, directory / name)
            self._stack.push_async_callback(self.brokers[name].stop)
            await self.brokers[name].start()
        logger.warning(
            "name server on %s, %s of version %s: for development and demonstration, not for production",
            self.namesrv,
            ", ".join(f"{broker.name} on {broker.address}" for broker in self.brokers.values()),
            settings.version,
        )

    def next_ports(self) -> Iterable[int]:
        """Give ports to try."""
        first = self._last_port + 1
        for self._last_port in range(first, min(first + TRIES, LAST_PORT + 1)):
            yield self._last_port

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Stop everything in order."""
        await self._stack.aclose()

    def broker(self, name: str) -> BrokerHandle:
        """Give a broker by its name.

        Raises:
            KeyError: there is none of that name.
        """
        if name not in self.brokers:
            raise KeyError(f"no broker {name!r}; there are {', '.join(self.brokers)}")
        return self.brokers[name]

    def put_topic(self, topic: str, queues: int) -> None:
        """Create a topic on every broker that is up, or change its number of queues on each."""
        for broker in self.brokers.values():
            if broker.is_up:
                broker.put_topic(topic, queues)

    async def run(self) -> None:
        """Wait for as long as all machines are driven.

        Raises:
            MachineBroke: one cannot go on.
        """
        assert self._process is not None
        drivers = [self._process.driver, *(broker.driver for broker in self.brokers.values())]
        broke = [driver.broke for driver in drivers if driver is not None]
        done, _ = await asyncio.wait(broke, return_when=asyncio.FIRST_COMPLETED)
        raise done.pop().result()
