"""What it takes to know who holds what: our watcher beside ``mqadmin consumerProgress``, on the same real broker.

Both go through relays that count their requests; the members do not. mqadmin has no budget, and no memory: it asks as
fast as it can, and all again each time. The watcher keeps within its rates, so its seconds are what an operator waits.
"""

from __future__ import annotations

import asyncio
import multiprocessing
import subprocess
from collections import Counter
from collections.abc import Iterator
from contextlib import AsyncExitStack, contextmanager, suppress
from dataclasses import dataclass
from itertools import product
from multiprocessing.connection import Connection
from time import perf_counter, process_time
from typing import NamedTuple

from rebalance_engine.events import Fact
from rebalance_engine.network import ConsumeFromWhere, Consumer, Message, Producer
from rebalance_engine.network.admin import Admin
from rebalance_engine.network.settings import NetworkSettings
from rebalance_engine.network.transport import Transport
from rebalance_engine.network.watcher import Watcher
from rebalance_engine.remoting.bodies.routes import MASTER_ID
from tests.bench.counting import counting
from tests.bench.report import Row
from tests.cluster.contract import Setup
from tests.cluster.ports import LOOPBACK
from tests.cluster.rocketmq import RELEASES, RealCluster, running
from tests.peers import maven
from tests.rebalance_engine.network.clusters import divided, until

TOPIC, QUEUES = "swept", 4  # on each of two brokers
ADVERTISED = "127.0.0.2"  # where the relays listen; clients that know better call the brokers themselves
SIZES, QUICK_SIZES = ((10, 2), (40, 4), (100, 2)), ((3, 2),)  # groups, members of each
ONE_BY_ONE = 5  # groups for which mqadmin is started, at most
GIVEN_S = 600
GOES_ON_S = 60
LOOK_EVERY_S = 0.5
MESSAGES = 8 * 2 * QUEUES


@dataclass(frozen=True, slots=True)
class Asked:
    """Seconds and requests until something was known; of the watcher the processor seconds, too."""

    s: float
    codes: Counter[int]
    cpu_s: float | None = None

    def note(self) -> str:
        """Say how many requests, and the most frequent of them."""
        most = ", ".join(f"{count} x {code}" for code, count in self.codes.most_common(4))
        processor = "" if self.cpu_s is None else f"; {self.cpu_s:.2f} s of processor time"
        return f"{self.codes.total():,} requests ({most}){processor}"


class Meter:
    """What was asked since it was made."""

    def __init__(self, codes: Counter[int]) -> None:
        self._codes = codes
        self._before, self._begun, self._cpu = Counter(codes), perf_counter(), process_time()

    def read(self) -> Asked:
        """Give it."""
        return Asked(perf_counter() - self._begun, self._codes - self._before, process_time() - self._cpu)


class Watched(NamedTuple):
    """What a watcher asked until it knew what every member holds, until all was asked once, and afterwards."""

    first: Asked
    sweep: Asked
    later: Asked


def run(*, quick: bool) -> Iterator[Row]:
    """Measure each size on a cluster of its own."""
    for groups, members in QUICK_SIZES if quick else SIZES:
        with running(Setup(release=RELEASES[0], settings={"brokerIP1": ADVERTISED})) as cluster:
            cluster.create_topic(TOPIC, QUEUES)
            relays = {
                address.replace(LOOPBACK, ADVERTISED): address
                for address in [cluster.namesrv, *cluster.addresses.values()]
            }
            with _members(cluster.namesrv, groups, members), counting(relays) as codes:
                yield from _rows(cluster, groups, groups * members, codes)


def _rows(cluster: RealCluster, groups: int, members: int, codes: Counter[int]) -> Iterator[Row]:
    size = f"{groups} groups, {members} members"
    namesrv = cluster.namesrv.replace(LOOPBACK, ADVERTISED)
    every = _mqadmin(cluster.java, namesrv, codes)
    names = [_group(number) for number in range(min(groups, ONE_BY_ONE))]
    each = _scaled([_mqadmin(cluster.java, namesrv, codes, "-g", name, "-s", "true") for name in names], groups)
    watched = asyncio.run(_watch(namesrv, members, codes))
    which = "each group" if len(names) == groups else f"each group, by {len(names)} of them"
    for what, ours, peer, theirs in (
        ("what every member holds", watched.first, f"mqadmin -g -s, {which}", each),
        ("a whole first sweep", watched.sweep, "mqadmin consumerProgress", every),
    ):
        yield Row(what, size, ours.s, "s", peer, theirs.s, note=ours.note())
        yield Row("... requests", size, ours.codes.total(), "requests", peer, theirs.codes.total(), note=theirs.note())
    yield Row(
        f"then, in {GOES_ON_S} s: requests", size, watched.later.codes.total(), "requests", note=watched.later.note()
    )


