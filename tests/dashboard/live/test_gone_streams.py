"""Streams that a browser had, and that are there no more when it connects anew."""

from __future__ import annotations

import asyncio
from functools import partial

import pytest
from asgiref.sync import async_to_sync, sync_to_async
from django.contrib.auth.models import User

from dashboard.clusters.changing import Author, change, remove
from dashboard.clusters.models import Cluster, OutboxLine
from dashboard.groups.models import Group
from dashboard.live import consumers
from dashboard.people.models import Grant
from dashboard.push.messages import OverviewSnapshot, Pulse
from dashboard.push.publish import overview_stream
from tests.dashboard.persons import person
from tests.dashboard.sockets import Browser
from tests.dashboard.story import T0, add_cluster, route, seen, told

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def viewer() -> User:
    add_cluster()
    told(route(4), *seen("A"))
    return person()


@pytest.mark.parametrize("name", ["group-{}", "group-999", "overview-999"])
def test_what_is_not_there_and_what_is_not_for_you_is_gone_alike_and_the_others_go_on(viewer: User, name: str) -> None:
    Grant.objects.update(groups="orders-*")
    hidden, mine = Group.objects.get(), overview_stream(Cluster.objects.get().pk)

    @async_to_sync
    async def look() -> list[object]:
        async with Browser(viewer) as browser:
            await browser.ask(follow=name.format(hidden.pk), seq=7)
            first = await browser.hear()
            await browser.ask(follow=mine, seq=None)
            return [first, await browser.hear()]

    first, then = look()

    assert isinstance(first, Pulse)
    assert (first.stream, first.standing, first.watched_at, first.seen) == (name.format(hidden.pk), "gone", None, ())
    assert isinstance(then, OverviewSnapshot)


@pytest.mark.parametrize("name", ["group-0", "group-1x", "nothing", "x" * 300, ""])
def test_what_is_no_stream_is_refused(viewer: User, name: str) -> None:
    @async_to_sync
    async def look() -> int:
        async with Browser(viewer) as browser:
            await browser.ask(follow=name, seq=None)
            return await browser.is_closed()

    assert look() == consumers.NOT_FOR_YOU


@pytest.mark.usefixtures("viewer")
def test_that_a_cluster_is_put_aside_expected_again_or_deleted_is_told_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """No beat comes by itself for ten seconds."""
    monkeypatch.setattr("dashboard.clusters.changing.append", lambda **_: None)  # lets nobody delete its entries
    ada = Author(name="ada", reason="a test", now=T0)
    cluster, group = Cluster.objects.get(), Group.objects.get()
    followed = (f"group-{group.pk}", overview_stream(cluster.pk))

    def stand(is_aside: bool) -> None:
        change(cluster=cluster.pk, namesrv=cluster.namesrv, is_read_only=True, is_aside=is_aside, by=ada)

    def delete() -> None:
        OutboxLine.objects.update(exported_at=T0)
        remove(cluster=cluster.pk, by=ada)

    @async_to_sync
    async def look() -> list[set[tuple[str, str | None]]]:
        told = []
        async with Browser(await User.objects.aget()) as browser, asyncio.timeout(consumers.BEAT_S - 1):
            for name in followed:
                await browser.ask(follow=name, seq=0)
            await browser.ask(follow="group-999", seq=0)
            while not isinstance(await browser.hear(), Pulse):
                pass
            for work in (partial(stand, True), partial(stand, False), delete):
                await sync_to_async(work)()
                told.append({await pulse(browser) for _ in followed})
        return told

    async def pulse(browser: Browser) -> tuple[str, str | None]:
        while not isinstance(message := await browser.hear(), Pulse):
            pass
        return message.stream, message.standing

    assert look() == [{(name, standing) for name in followed} for standing in ("aside", "watched", "gone")]
