"""A watcher from end to end: an embedded cluster on sockets, a real Redis, a real database."""

from __future__ import annotations

import asyncio
import threading
import time
from functools import partial
from types import SimpleNamespace
from typing import cast

import pytest
from redis import Redis

from dashboard.clusters import leases
from dashboard.clusters.models import Broker, Cluster, Command, CommandReceipt, OutboxLine, Watch
from dashboard.clusters.orders import ABANDONED
from dashboard.config import watching
from dashboard.config.watching import Threads, now_ms
from dashboard.groups.models import Group, Holding, Member, RoundCause
from dashboard.groups.operations import LeaseLost, record
from dashboard.groups.vanished import Quiet
from rebalance_engine.events import EXACT, Fact, MemberJoined, Origin, QueueTaken, Source
from rebalance_engine.model import MessageQueue
from rebalance_engine.network.settings import NetworkSettings
from rebalance_engine.network.watcher import Health, Watcher, WatcherClock
from rebalance_engine.network.watcher.closed import Closed
from tests.dashboard.config.watchers import added, consumer, held_by, members, rows, watched
from tests.rebalance_engine.network.clusters import cluster
from tests.rebalance_engine.network.loop import on_a_loop

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("redis_of_the_settings")]


@on_a_loop
async def test_rows_follow_a_consumer_that_joins_and_leaves(redis: Redis) -> None:
    async with cluster(2, orders=2) as east, rows() as looked:
        await added(looked, east, redis)
        async with watched(), consumer(east, "A"):
            await looked.until(lambda: held_by("127.0.0.1@A") == 4)
            async with consumer(east, "B"):
                await looked.until(lambda: held_by("127.0.0.1@A") == held_by("127.0.0.1@B") == 2)
                joined = await looked.of(lambda: Member.objects.get(client_id="127.0.0.1@B"))
            await looked.until(lambda: members() == {"127.0.0.1@A"} and held_by("127.0.0.1@A") == 4)
            await looked.until(lambda: Watch.objects.filter(calls__gt=0, members=1, unknown=0).exists())
            left = await looked.of(lambda: Member.objects.get(client_id="127.0.0.1@B"))

    assert isinstance(joined, Member)
    assert isinstance(left, Member)
    assert joined.at_low is not None
    assert joined.at_low < joined.at
    assert (joined.language, left.departure) == ("PYTHON", "unknown")


@on_a_loop
async def test_who_leaves_after_the_clock_was_set_back_is_seen_to_leave_by_the_next_watcher(redis: Redis) -> None:
    an_hour_ahead = partial(WatcherClock, wall=lambda: time.time() + 3_600)
    async with cluster(orders=4) as east, rows() as looked, consumer(east, "A"):
        await added(looked, east, redis)
        async with consumer(east, "B"):
            with pytest.MonkeyPatch.context() as patch:
                patch.setattr(watching, "WatcherClock", an_hour_ahead)
                async with watched():
                    await looked.until(lambda: held_by("127.0.0.1@A") == held_by("127.0.0.1@B") == 2)
            stored = await looked.of(lambda: Watch.objects.get().at)
        async with watched(holder="other:2"):
            await looked.until(lambda: members() == {"127.0.0.1@A"} and held_by("127.0.0.1@A") == 4)
            left = await looked.of(lambda: Member.objects.get(client_id="127.0.0.1@B"))

    assert isinstance(left, Member)
    assert left.left_at is not None
    assert isinstance(stored, int)
    assert now_ms() + 1_800_000 < stored < left.left_at


