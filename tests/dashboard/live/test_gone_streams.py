"""Streams that a browser had, and that are there no more when it connects anew."""

from __future__ import annotations

import pytest
from asgiref.sync import async_to_sync
from django.contrib.auth.models import User

from dashboard.clusters.models import Cluster
from dashboard.groups.models import Group
from dashboard.live import consumers
from dashboard.people.models import Grant
from dashboard.push.messages import OverviewSnapshot, Pulse
from dashboard.push.publish import overview_stream
from tests.dashboard.persons import person
from tests.dashboard.sockets import Browser
from tests.dashboard.story import add_cluster, route, seen, told

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
