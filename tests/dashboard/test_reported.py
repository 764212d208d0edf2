"""Reports from end to end: Python clients in the embedded cluster, a watcher, a control room by HTTP, a database."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

import pytest
from pytest_django import Settings
from pytest_django.live_server_helper import LiveServer
from redis import Redis

from dashboard.clusters.models import Cluster, ProducerBroker
from dashboard.common.clock import now_ms
from dashboard.config.watching import Threads, watch
from dashboard.groups.models import Group, Handoff, Holding
from dashboard.groups.rebalancing import rebalance_once
from dashboard.groups.viewing import note_viewed
from dashboard.reports.models import ReportToken
from dashboard.reports.tokens import digest_of
from rebalance_engine.embedded.cluster import Cluster as Embedded
from rebalance_engine.events import Fact, QueueDropped, QueuePulled, QueueTaken
from rebalance_engine.network import Consumer, Message, Producer
from rebalance_engine.network.reports import TOKEN
from rebalance_engine.network.settings import NetworkSettings
from tests.rebalance_engine.network.clusters import QUICK, cluster
from tests.rebalance_engine.network.loop import on_a_loop

pytestmark = pytest.mark.django_db(transaction=True)

Ends = tuple[str, int, int, int | None]  # who, which queue, since when, until when


@pytest.fixture
def url(
    redis: Redis, redis_server: str, settings: Settings, live_server: LiveServer, monkeypatch: pytest.MonkeyPatch
) -> str:
    redis.flushall()
    settings.REDIS_URL = redis_server
    monkeypatch.setenv("no_proxy", "*")
    return f"{live_server.url}/api/v1/reports"


class Rows:
    """The database, looked at from beside the loop."""

    def __init__(self, threads: Threads) -> None:
        self._threads = threads

    async def until(self, holds: Callable[[], bool]) -> None:
        while not await self._threads.look(holds):  # noqa: ASYNC110  # a database has no event
            await asyncio.sleep(0.05)

    async def do(self, work: Callable[[], object]) -> None:
        await self._threads.look(work)


def add(east: Embedded, redis: Redis, group: str) -> str:
    """Add the cluster, look at the group, and give a token of it.

    Its row is written by hand: what ``make`` writes into the audit log could not be cleared away after the test.
    """
    row = Cluster.objects.create(name="shop", namesrv=east.namesrv, added_at=now_ms())
    note_viewed(redis=redis, cluster=row.pk, group=group, now=now_ms())
    token = f"ekr_{group}"
    columns = {"digest": digest_of(token), "hint": token[:10], "made_by": "ada", "made_at": now_ms()}
    ReportToken.objects.create(cluster=row, group_name=group, **columns)
    return token


def own_words(facts: list[Fact]) -> set[Ends]:
    """Put together who held which queue of the topic since when, until when, from what members said themselves."""
    open_since: dict[tuple[str, int], int] = {}
    ended: set[Ends] = set()
    for fact in facts:
        if isinstance(fact, QueueTaken | QueueDropped) and fact.queue.topic == "orders":
            key = (fact.client, fact.queue.queue_id)
            if isinstance(fact, QueueTaken):
                open_since[key] = fact.at
            else:
                ended.add((*key, open_since.pop(key), fact.at))
    return ended | {(*key, since, None) for key, since in open_since.items()}


def exactly_stored() -> set[Ends]:
    """Give what the database has of it, where it is exact at both ends."""
    return {
        (row.member.client_id, int(row.queue.queue_id), row.at, row.until)
        for row in Holding.objects.filter(queue__topic__name="orders").select_related("member", "queue")
        if row.at_low == row.at_high == row.at and row.until_low == row.until_high == row.until
    }


def rebalance() -> None:
    rebalance_once(group=Group.objects.get(name="G").pk, now=now_ms())


def has_handed_over() -> bool:
    """Rebalance as a worker would, and say whether a round has ended and is told."""
    rebalance()
    return Handoff.objects.filter(topic="orders", to_client__endswith="@B").exists()


@on_a_loop
async def test_what_python_members_hold_is_known_to_the_millisecond(
    url: str, redis: Redis, monkeypatch: pytest.MonkeyPatch
) -> None:
    facts: list[Fact] = []
    threads = Threads()
    looked = Rows(threads)

    def consumer(name: str) -> Consumer:
        return Consumer(east.namesrv, "G", "orders", instance=name, version=QUICK, report_url=url, on_fact=facts.append)

    async with cluster(orders=4) as east:
        monkeypatch.setenv(TOKEN, str(await threads.look(lambda: add(east, redis, "G"))))
        watching = asyncio.create_task(watch("shop", NetworkSettings(), "elsewhere:1"))
        try:
            async with consumer("A") as first:
                await looked.until(lambda: len(exactly_stored()) == 4)
                await looked.do(rebalance)
                async with consumer("B") as second:
                    await looked.until(lambda: len({row[0] for row in exactly_stored()}) == 2)
                    await looked.until(lambda: exactly_stored() == own_words(facts))
                    await looked.until(has_handed_over)
                    assert len(first.held) == len(second.held) == 2
                await looked.until(lambda: exactly_stored() == own_words(facts))
            await looked.until(lambda: exactly_stored() == own_words(facts))
            await looked.do(rebalance)
            handed = await threads.look(lambda: list(Handoff.objects.exclude(from_client="").exclude(to_client="")))
        finally:
            watching.cancel()
            await asyncio.gather(watching, return_exceptions=True)
            await threads.close()

    assert {row[3] is None for row in own_words(facts)} == {False}, "all have left"
    pulls = {(fact.client, fact.queue.queue_id, fact.at) for fact in facts if isinstance(fact, QueuePulled)}
    told = [row for row in handed if row.topic == "orders"]
    assert len(told) >= 2
    for row in told:
        assert (row.dropped_low, row.taken_low) == (row.dropped_high, row.taken_high)
        assert row.first_pull_at is None or (row.to_client, row.queue_id, row.first_pull_at) in pulls
        assert row.unowned_low == row.unowned_high


@on_a_loop
async def test_what_a_python_producer_measures_is_known(
    url: str, redis: Redis, monkeypatch: pytest.MonkeyPatch
) -> None:
    threads = Threads()
    try:
        async with cluster(orders=4) as east:
            monkeypatch.setenv(TOKEN, str(await threads.look(lambda: add(east, redis, "shop-front"))))
            async with Producer(
                east.namesrv, "shop-front", instance="P", avoids_faults=True, report_url=url
            ) as producer:
                await producer.send(Message(topic="orders", body=b"two lamps"))
            rows = await threads.look(lambda: list(ProducerBroker.objects.all()))
    finally:
        await threads.close()

    [row] = rows
    assert (row.client_id, row.broker, row.outcome) == ("127.0.0.1@P", "broker-a", "ok")
    assert row.latency_ms is not None and row.at_low == row.at_high == row.at
