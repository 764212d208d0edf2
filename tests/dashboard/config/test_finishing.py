"""What came of an order is stored, whatever happens to the database meanwhile."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from functools import partial

import pytest
from asgiref.sync import sync_to_async
from django.db import OperationalError, connections

from dashboard.clusters import orders
from dashboard.clusters.models import Cluster, Command
from dashboard.clusters.orders import UNTOLD, Done
from dashboard.config import watching
from dashboard.config.watching import finish, now_ms
from dashboard.groups.watching import InThread
from rebalance_engine.events import CommandOutcome

pytestmark = pytest.mark.django_db(transaction=True)


def flaky(times: int) -> tuple[InThread[bool], list[int]]:
    """Give a database that is away for the first ``times`` times, and how often it was asked."""
    asked: list[int] = []

    async def in_thread(function: Callable[[], bool]) -> bool:
        asked.append(len(asked))
        if len(asked) <= times:
            raise OperationalError("database is locked")
        return await sync_to_async(partial(closing, function))()

    return in_thread, asked


def closing(function: Callable[[], bool]) -> bool:
    """Leave no connection of the thread behind."""
    try:
        return function()
    finally:
        connections.close_all()


@pytest.fixture
def at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(watching, "FINISH_AGAIN_S", 0.0)


def taken_order() -> int:
    row = Cluster.objects.create(name="shop", namesrv="127.0.0.1:9876", added_at=0, lease_epoch=1, lease_holder="a:1")
    return Command.objects.create(
        cluster=row, verb="v", author_name="ann", ordered_at=1, deadline=2, taken_at=1, taken_epoch=1
    ).pk


@pytest.mark.usefixtures("at_once")
def test_what_came_of_an_order_is_stored_though_the_database_was_away_for_a_moment() -> None:
    order, (in_thread, asked) = taken_order(), flaky(2)

    stored = asyncio.run(finish(order, epoch=1, done=Done(CommandOutcome.DONE, "told"), in_thread=in_thread))

    row = Command.objects.get()
    assert (stored, row.outcome, row.detail, len(asked)) == (True, "done", "told", 3)


@pytest.mark.usefixtures("at_once")
def test_what_came_of_an_order_is_given_up_where_the_database_stays_away() -> None:
    order, (in_thread, asked) = taken_order(), flaky(10_000)

    assert not asyncio.run(finish(order, epoch=1, done=Done(CommandOutcome.DONE), in_thread=in_thread))

    assert len(asked) == watching.FINISH_TRIES
    assert Command.objects.get().finished_at is None
    assert orders.take(cluster="shop", epoch=1, now=now_ms(), in_hand={order}) == []
    assert Command.objects.get().finished_at is None
    assert orders.take(cluster="shop", epoch=1, now=now_ms()) == []
    assert (Command.objects.get().outcome, Command.objects.get().detail) == ("failed", UNTOLD)