@on_a_loop
async def test_who_takes_a_lease_over_states_nothing_twice(redis: Redis) -> None:
    async with cluster(orders=4) as east, rows() as looked, consumer(east, "A"):
        await added(looked, east, redis)
        async with watched():
            await looked.until(lambda: held_by("127.0.0.1@A") == 4)
            await looked.until(lambda: Broker.objects.exclude(version="").exists())

        def die() -> tuple[int, int]:
            until = now_ms() + 1_500
            Cluster.objects.update(lease_holder="far:1", lease_until=until)
            return OutboxLine.objects.count(), until

        lines, until = await looked.threads.look(die)
        async with watched(holder="other:2"):
            await looked.until(lambda: Member.objects.filter(held_seen_at__gt=until).exists())
            await looked.until(lambda: Watch.objects.filter(epoch=2, sweep__gte=2).exists())
            again = await looked.of(OutboxLine.objects.count)
            took = await looked.of(lambda: Cluster.objects.get().lease_holder)

    assert (again, took) == (lines, "other:2")


@on_a_loop
async def test_who_only_reported_and_is_in_no_list_has_left(redis: Redis) -> None:
    async with cluster(orders=4) as east, rows() as looked, consumer(east, "A"), asyncio.timeout(60):
        await added(looked, east, redis)
        async with watched():
            await looked.until(lambda: held_by("127.0.0.1@A") == 4)

            def report() -> int:
                at = now_ms()
                who = Source(origin=Origin.AGENT_REPORT, client="ghost")
                facts: list[Fact] = [
                    MemberJoined(at=at - 60_000, source=who, exactness=EXACT, group=group, client="ghost")
                    for group in ("G", "nowhere")
                ]
                queue = MessageQueue("orders", "broker-a", 0)
                facts.append(
                    QueueTaken(at=at - 50_000, source=who, exactness=EXACT, group="G", client="ghost", queue=queue)
                )
                record(cluster="shop", facts=facts, now=at)
                return at

            reported = await looked.threads.look(report)
            await looked.until(lambda: members() == {"127.0.0.1@A"})
            went = await looked.threads.look(
                lambda: list(Member.objects.filter(client_id="ghost").order_by("group__name"))
            )
            still = await looked.of(lambda: Holding.objects.filter(member__client_id="ghost", until=None).exists())
            kept = await looked.threads.look(lambda: RoundCause.objects.get(cause="member left", group__name="G"))

    assert [one.departure for one in went] == ["unknown", "unknown"]
    assert all(one.left_at is not None and one.left_at >= reported for one in went)
    assert kept.at_low == reported - 50_000
    assert (kept.origin, still) == ("derived", False)


