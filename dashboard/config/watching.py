"""The process of one watcher: lease, watcher, writer, orders and health, each a task of one group.

Whatever of it fails ends all of it; whoever supervises the process starts it again. A lease that is lost ends it too.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import AsyncIterator, Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager, suppress
from dataclasses import asdict
from functools import partial
from typing import TypeVar

from django.conf import settings
from django.db import DatabaseError, close_old_connections, connections, transaction
from redis import Redis
from redis.exceptions import RedisError

from dashboard.clusters import leases, orders
from dashboard.clusters.models import Cluster, Command, Watch
from dashboard.clusters.orders import Done
from dashboard.config.canaries import Keeper
from dashboard.config.carrying import carry_out, killed
from dashboard.config.holders import is_dead
from dashboard.demo.control import Facts, NoDemo
from dashboard.groups.gone import note_gone
from dashboard.groups.locks import connect
from dashboard.groups.muted import note_muted
from dashboard.groups.operations import LeaseLost, start_owed
from dashboard.groups.pulsing import pulse_answers
from dashboard.groups.recording.unwatched import note_break, note_listed
from dashboard.groups.vanished import SETTLED_MS, departures, quiet_members
from dashboard.groups.viewing import viewed
from dashboard.groups.watching import InThread, Writer, known_of, stored_until
from rebalance_engine.events import QueueDropped, QueueTaken
from rebalance_engine.network.admin import Admin
from rebalance_engine.network.probe import Prober
from rebalance_engine.network.settings import NetworkSettings
from rebalance_engine.network.transport import Transport
from rebalance_engine.network.watcher import Known, Watcher, WatcherClock

logger = logging.getLogger(__name__)

T = TypeVar("T")
LOOK_EVERY_S = 1.0  # at orders, and at what is viewed
HEALTH_EVERY_S = 2.0
WAIT_FOR_LEASE_S = 1.0
DRAIN_S = 5.0
CLOSE_WITHIN_S = 1.0
DEMO_AGAIN_S = 2.0
FINISH_AGAIN_S = 1.0
FINISH_TRIES = 60  # what came of an order is then given up, and the order ends as one of which that is not known


def now_ms() -> int:
    """Say what time it is."""
    return time.time_ns() // 1_000_000


class Threads:
    """Functions of Django, each run in a thread: one for the writer, one for all that asks Redis, one for the rest.

    A Redis that hangs keeps neither the lease from being renewed nor facts from being stored.
    """

    def __init__(self) -> None:
        self._writing = ThreadPoolExecutor(1, "writer")
        self._looking = ThreadPoolExecutor(1, "looker")
        self._telling = ThreadPoolExecutor(1, "teller")

    async def write(self, function: Callable[[], T]) -> T:
        """Run it in the writer's thread."""
        return await asyncio.get_running_loop().run_in_executor(self._writing, _clean, function)

    async def look(self, function: Callable[[], T]) -> T:
        """Run it beside the writer."""
        return await asyncio.get_running_loop().run_in_executor(self._looking, _clean, function)

    async def tell(self, function: Callable[[], T]) -> T:
        """Run it where Redis may be waited for."""
        return await asyncio.get_running_loop().run_in_executor(self._telling, _clean, function)

    async def close(self) -> None:
        """Close the connections, and end the threads; one that waits for Redis is left behind."""
        for pool in (self._writing, self._looking, self._telling):
            closing = asyncio.get_running_loop().run_in_executor(pool, connections.close_all)
            with suppress(TimeoutError):
                await asyncio.wait_for(closing, None if pool is not self._telling else CLOSE_WITHIN_S)
            pool.shutdown(wait=pool is not self._telling)


def _clean(function: Callable[[], T]) -> T:
    close_old_connections()
    return function()


async def watch(cluster: str, network: NetworkSettings, holder: str) -> None:
    """Watch a cluster until cancelled; waits for the lease first, and gives it back in the end.

    Raises:
        Cluster.DoesNotExist: nobody added it.
        ExceptionGroup: something went wrong; ``LeaseLost`` is in it where another watcher has the cluster.
    """
    threads = Threads()
    try:
        epoch = await _lease(threads, cluster, holder)
        try:
            await _Watch(threads, cluster, epoch, network).run()
        finally:
            with suppress(DatabaseError):
                await threads.look(lambda: leases.give_back(cluster=cluster, epoch=epoch, now=now_ms()))
    finally:
        await threads.close()


