"""A watcher that stores facts beside workers that rebalance the same groups: none waits for another in a circle."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from random import Random

import pytest
from django.db import connection, transaction

from dashboard.clusters.models import Queue
from dashboard.common.rows import Rows
from dashboard.groups.locks import Late
from dashboard.groups.models import Group, Member, Target
from dashboard.groups.rebalancing import rebalance_once
from rebalance_engine.events import Departure, Fact
from tests.dashboard.story import T0, add_cluster, held, joined, left, route, seen, told

LONG_S = 300  # turns two that wait for each other for ever into a test that fails
GROUPS = ("east", "south", "west")
STEPS, QUEUES, STEP_MS = 30, 24, 5_000
WAITS = "SET LOCAL lock_timeout = '5s'"


def closing(work: Callable[[], None]) -> Callable[[], None]:
    """Let a thread give its connection back."""

    def run() -> None:
        try:
            work()
        finally:
            connection.close()

    return run


def history(luck: Random) -> list[list[Fact]]:
    """Make batches of facts, in each of which something happens to every group."""
    batches = []
    for number in range(1, STEPS):
        at, batch = number * STEP_MS, list[Fact]()
        for group in luck.sample(GROUPS, len(GROUPS)):
            here = luck.sample("ABCDEF", 3)
            batch += [joined(here[0], at, group), left(here[1], at + 1, Departure.UNKNOWN, group)]
            batch += [held(client, at + 2, luck.sample(range(QUEUES), 6), group) for client in here]
            batch += [fact for client in here for fact in seen(client, at + 3, group)[:1]]
        batches.append([route(luck.choice((QUEUES, QUEUES + 4)), at), *batch] if number % 10 == 0 else batch)
    return batches


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("seed", range(2))
def test_a_watcher_and_two_workers_never_wait_for_each_other_in_a_circle(seed: int) -> None:
    add_cluster()
    told(route(QUEUES), *(fact for group in GROUPS for client in "ABCDEF" for fact in seen(client, 0, group)))
    groups = list(Group.objects.order_by("pk").values_list("pk", flat=True))
    ended, times = threading.Event(), iter(range(10 * STEP_MS * STEPS))

    def watch() -> None:
        try:
            for number, facts in enumerate(history(Random(seed)), 1):
                told(*facts, at=number * STEP_MS)
        finally:
            ended.set()

    def work() -> None:
        while not ended.is_set():
            for group in groups:
                try:
                    rebalance_once(group=group, now=T0 + next(times))
                except Late:
                    continue  # the other one began after it

    with ThreadPoolExecutor(3) as pool:
        running = [pool.submit(closing(each)) for each in (watch, work, work)]
        for each in running:
            each.result(LONG_S)  # a circle is told as an error of the database by one of them

    for group in groups:
        rebalance_once(group=group, now=T0 + STEPS * STEP_MS)
    assert all(group.done_version == group.inputs_version for group in Group.objects.all())


@pytest.mark.skipif(connection.vendor != "postgresql", reason="SQLite has one writer at a time, and locks no rows")
@pytest.mark.django_db(transaction=True)
def test_who_refers_to_a_row_that_is_written_anew_does_not_wait_for_it() -> None:
    add_cluster()
    told(route(4), *seen("A"))
    group, queue = Group.objects.get(), Queue.objects.order_by("pk")[0]
    members = Rows(Member, lambda row: row.client_id, Member.objects.all())
    member = next(iter(members))

    def refer() -> None:
        with transaction.atomic(), connection.cursor() as cursor:
            cursor.execute(WAITS)
            Target.objects.create(group=group, queue=queue, member=member, fence=1)

    with ThreadPoolExecutor(1) as pool, transaction.atomic():
        members.update(member, version="V5_5_1")
        members.write()
        pool.submit(closing(refer)).result(LONG_S)

    assert Target.objects.get().member == member