@on_a_loop
async def test_who_left_unseen_is_asked_for_once_after_each_telling_of_the_lists(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    asked: list[int] = []

    def quiet(*, cluster: str, lists_at: int) -> list[Quiet]:
        assert cluster == "shop"
        asked.append(lists_at)
        return []

    monkeypatch.setattr(watching, "quiet_members", quiet)
    looked = Threads()
    having = SimpleNamespace(told_at=4)
    memory = SimpleNamespace(are_groups_told=True, having=having, groups=frozenset({"g"}), members=lambda _: ())
    watcher = cast("Watcher", SimpleNamespace(memory=memory, health=Health()))
    watch_ = watching._Watch(looked, "shop", 1, NetworkSettings())

    for lists_at in (5, 5, 5, 6, 6, None):
        await watch_._see_off(watcher, lists_at)
    await looked.close()

    assert asked == [5, 6]


@pytest.mark.parametrize(
    ("health", "knows_groups", "is_stored", "stored"),
    [
        pytest.param(Health(), True, True, {}, id="it has just begun"),
        pytest.param(Health(sweep_ended_at=5), False, True, {}, id="no broker told of which groups it has lists"),
        pytest.param(Health(sweep_ended_at=5), True, True, {"lists_at": None}, id="it asked for all, and misses one"),
        pytest.param(Health(lists_at=3, routes_at=4), True, True, {"lists_at": 3, "routes_at": 4}, id="all were told"),
        pytest.param(Health(lists_at=3, routes_at=4), True, False, {}, id="what they told may not be stored yet"),
    ],
)
def test_lists_and_routes_that_an_earlier_watcher_was_told_are_not_unknown_to_the_next_one(
    health: Health, knows_groups: bool, is_stored: bool, stored: dict[str, int | None]
) -> None:
    silences = SimpleNamespace(answered_at=None, silent=lambda _: [])
    memory = SimpleNamespace(masters={}, silences=silences, are_groups_told=knows_groups)
    admin = SimpleNamespace(name_servers=SimpleNamespace(addresses=()))
    watcher = cast("Watcher", SimpleNamespace(memory=memory, health=health, admin=admin))

    told = watching._told_of(watcher, is_stored=is_stored)

    assert {name: told[name] for name in ("lists_at", "routes_at") if name in told} == stored


@on_a_loop
async def test_a_broker_that_is_down_leaves_members_unknown_not_gone(redis: Redis) -> None:
    async with cluster(orders=4) as east, rows() as looked, consumer(east, "A"):
        await added(looked, east, redis)
        async with watched():
            await looked.until(lambda: held_by("127.0.0.1@A") == 4)
            await east.broker("broker-a").kill(keeps_route=True)
            await looked.until(lambda: Member.objects.filter(missing__isnull=False).exists())
            row = await looked.of(Member.objects.get)
            still = await looked.of(lambda: held_by("127.0.0.1@A"))

    assert isinstance(row, Member)
    assert row.is_silent
    assert row.left_at is None
    assert still == 4


@on_a_loop
async def test_a_watcher_whose_lease_is_taken_ends(redis: Redis) -> None:
    async with cluster() as east, rows() as looked, consumer(east, "A"):
        await added(looked, east, redis)
        async with watched() as task:
            await looked.until(lambda: held_by("127.0.0.1@A") == 4)
            await looked.of(lambda: Cluster.objects.update(lease_epoch=7, lease_holder="other:2"))
            with pytest.raises(ExceptionGroup) as ended:
                await asyncio.shield(task)

    assert ended.value.split(LeaseLost)[1] is None  # the writer and whoever renews may both have heard of it


@on_a_loop
async def test_orders_are_carried_out_once_and_have_receipts(redis: Redis) -> None:
    async with cluster() as east, rows() as looked, consumer(east, "A"):
        row = await added(looked, east, redis)

        def order(verb: str, within_ms: int = 30_000, **columns: object) -> Command:
            at = now_ms()
            return Command.objects.create(
                cluster=row, verb=verb, author_name="ann", ordered_at=at, deadline=at + within_ms, **columns
            )

        abandoned = await looked.threads.look(lambda: order("group.recompute", taken_at=now_ms(), taken_epoch=99))
        late = await looked.threads.look(lambda: order("group.recompute", within_ms=0))
        async with watched():
            await looked.until(lambda: held_by("127.0.0.1@A") == 4)
            probe = await looked.threads.look(lambda: order("group.recompute", group_name="G"))
            odd = await looked.threads.look(lambda: order("group.explode", group_name="G"))
            await looked.until(lambda: not Command.objects.filter(finished_at=None).exists())

        def ends() -> dict[int, tuple[str | None, str]]:
            return {one.pk: (one.outcome, one.detail) for one in Command.objects.all()}

        outcomes = await looked.threads.look(ends)
        receipts = await looked.threads.look(lambda: list(CommandReceipt.objects.values_list("client_id", "answer")))

    outcome, detail = outcomes[probe.pk]
    assert outcome == "done" and detail.endswith(" notified 1 member")
    assert receipts == [("127.0.0.1@A", "unchanged")]
    assert outcomes[odd.pk][0] == "refused"
    assert outcomes[late.pk][0] == "expired"
    assert outcomes[abandoned.pk] == ("failed", ABANDONED)


@on_a_loop
async def test_a_cluster_that_answers_is_fresh_and_a_name_server_that_does_not_is_stored(redis: Redis) -> None:
    async with rows() as looked, cluster() as east, asyncio.timeout(60):
        row = await added(looked, east, redis)
        await looked.of(lambda: Cluster.objects.filter(pk=row.pk).update(namesrv=f"{east.namesrv};127.0.0.1:1"))
        async with watched():
            await looked.until(lambda: Watch.objects.exclude(silent=[]).exclude(answered_at=None).exists())

        def stored() -> tuple[Watch, Cluster]:
            return Watch.objects.get(), Cluster.objects.get()

        watch_row, cluster_row = await looked.threads.look(stored)
        [silent] = watch_row.silent
        assert (silent["server"], silent["broker"], silent["answered_at"]) == ("127.0.0.1:1", "", None)
        assert cluster_row.watched_at == watch_row.answered_at


@on_a_loop
async def test_a_cluster_of_which_nothing_answers_was_never_fresh(redis: Redis) -> None:
    async with rows() as looked, cluster() as east, asyncio.timeout(60):
        row = await added(looked, east, redis)
        await looked.of(lambda: Cluster.objects.filter(pk=row.pk).update(namesrv="127.0.0.1:1"))
        async with watched():
            await looked.until(lambda: Watch.objects.exclude(silent=[]).exists())

        assert await looked.of(lambda: Watch.objects.get().answered_at) is None
        assert await looked.of(lambda: Cluster.objects.get().watched_at) is None


@on_a_loop
async def test_a_redis_that_hangs_keeps_neither_the_lease_nor_what_answered_from_being_stored(
    redis: Redis, monkeypatch: pytest.MonkeyPatch
) -> None:
    goes_on = threading.Event()

    def hang(*_: object) -> frozenset[str]:
        goes_on.wait(timeout=60)
        return frozenset()

    monkeypatch.setattr("dashboard.config.watching._viewed", hang)
    monkeypatch.setattr(leases, "RENEW_EVERY_MS", 50)
    async with rows() as looked, cluster() as east, asyncio.timeout(60):
        await added(looked, east, redis)
        async with watched():
            try:
                await looked.until(lambda: Watch.objects.filter(answered_at__isnull=False).exists())
                first = await looked.threads.look(Cluster.objects.get)
                await looked.until(
                    lambda: Cluster.objects.filter(
                        lease_until__gt=first.lease_until, watched_at__gt=first.watched_at
                    ).exists()
                )
            finally:
                goes_on.set()


@on_a_loop
async def test_that_nobody_of_a_group_is_notified_is_stored_once_the_group_is_and_taken_back(
    redis: Redis, monkeypatch: pytest.MonkeyPatch
) -> None:
    muted = {"G", "not stored yet"}
    monkeypatch.setattr(Closed, "muted", lambda *_: frozenset(muted))
    async with cluster() as east, rows() as looked, consumer(east, "A"), asyncio.timeout(60):
        await added(looked, east, redis)
        async with watched():
            await looked.until(lambda: Group.objects.filter(name="G", is_notified=False).exists())
            muted.clear()
            await looked.until(lambda: Group.objects.filter(name="G", is_notified=None).exists())


def test_a_watcher_whose_lease_is_another_ones_overwrites_nothing_that_is_told_of_it() -> None:
    cluster_row = Cluster.objects.create(name="shop", namesrv="127.0.0.1:9876", added_at=0)
    at = now_ms()
    first = leases.take(cluster="shop", holder="a:1", now=at)
    second = leases.take(cluster="shop", holder="b:2", now=at + 20_000)
    told: dict[str, object] = {"at": at + 21_000, "answered_at": at + 20_900, "lists_at": at + 20_800}
    late: dict[str, object] = {"at": at + 21_500, "answered_at": at + 2_000, "lists_at": at + 1_000}

    assert watching.store_health(cluster_row.pk, second or 0, told, watched_at=at + 20_900)
    assert not watching.store_health(cluster_row.pk, first or 0, late, watched_at=at + 2_000)

    assert Watch.objects.values("at", "epoch", "answered_at", "lists_at").get() == {**told, "epoch": second}
    assert Cluster.objects.get().watched_at == at + 20_900
