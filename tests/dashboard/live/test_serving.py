"""The database knows how many sockets a process has open, and what went wrong with them."""

from __future__ import annotations

import asyncio
from collections import Counter
from queue import SimpleQueue

import pytest
from asgiref.sync import async_to_sync
from django.db import DatabaseError

from dashboard.live import serving as room
from dashboard.live.consumers import LiveConsumer
from dashboard.live.hub import StepEvent
from dashboard.live.outbox import CatchUp, Outbox
from dashboard.live.serving import PROCESS, Serving, serving
from dashboard.live.streams import Stream
from dashboard.push.models import Server
from dashboard.push.tallies import Kind, counts

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def stored(monkeypatch: pytest.MonkeyPatch) -> SimpleQueue[int]:
    """Hear of each number of sockets once it is stored."""
    told, store = SimpleQueue[int](), room._store

    def and_tell(sockets: int, counted: Counter[Kind]) -> None:
        store(sockets, counted)
        told.put(sockets)

    monkeypatch.setattr(room, "_store", and_tell)
    return told


def test_sockets_are_counted_as_they_come_and_go_and_the_task_ends_with_the_last(stored: SimpleQueue[int]) -> None:
    @async_to_sync
    async def look() -> bool:
        mine = Serving()
        mine.came()
        mine.came()
        assert await asyncio.to_thread(stored.get, timeout=30) == 2
        await mine.went()
        assert await asyncio.to_thread(stored.get, timeout=30) == 1
        await mine.went()
        assert stored.get_nowait() == 0
        return mine._task is not None and mine._task.done()

    assert look()
    assert Server.objects.get(process=PROCESS).sockets == 0


def test_what_went_wrong_is_counted_once() -> None:
    @async_to_sync
    async def look() -> None:
        mine = Serving()
        mine.came()
        mine.count(Kind.TOO_SLOW)
        mine.count(Kind.FELL_BEHIND, 3)
        mine.count(Kind.BROKEN, 0)
        await mine.went()

    look()

    found = counts()
    assert (found[Kind.TOO_SLOW], found[Kind.FELL_BEHIND], found[Kind.BROKEN]) == (1, 3, 0)


def test_what_the_database_did_not_take_is_told_the_next_time(monkeypatch: pytest.MonkeyPatch) -> None:
    def away(*_told: object) -> None:
        raise DatabaseError("away")

    @async_to_sync
    async def look() -> None:
        mine = Serving()
        with monkeypatch.context() as patch:
            patch.setattr(room, "_store", away)
            mine.came()
            mine.count(Kind.TOO_SLOW)
            await mine.went()
        mine.came()
        await mine.went()

    look()

    assert counts()[Kind.TOO_SLOW] == 1


def test_a_queue_that_is_dropped_because_its_browser_is_too_slow_is_counted_once() -> None:
    def step(seq: int) -> StepEvent:
        return {"type": "push.step", "stream": "group-1", "seq": seq, "is_step": True, "body": b"{}"}

    @async_to_sync
    async def look() -> None:
        slow = LiveConsumer()
        slow.streams["group-1"] = Stream("group-1", 1, is_overview=False, cluster=None)
        slow.outbox = Outbox(most_messages=1)
        slow.outbox.follow("group-1", 0)
        catch_up = slow.outbox.take()
        assert isinstance(catch_up, CatchUp)
        slow.outbox.caught_up(catch_up, 0)
        serving().came()
        for seq in (1, 2, 3):
            slow.hear(step(seq))
        await serving().went()

    look()

    assert counts()[Kind.FELL_BEHIND] == 1


def test_a_loop_has_one() -> None:
    @async_to_sync
    async def is_one() -> bool:
        return serving() is serving()

    assert is_one()
