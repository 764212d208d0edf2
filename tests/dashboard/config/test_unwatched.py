"""A watcher that comes after nobody watched, from end to end."""

from __future__ import annotations

import pytest
from redis import Redis

from dashboard.clusters.models import Cluster, Watch
from dashboard.config.watching import now_ms
from dashboard.groups.models import Member, MemberList
from tests.dashboard.config.watchers import added, consumer, held_by, rows, watched
from tests.rebalance_engine.network.clusters import cluster
from tests.rebalance_engine.network.loop import on_a_loop

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("redis_of_the_settings")]


def silent_until() -> int:
    return min(at or 0 for at in MemberList.objects.values_list("silent_until", flat=True))


def lists_at() -> int:
    return Watch.objects.get().lists_at or 0


@on_a_loop
async def test_time_in_which_nobody_watched_is_kept_until_members_and_lists_are_told_again(redis: Redis) -> None:
    async with cluster(orders=2) as east, rows() as looked, consumer(east, "A"):
        await added(looked, east, redis)
        async with watched():
            await looked.until(lambda: held_by("127.0.0.1@A") == 2 and Watch.objects.filter(lists_at__gt=0).exists())
            await looked.until(lambda: Cluster.objects.filter(watched_at__gt=0).exists())
        told = now_ms() - 60_000
        await looked.of(lambda: Cluster.objects.update(watched_at=told))
        await looked.of(lambda: Watch.objects.update(lists_at=told))
        await looked.of(lambda: MemberList.objects.update(observed_at=told))
        await looked.of(lambda: Member.objects.update(held_seen_at=told, at=told, at_low=None))
        began = now_ms()
        async with watched(holder="other:2"):
            await looked.until(lambda: Watch.objects.filter(lists_at__gt=began).exists())
            await looked.until(lambda: silent_until() >= lists_at())
            await looked.until(lambda: Member.objects.filter(held_seen_at__gt=began).exists())
            lists = await looked.of(lambda: list(MemberList.objects.values_list("silences", flat=True)))
            members = await looked.of(lambda: list(Member.objects.values_list("silences", flat=True)))

    assert isinstance(lists, list)
    assert isinstance(members, list)
    for [[since, until]] in [*lists, *members]:
        assert since == told
        assert until > began
