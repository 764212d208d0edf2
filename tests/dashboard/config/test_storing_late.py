"""A watcher whose facts cannot be stored for a while, from end to end."""

from __future__ import annotations

import asyncio
import threading

import pytest
from django.db import OperationalError
from redis import Redis

from dashboard.config import watching
from dashboard.config.watching import now_ms
from dashboard.groups.watching import Writer
from rebalance_engine.events import Fact
from tests.dashboard.config.watchers import added, consumer, held_by, rows, watched
from tests.rebalance_engine.network.clusters import cluster
from tests.rebalance_engine.network.loop import on_a_loop

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("redis_of_the_settings")]


@on_a_loop
async def test_a_group_is_told_to_be_watched_up_to_what_could_be_stored_of_it(
    redis: Redis, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The database is locked for whoever writes, and all answer: nobody is told that what is shown is of now."""
    told: list[int] = []
    is_locked, is_tried = threading.Event(), asyncio.Event()
    loop = asyncio.get_running_loop()

    def storing(writer: Writer, facts: list[Fact]) -> int:
        if is_locked.is_set():
            loop.call_soon_threadsafe(is_tried.set)
            raise OperationalError("database is locked")
        return record_of(writer, facts)

    record_of = Writer._record
    monkeypatch.setattr(Writer, "_record", storing)
    monkeypatch.setattr(watching, "HEALTH_EVERY_S", 0.1)
    monkeypatch.setattr(watching, "pulse_answers", lambda *, watched_at, **_: told.append(watched_at))
    async with cluster(orders=4) as east, rows() as looked, consumer(east, "A"), asyncio.timeout(60):
        await added(looked, east, redis)
        async with watched():
            await looked.until(lambda: held_by("127.0.0.1@A") == 4 and bool(told))
            is_locked.set()
            async with consumer(east, "B"):
                await is_tried.wait()
                locked_at, told_before = now_ms(), len(told)
                await looked.until(lambda: len(told) > told_before + 15)
                late = told[-1]
                is_locked.clear()
                await looked.until(lambda: held_by("127.0.0.1@B") == 2 and told[-1] > locked_at)

    assert late <= locked_at
