"""A canary on an embedded cluster: it sends while it is on, and makes its topic only if it is asked to.

Rows are written by hand: what ``switch`` writes into the audit log could not be cleared away after the test.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress

import pytest

from dashboard.clusters.models import Canary, Cluster
from dashboard.config.canaries import Keeper, note
from dashboard.config.watching import Threads
from rebalance_engine.embedded.cluster import Cluster as Embedded
from rebalance_engine.events import BrokerLatency, Fact, SendOutcome
from rebalance_engine.network.admin import Admin
from rebalance_engine.network.canary import TOPIC, Heard, Trouble
from rebalance_engine.network.transport import Transport
from rebalance_engine.network.watcher import Watcher
from tests.dashboard.story import T0
from tests.rebalance_engine.network.clusters import cluster as embedded
from tests.rebalance_engine.network.loop import on_a_loop

pytestmark = pytest.mark.django_db(transaction=True)


class Scene:
    """A watcher of an embedded cluster, and the keeper of its canary."""

    def __init__(self, east: Embedded, threads: Threads, row: Cluster, admin: Admin) -> None:
        self.row, self.threads, self.admin = row, threads, admin
        self.facts: asyncio.Queue[Fact] = asyncio.Queue()
        self.watcher = Watcher(admin, self._drop)
        self.keeper = Keeper(row.pk, self.watcher, self._put, threads.look, lambda: T0 + 5)
        self.east = east

    async def _drop(self, facts: list[Fact]) -> None:
        """What the watcher itself states is of no matter here."""

    async def _put(self, facts: list[Fact]) -> None:
        for fact in facts:
            self.facts.put_nowait(fact)

    async def switch(self, *, is_on: bool = True, may_create: bool = False) -> None:
        await self.threads.look(lambda: put(self.row, is_on=is_on, may_create=may_create))

    async def until(self, holds: Callable[[], bool]) -> None:
        while not await self.threads.look(holds):  # noqa: ASYNC110  # a database has no event
            await asyncio.sleep(0.02)

    async def topics(self) -> set[str]:
        [address] = self.watcher.memory.masters.values()
        return set((await self.admin.topic_configs(address)).topic_config_table)


def put(cluster: Cluster, at: int = T0, *, is_on: bool = True, may_create: bool = False) -> Canary:
    columns = {"is_on": is_on, "may_create": may_create, "reason": "x", "changed_by": "ada", "changed_at": at}
    return Canary.objects.update_or_create(cluster=cluster, defaults=columns)[0]


@asynccontextmanager
async def scene() -> AsyncIterator[Scene]:
    threads = Threads()
    async with embedded(1) as east, Transport() as transport, asyncio.timeout(30):
        admin = Admin(transport, east.namesrv)
        row = await threads.look(lambda: Cluster.objects.create(name="shop", namesrv=east.namesrv, added_at=T0))
        them = Scene(east, threads, row, admin)
        tasks = [asyncio.create_task(them.watcher.run()), asyncio.create_task(them.keeper.run())]
        try:
            yield them
        finally:
            for task in tasks:
                task.cancel()
            for task in tasks:
                with suppress(asyncio.CancelledError):
                    await task
            await admin.close()
            await threads.close()


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("dashboard.config.canaries.LOOK_EVERY_S", 0.02)
    monkeypatch.setattr("dashboard.config.canaries.SEND_EVERY_S", 0.1)


@on_a_loop
async def test_without_its_topic_it_says_so_and_makes_none() -> None:
    async with scene() as them:
        await them.switch()
        await them.until(Canary.objects.filter(told_at__isnull=False).exists)

        row = await them.threads.look(Canary.objects.get)
        assert list(row.troubles.values()) == [["no topic", ""]]
        assert them.facts.empty()
        assert TOPIC not in await them.topics()


@on_a_loop
async def test_it_makes_its_topic_if_asked_and_sends_until_it_is_switched_off() -> None:
    async with scene() as them:
        await them.switch(may_create=True)
        told = [await them.facts.get() for _ in range(3)]

        assert all(isinstance(fact, BrokerLatency) and fact.outcome is SendOutcome.OK for fact in told)
        await them.until(Canary.objects.filter(told_at=T0 + 5, troubles={}).exists)
        assert TOPIC in await them.topics()
        assert (
            await them.admin.member_ids(next(iter(them.watcher.memory.masters.values())), "evenkeel-canary")
        ) is None

        await them.switch(is_on=False)
        read = them.keeper.in_thread
        seen = asyncio.Event()

        async def look(function: Callable[[], object]) -> object:
            seen.set()
            return await read(function)

        them.keeper.in_thread = look
        for _ in range(2):  # the look under way may have been begun before; the one after it knows
            seen.clear()
            await seen.wait()
        while not them.facts.empty():
            them.facts.get_nowait()
        for _ in range(10):
            seen.clear()
            await seen.wait()
        assert them.facts.empty()


def test_what_is_in_its_way_is_not_stored_once_it_was_switched(cluster: Cluster) -> None:
    row = put(cluster)
    put(cluster, T0 + 1)
    heard = {"ea\ud800st": Heard(None, Trouble.REFUSED, "\0" + "x" * 1_000), "west": Heard(None)}

    note(row=row, heard=heard, now=T0 + 2)
    assert Canary.objects.get().told_at is None

    note(row=Canary.objects.get(), heard=heard, now=T0 + 2)
    [[broker, [trouble, detail]]] = Canary.objects.get().troubles.items()
    assert (broker, trouble, len(detail), detail[:7]) == ("ea\\ud800st", "refused", 500, r"\u0000x")
