"""One rebalance of a group at a time, on a real Redis."""

from __future__ import annotations

import threading
from typing import cast

import pytest
from django.db import connection, transaction
from redis import Redis

from dashboard.clusters.models import Cluster
from dashboard.groups import locks, rebalancing
from dashboard.groups.locks import Late, hold_fence, only_one, take_fence
from dashboard.groups.models import Group, Round
from tests.dashboard.story import T0, add_cluster, held, joined, route, seen, told

NEAR_ITS_END_MS = 15_000  # of 20 s; a busy machine may keep the renewal from its turn for a while


def test_a_lock_is_held_by_one_and_given_back(redis: Redis) -> None:
    with only_one(redis, 1) as first, only_one(redis, 1) as second, only_one(redis, 2) as other:
        assert (first, second, other) == (True, False, True)

    with only_one(redis, 1) as again:
        assert again


def test_a_lock_that_expired_is_not_taken_from_who_has_it_now(redis: Redis) -> None:
    with only_one(redis, 1):
        redis.flushall()
        with only_one(redis, 1) as second:
            assert second

    with only_one(redis, 1) as third:
        assert third


def test_a_lock_is_kept_for_as_long_as_a_rebalance_takes(redis: Redis, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(locks, "RENEW_EVERY_S", 0.02)
    with only_one(redis, 1):
        [key] = cast("list[bytes]", redis.keys("*rebalance:1"))
        redis.pexpire(key, NEAR_ITS_END_MS)
        while cast("int", redis.pttl(key)) <= NEAR_ITS_END_MS:
            assert redis.exists(key), "it expired"


def test_a_rebalance_that_was_overtaken_must_not_write(cluster: Cluster) -> None:
    group = Group.objects.create(cluster=cluster, name="g", added_at=T0)
    first, second = take_fence(group=group.pk), take_fence(group=group.pk)

    with transaction.atomic():
        hold_fence(group=group.pk, fence=second)
    with pytest.raises(Late, match=f"rebalance {first} of group 'g' is late: {second} has begun"), transaction.atomic():
        hold_fence(group=group.pk, fence=first)


@pytest.mark.django_db(transaction=True)
def test_workers_never_rebalance_one_group_at_the_same_time(redis: Redis, monkeypatch: pytest.MonkeyPatch) -> None:
    add_cluster()
    told(route(4), *seen("A"), held("A", 10, [0, 1, 2, 3]), joined("B", 1_000), held("B", 1_100, []))
    group = Group.objects.get().pk
    inside, most, everybody = set[int](), list[int](), threading.Barrier(4)
    once = rebalancing.rebalance_once

    def watched(*, group: int, now: rebalancing.Clock) -> object:
        inside.add(threading.get_ident())
        most.append(len(inside))
        try:
            return once(group=group, now=now)
        finally:
            inside.discard(threading.get_ident())

    def work() -> None:
        everybody.wait(timeout=30)
        try:
            rebalancing.rebalance_now(redis=redis, group=group, clock=lambda: T0 + 2_000)
        finally:
            connection.close()

    monkeypatch.setattr(rebalancing, "rebalance_once", watched)
    workers = [threading.Thread(target=work) for _ in range(4)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join(timeout=60)

    assert most
    assert set(most) == {1}
    assert Round.objects.count() == 1
    assert not rebalancing.is_due(group=group, now=T0 + 2_000)


@pytest.mark.django_db(transaction=True)
def test_without_the_lock_the_fence_alone_lets_no_round_come_twice(redis: Redis) -> None:
    add_cluster()
    told(route(4), *seen("A"), held("A", 10, [0, 1, 2, 3]), joined("B", 1_000), held("B", 1_100, []))
    group = Group.objects.get().pk
    redis.flushall()
    everybody, late = threading.Barrier(4), list[Late]()

    def work() -> None:
        everybody.wait(timeout=30)
        try:
            rebalancing.rebalance_once(group=group, now=T0 + 2_000)
        except Late as error:
            late.append(error)
        finally:
            connection.close()

    workers = [threading.Thread(target=work) for _ in range(4)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join(timeout=60)

    assert Round.objects.count() == 1
    assert len(late) < 4
    assert Group.objects.get().fence == 4
