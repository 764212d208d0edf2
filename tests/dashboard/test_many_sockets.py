"""A hundred sockets on one stream and a real Redis: each has every step, or a snapshot, and Redis sends it once."""

from __future__ import annotations

import asyncio
from functools import partial
from typing import cast

import pytest
from asgiref.sync import async_to_sync, sync_to_async
from django.contrib.auth.models import User
from django.db import transaction
from pytest_django import Settings
from redis import Redis

from dashboard.clusters.models import Cluster
from dashboard.live import consumers
from dashboard.live.hub import hub
from dashboard.live.outbox import Outbox
from dashboard.push.messages import OverviewSnapshot
from dashboard.push.publish import current_seq, overview_stream, publish_rows, standing_stream
from tests.dashboard.persons import person
from tests.dashboard.sockets import Browser
from tests.dashboard.story import T0

pytestmark = pytest.mark.django_db(transaction=True)

SOCKETS, STEPS, WAITING = 100, 40, 8


@pytest.fixture
def viewer(cluster: Cluster, redis_server: str, settings: Settings, monkeypatch: pytest.MonkeyPatch) -> User:
    """Somebody who may have many sockets, whom no beat tells what got lost."""
    host = {"address": redis_server, "max_connections": 10_000, "socket_timeout": None}
    layer = {"BACKEND": "channels_redis.pubsub.RedisPubSubChannelLayer", "CONFIG": {"hosts": [host]}}
    settings.CHANNEL_LAYERS = {"default": layer}
    monkeypatch.setattr(consumers, "MOST_SOCKETS", 2 * SOCKETS)
    monkeypatch.setattr(consumers, "BEAT_S", 3_600.0)
    monkeypatch.setattr(consumers, "Outbox", partial(Outbox, most_messages=WAITING))
    del cluster
    return person()


async def read_up_to(browser: Browser, last: int, has: int | None = None) -> list[str]:
    """Read until a step came; fail where one was left out. Give the kinds of what came."""
    kinds = list[str]()
    async with asyncio.timeout(60):
        while has is None or has < last:
            message = await browser.hear(timeout=60)
            is_next = has is not None and message.seq == has + 1
            assert is_next or isinstance(message, OverviewSnapshot), f"step {message.seq} came after {has}"
            has = message.seq
            kinds.append(message.kind)
    return kinds


def subscribed(redis: Redis) -> dict[str, int]:
    """Give how many connections listen to each channel."""
    channels = cast("list[bytes]", redis.pubsub_channels())
    counts = cast("list[tuple[bytes, int]]", redis.pubsub_numsub(*channels))
    return {name.decode(): count for name, count in counts}


def push(cluster: int, at: int) -> None:
    with transaction.atomic():
        publish_rows(cluster=cluster, put=(), at=T0 + at)


async def push_all(cluster: int) -> None:
    for at in range(STEPS):
        await sync_to_async(push)(cluster, at)


def test_a_hundred_sockets_miss_nothing_and_cost_redis_one_delivery(viewer: User, redis: Redis) -> None:
    cluster = Cluster.objects.get().pk
    stream = overview_stream(cluster)

    @async_to_sync
    async def look() -> dict[str, int]:
        browsers = [Browser(viewer) for _ in range(SOCKETS)]
        for number, browser in enumerate(browsers):
            await browser.__aenter__()
            if number % 2:
                browser.hold()  # its snapshot is read, and takes its time: the last step comes before it is sent
            await browser.ask(follow=stream, seq=None)
        await push_all(cluster)
        for browser in browsers[1::2]:
            await browser.free()
        await asyncio.gather(*(read_up_to(browser, STEPS) for browser in browsers))
        subscribers = subscribed(redis)
        for browser in browsers:
            await browser.__aexit__(None, None, None)
        assert hub().is_idle
        return subscribers

    subscribers = look()

    assert subscribers.pop(f"asgi__group__{stream}") == 1
    assert subscribers.pop(f"asgi__group__{standing_stream(cluster)}") == 1
    assert list(subscribers.values()) == [1], "the hub's own channel is all there is besides"
    assert current_seq(stream=stream) == STEPS
    assert subscribed(redis) == {}
    assert consumers.LiveConsumer.sockets[viewer.username] == 0


def test_a_browser_that_reads_nothing_is_dropped_to_a_snapshot_and_slows_nobody(viewer: User, redis: Redis) -> None:
    cluster = Cluster.objects.get().pk
    stream = overview_stream(cluster)

    @async_to_sync
    async def look() -> tuple[list[str], list[list[str]]]:
        async with Browser(viewer) as slow, Browser(viewer) as quick, Browser(viewer) as other:
            for browser in (slow, quick, other):
                await browser.ask(follow=stream, seq=0)
                await browser.hears_nothing()
            slow.hold()
            await push_all(cluster)
            await slow.free()
            well = [await read_up_to(browser, STEPS, 0) for browser in (quick, other)]
            return await read_up_to(slow, STEPS, 0), well

    late, well = look()

    assert late[-1] == "overview.snapshot"
    assert len(late) <= WAITING
    assert {len(kinds) for kinds in well} == {STEPS}
    del redis