async def _lease(threads: Threads, cluster: str, holder: str) -> int:
    is_said = False
    while True:
        epoch = await threads.look(lambda: leases.take(cluster=cluster, holder=holder, now=now_ms(), is_dead=is_dead))
        if epoch is not None:
            logger.info("%s has lease %d of cluster %s", holder, epoch, cluster)
            return epoch
        if not is_said:
            logger.info("cluster %s is another watcher's, or put aside; waiting for its lease", cluster)
            is_said = True
        await asyncio.sleep(WAIT_FOR_LEASE_S)


class _Watch:
    """One run with one lease."""

    def __init__(self, threads: Threads, cluster: str, epoch: int, network: NetworkSettings) -> None:
        self._threads, self._cluster, self._epoch, self._network = threads, cluster, epoch, network
        self._viewed: frozenset[str] = frozenset()
        self._muted: frozenset[str] | None = None  # the groups that are stored as such of which nobody is notified
        self._noted_at = 0  # when groups had been told when it was stored last which are gone
        self._seen_off_at = (0, 0)  # when lists, and groups, had been told when those who left unseen were read last
        self._resumed: int | None = None  # when nobody had watched, and not all lists were told since
        self._in_hand: set[int] = set()  # orders that were taken, and are not finished
        self._clock = WatcherClock()  # of facts; leases and orders count by the wall clock, as others do
        self._writer = Writer(cluster=cluster, epoch=epoch, in_thread=threads.write, now=self._clock.now)

    async def run(self) -> None:
        row, known, stored_at = await self._threads.look(self._read)
        if ahead_ms := self._clock.keep_after(stored_at):
            logger.warning("facts are stored that are ahead of the clock: it counts from there, %d ms ahead", ahead_ms)
        self._resumed = await self._threads.look(partial(note_break, cluster=row, now=self._clock.now()))
        async with Transport(self._network) as transport, _admin(transport, row.namesrv) as admin:
            watcher = Watcher(admin, self._writer.put, viewed=lambda: self._viewed, known=known, clock=self._clock)
            try:
                async with asyncio.TaskGroup() as tasks:
                    tasks.create_task(self._writer.run(), name="writer")
                    tasks.create_task(watcher.run(), name="watcher")
                    tasks.create_task(self._renew(), name="lease")
                    tasks.create_task(self._look(row), name="viewed")
                    tasks.create_task(self._report(row, watcher), name="health")
                    tasks.create_task(self._tell(row, watcher), name="viewers")
                    tasks.create_task(self._obey(row, watcher, tasks), name="orders")
                    canary = Keeper(row.pk, watcher, self._writer.put, self._threads.look, self._clock.now)
                    tasks.create_task(canary.run(), name="canary")
                    if row.is_demo:
                        tasks.create_task(self._follow_demo(watcher), name="demo")
            finally:
                with suppress(TimeoutError, LeaseLost):
                    async with asyncio.timeout(DRAIN_S):
                        await self._writer.drain()

    def _read(self) -> tuple[Cluster, Known, int]:
        row = Cluster.objects.get(name=self._cluster)
        return row, known_of(cluster=self._cluster), stored_until(row)

    async def _renew(self) -> None:
        while True:
            await asyncio.sleep(leases.RENEW_EVERY_MS / 1000)
            try:
                holds = await self._threads.look(
                    lambda: leases.renew(cluster=self._cluster, epoch=self._epoch, now=now_ms())
                )
            except DatabaseError as error:
                logger.warning("the lease cannot be renewed for the moment: %s", error)
                continue
            if not holds:
                raise LeaseLost(f"cluster {self._cluster!r} has another lease than {self._epoch}")

    async def _look(self, row: Cluster) -> None:
        """Keep up with what people look at."""
        with connect() as redis:
            while True:
                self._viewed = await self._threads.tell(lambda: _viewed(redis, row.pk))
                await asyncio.sleep(LOOK_EVERY_S)

    async def _report(self, row: Cluster, watcher: Watcher) -> None:
        while True:
            health = _told_of(watcher, is_stored=self._writer.is_idle)
            health |= {"at": self._clock.now(), "queued": self._writer.queued}
            try:
                store = partial(store_health, row.pk, self._epoch, health, watched_at=self._stored_until(watcher))
                await self._threads.look(store)
                await self._note_listed(row, health.get("lists_at"))
            except DatabaseError as error:
                logger.warning("the watcher's health cannot be stored for the moment: %s", error)
            await self._see_off(watcher, health.get("lists_at"))
            await self._note_gone(watcher)
            await self._note_muted(watcher)
            await asyncio.sleep(HEALTH_EVERY_S)

    async def _note_listed(self, row: Cluster, lists_at: object) -> None:
        """Store until when nobody knew who is a member, having been away: until all lists were told, by now."""
        if self._resumed is None or not isinstance(lists_at, int) or lists_at < self._resumed:
            return
        await self._threads.look(partial(note_listed, cluster=row, resumed=self._resumed, now=self._clock.now()))
        self._resumed = None

    async def _tell(self, row: Cluster, watcher: Watcher) -> None:
        """Tell whoever looks at a group that its cluster answers, and start what Redis kept back."""
        while True:
            try:
                await self._threads.tell(partial(_tell_viewers, row.pk, self._viewed, self._stored_until(watcher)))
            except DatabaseError as error:
                logger.warning("whom to tell that the cluster answers cannot be read for the moment: %s", error)
            await asyncio.sleep(HEALTH_EVERY_S)

    def _stored_until(self, watcher: Watcher) -> int | None:
        """Say up to which of its answers all that the cluster told is stored; None: it never answered."""
        answered_at = watcher.memory.silences.answered_at
        return None if answered_at is None else self._writer.stored_until(answered_at)

    async def _see_off(self, watcher: Watcher, lists_at: object) -> None:
        """State that those left whom reports alone made known, and whom no broker lists."""
        memory, groups_at = watcher.memory, watcher.memory.having.told_at or 0
        has_none = memory.are_groups_told and not memory.groups  # then there is nobody to list
        told_at = groups_at if has_none else lists_at
        if not isinstance(told_at, int) or not self._writer.is_idle or self._seen_off_at == (told_at, groups_at):
            return
        try:
            quiet = await self._threads.look(partial(quiet_members, cluster=self._cluster, lists_at=told_at))
        except DatabaseError as error:
            logger.warning("who left unseen cannot be read for the moment: %s", error)
            return
        self._seen_off_at = told_at, groups_at
        gone = [
            each
            for each in quiet
            if each.client not in memory.members(each.group)
            and (each.group in memory.groups or each.at + SETTLED_MS < groups_at)  # no list of a group that nobody has
        ]
        if gone:
            await self._writer.put(departures(gone, cluster=self._cluster, now=self._clock.now()))

    async def _note_gone(self, watcher: Watcher) -> None:
        """Store which groups no broker names any more, whenever every broker has said once more which it has."""
        memory, groups_at = watcher.memory, watcher.memory.having.told_at or 0
        if groups_at <= self._noted_at or not memory.are_groups_told or not self._writer.is_idle:
            return
        note = partial(
            note_gone,
            cluster=self._cluster,
            named=memory.groups,
            brokers=frozenset(memory.masters),
            asked_at=groups_at,
            now=self._clock.now(),
            lease_epoch=self._epoch,
        )
        try:
            await self._threads.look(note)
        except DatabaseError as error:
            logger.warning("which groups are gone cannot be stored for the moment: %s", error)
        else:
            self._noted_at = groups_at

    async def _note_muted(self, watcher: Watcher) -> None:
        """Store of which groups no broker notifies anybody, when that is another than was stored."""
        muted = watcher.memory.closed.muted(frozenset(watcher.memory.masters))
        if muted is None or muted == self._muted or not self._writer.is_idle:
            return
        note = partial(note_muted, cluster=self._cluster, muted=muted, lease_epoch=self._epoch)
        try:
            self._muted = muted if await self._threads.look(note) else None
        except DatabaseError as error:
            logger.warning("which groups are not notified cannot be stored for the moment: %s", error)

    async def _obey(self, row: Cluster, watcher: Watcher, tasks: asyncio.TaskGroup) -> None:
        prober = Prober(watcher.admin)
        while True:
            try:
                taken = await self._threads.look(
                    lambda: orders.take(
                        cluster=self._cluster, epoch=self._epoch, now=now_ms(), in_hand=frozenset(self._in_hand)
                    )
                )
            except DatabaseError as error:
                logger.warning("orders cannot be read for the moment: %s", error)
                taken = []
            for order in taken:
                self._in_hand.add(order.pk)
                tasks.create_task(self._carry_out(order, row, watcher, prober), name=f"order {order.pk}")
            await asyncio.sleep(LOOK_EVERY_S)

    async def _carry_out(self, order: Command, row: Cluster, watcher: Watcher, prober: Prober) -> None:
        done = await carry_out(order, row=row, watcher=watcher, prober=prober, now=now_ms, state=self._writer.put)
        await finish(order.pk, epoch=self._epoch, done=done, in_thread=self._threads.look)
        self._in_hand.discard(order.pk)
        if gone := killed(order, done, self._clock.now()):
            await self._writer.put([*gone])  # who was seen to be gone before the receipt was stored

    async def _follow_demo(self, watcher: Watcher) -> None:
        """Take what the demo's cast reports of itself; whose queues change, its members are asked for at once."""
        facts = Facts(settings.HOME / "demo")
        while True:
            try:
                async for fact in facts.follow():
                    await self._writer.put([fact])
                    if isinstance(fact, QueueTaken | QueueDropped):
                        watcher.look_again(fact.group)
            except NoDemo as error:
                logger.info("%s", error)
            await asyncio.sleep(DEMO_AGAIN_S)