def _scaled(each: list[Asked], groups: int) -> Asked:
    factor = groups / len(each)
    codes: Counter[int] = sum((one.codes for one in each), Counter())
    return Asked(
        factor * sum(one.s for one in each), Counter({code: round(factor * count) for code, count in codes.items()})
    )


# ---- asking ----


def _mqadmin(release: str, namesrv: str, codes: Counter[int], *options: str) -> Asked:
    """Run the command as an operator would, the start of its virtual machine included."""
    program = maven.program("servers", release)
    silent = program.home / "silent.xml"
    silent.write_text("<configuration/>")
    options_of_java = ("-XX:TieredStopAtLevel=1", f"-Drmq.logback.configurationFile={silent}")
    command = program.command("org.apache.rocketmq.tools.command.MQAdminStartup", *options_of_java)
    before, begun = Counter(codes), perf_counter()
    done = subprocess.run(
        [*command, "consumerProgress", "-n", namesrv, *options],
        capture_output=True,
        text=True,
        timeout=GIVEN_S,
        check=True,
    )
    assert _group(0)[:-1] in done.stdout or TOPIC in done.stdout, f"mqadmin said: {done.stdout} {done.stderr}"
    return Asked(perf_counter() - begun, codes - before)


async def _watch(namesrv: str, members: int, codes: Counter[int]) -> Watched:
    """Watch from nothing."""
    async with Transport(NetworkSettings()) as transport:
        admin = Admin(transport, namesrv)
        watcher = Watcher(admin, _take)
        task = asyncio.create_task(watcher.run())
        meter = Meter(codes)
        try:
            async with asyncio.timeout(GIVEN_S):
                await until(lambda: watcher.health.members == members and not watcher.health.unknown)
                first = meter.read()
                await until(lambda: watcher.health.sweep > 1)
                sweep = meter.read()
            later = Meter(codes)
            await asyncio.sleep(GOES_ON_S)
            return Watched(first, sweep, later.read())
        finally:
            task.cancel()
            with suppress(asyncio.CancelledError):
                await task
            await admin.close()


async def _take(_: list[Fact]) -> None:
    """Whoever stores facts is measured elsewhere."""


# ---- the members ----


def _group(number: int) -> str:
    return f"swept-{number}"


@contextmanager
def _members(namesrv: str, groups: int, members: int) -> Iterator[None]:
    """Run the members of all groups in a process of their own."""
    ours, theirs = multiprocessing.Pipe()
    arguments = (theirs, namesrv, groups, members)
    process = multiprocessing.get_context("spawn").Process(target=_join, args=arguments, daemon=True)
    process.start()
    try:
        assert ours.poll(GIVEN_S), f"not all queues of {groups} groups were taken within {GIVEN_S} s"
        ours.recv()
        yield
    finally:
        ours.send("stop")
        process.join(60)


def _join(pipe: Connection, namesrv: str, groups: int, members: int) -> None:
    asyncio.run(_stay(pipe, namesrv, groups, members))


async def _stay(pipe: Connection, namesrv: str, groups: int, members: int) -> None:
    network = NetworkSettings(rewrite={ADVERTISED: LOOPBACK})
    async with AsyncExitStack() as stack:
        producer = await stack.enter_async_context(Producer(namesrv, network=network))
        for _ in range(MESSAGES):
            await producer.send(Message(topic=TOPIC, body=b"x"))
        for group in map(_group, range(groups)):
            joined = [
                await stack.enter_async_context(_member(namesrv, group, member, network)) for member in range(members)
            ]
            async with asyncio.timeout(GIVEN_S):
                await divided(2 * QUEUES, *joined)
        await _committed(namesrv, groups, network)
        pipe.send("all queues are taken")
        await asyncio.to_thread(pipe.recv)


def _member(namesrv: str, group: str, number: int, network: NetworkSettings) -> Consumer:
    first, name = ConsumeFromWhere.CONSUME_FROM_FIRST_OFFSET, f"{group}-{number}"
    return Consumer(namesrv, group, TOPIC, lambda _: None, instance=name, network=network, from_where=first)


async def _committed(namesrv: str, groups: int, network: NetworkSettings) -> None:
    """Wait until each group has committed: mqadmin knows nothing of a queue before."""
    async with Transport(network) as transport, asyncio.timeout(GIVEN_S):
        admin = Admin(transport, namesrv)
        brokers = [one.broker_addrs[MASTER_ID] for one in (await admin.cluster()).broker_addr_table.values()]
        for group, broker in product(map(_group, range(groups)), brokers):
            while not (await admin.consume_stats(broker, group)).offset_table:  # noqa: ASYNC110  # a broker tells nobody
                await asyncio.sleep(LOOK_EVERY_S)
        await admin.close()
