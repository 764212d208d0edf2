"""What tests of a watcher from end to end begin with: a cluster, its watcher, and the rows that it writes."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress

from redis import Redis

from dashboard.clusters.models import Cluster
from dashboard.config.watching import Threads, now_ms, watch
from dashboard.groups.models import Holding, Member
from dashboard.groups.viewing import note_viewed
from rebalance_engine.embedded.cluster import Cluster as Embedded
from rebalance_engine.network import Consumer
from rebalance_engine.network.settings import NetworkSettings
from tests.rebalance_engine.network.clusters import QUICK

HOLDER = "elsewhere:1"


class Rows:
    """The database, looked at from beside the loop."""

    def __init__(self) -> None:
        self.threads = Threads()

    async def of(self, read: Callable[[], object]) -> object:
        return await self.threads.look(read)

    async def until(self, holds: Callable[[], bool]) -> None:
        while not await self.threads.look(holds):  # noqa: ASYNC110  # a database has no event
            await asyncio.sleep(0.05)


@asynccontextmanager
async def rows() -> AsyncIterator[Rows]:
    looked = Rows()
    try:
        yield looked
    finally:
        await looked.threads.close()


@asynccontextmanager
async def watched(name: str = "shop", holder: str = HOLDER) -> AsyncIterator[asyncio.Task[None]]:
    task = asyncio.create_task(watch(name, NetworkSettings(), holder))
    try:
        yield task
    finally:
        if not task.done():
            task.cancel()
            with suppress(asyncio.CancelledError):
                await task


async def added(looked: Rows, east: Embedded, redis: Redis) -> Cluster:
    def add() -> Cluster:
        return Cluster.objects.create(name="shop", namesrv=east.namesrv, added_at=now_ms(), is_read_only=False)

    row = await looked.threads.look(add)
    note_viewed(redis=redis, cluster=row.pk, group="G", now=now_ms())
    return row


def consumer(east: Embedded, name: str) -> Consumer:
    return Consumer(east.namesrv, "G", ["orders"], instance=name, version=QUICK)


def members() -> set[str]:
    return set(Member.objects.filter(left_at=None).values_list("client_id", flat=True))


def held_by(name: str) -> int:
    here = Holding.objects.filter(member__client_id=name, member__left_at=None, until=None)
    return here.filter(queue__topic__name="orders").count()