def _viewed(redis: Redis, cluster: int) -> frozenset[str]:
    return viewed(redis=redis, cluster=cluster, now=now_ms())


def _told_of(watcher: Watcher, *, is_stored: bool) -> dict[str, object]:
    """Give what is to be stored of a watcher; what an earlier one was told stays as old as it was, not unknown.

    Of lists that is so until this one has asked for all; ``is_stored``: nothing that was told waits to be stored.
    """
    health = asdict(watcher.health) | _answers(watcher)
    has_asked = watcher.memory.are_groups_told and health["sweep_ended_at"] is not None
    if not is_stored or (health["lists_at"] is None and not has_asked):
        del health["lists_at"]
    if not is_stored or health["routes_at"] is None:
        del health["routes_at"]
    return health


def _answers(watcher: Watcher) -> dict[str, object]:
    """Say who answers, and who does not."""
    silences = watcher.memory.silences
    asked = frozenset(watcher.admin.name_servers.addresses) | frozenset(watcher.memory.masters.values())
    silent = [asdict(each) for each in silences.silent(asked)]
    return {"answered_at": silences.answered_at, "silent": silent}


async def finish(order: int, *, epoch: int, done: Done, in_thread: InThread[bool]) -> bool:
    """Store what came of an order as soon as the database takes it; False: it did not for too long, or it was over."""
    for tried in range(FINISH_TRIES):
        if tried:
            await asyncio.sleep(FINISH_AGAIN_S)
        try:
            return await in_thread(lambda: orders.finish(order=order, epoch=epoch, done=done, now=now_ms()))
        except DatabaseError as error:
            logger.warning("what came of order %d cannot be stored for the moment: %s", order, error)
    logger.error("what came of order %d could not be stored: %s", order, done)
    return False


def store_health(cluster: int, epoch: int, columns: dict[str, object], *, watched_at: int | None) -> bool:
    """Store how the watcher of a lease is doing; False, and nothing, where another one has it.

    How fresh its facts are counts from the last answer of which all is stored, ``watched_at``, not from a question.
    """
    with transaction.atomic():
        held = Cluster.objects.filter(pk=cluster, lease_epoch=epoch)
        if held.select_for_update(no_key=True).first() is None:
            return False
        Watch.objects.update_or_create(cluster_id=cluster, defaults={**columns, "epoch": epoch})
        if watched_at is not None:
            held.update(watched_at=watched_at)
    return True


def _tell_viewers(cluster: int, names: frozenset[str], watched_at: int | None) -> None:
    """Tell whoever looks at a group until when all that was found is stored; and start what Redis kept back."""
    start_owed()
    if not names or watched_at is None:
        return
    try:
        pulse_answers(cluster=cluster, names=names, watched_at=watched_at, now=now_ms())
    except (RedisError, OSError) as error:
        logger.warning("nobody can be told that the cluster answers: %s", error)


@asynccontextmanager
async def _admin(transport: Transport, namesrv: str) -> AsyncIterator[Admin]:
    admin = Admin(transport, namesrv)
    try:
        yield admin
    finally:
        await admin.close()
