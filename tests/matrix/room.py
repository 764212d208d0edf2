"""A control room over a cluster of the matrix: a real watcher, a real database and Redis, pages without a browser."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any

from django.test import Client
from django.urls import reverse
from redis import Redis

from dashboard.clusters.models import Cluster as ClusterRow
from dashboard.clusters.models import Watch
from dashboard.config.watching import now_ms, watch
from dashboard.groups.models import Group, Holding, Member, Round
from dashboard.groups.rebalancing import is_due
from dashboard.groups.tasks import rebalance_due_groups
from dashboard.groups.viewing import note_viewed
from dashboard.people.roles import Role
from rebalance_engine.network.settings import NetworkSettings
from tests.cluster.contract import Cluster
from tests.cluster.processes import wait_until
from tests.dashboard.persons import person

LONG_S = 90
HOLDER = "elsewhere:1"


class Room:
    """What is stored of one group, and its page; somebody looks at others too where they are named.

    ``network`` says with which keys the watcher comes, and whether by TLS; another one holds from the next opening on.
    """

    def __init__(
        self, cluster: Cluster, redis: Redis, group: str, *others: str, network: NetworkSettings | None = None
    ) -> None:
        self.group_name, self._viewed, self._redis = group, (group, *others), redis
        self.network = network or NetworkSettings()
        self._row = ClusterRow.objects.create(name="real", namesrv=cluster.namesrv, added_at=now_ms())
        self._browser = Client()
        self._browser.force_login(person(Role.VIEWER))
        self._loop: asyncio.AbstractEventLoop | None = None
        self._task: asyncio.Task[None] | None = None

    async def _watch(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._task = asyncio.create_task(watch("real", self.network, HOLDER))
        with suppress(asyncio.CancelledError):
            await self._task

    @contextmanager
    def open(self) -> Iterator[Room]:
        """Watch, until the block ends; begins when a first sweep is over. It may be opened again."""
        thread = threading.Thread(target=lambda: asyncio.run(self._watch()), name="watcher")
        thread.start()
        epoch = Watch.objects.filter(cluster=self._row).values_list("epoch", flat=True).first() or 0
        try:
            self.until(lambda: Watch.objects.filter(sweep__gte=2, epoch__gt=epoch).exists(), "a first sweep")
            yield self
        finally:
            assert self._loop is not None
            assert self._task is not None
            self._loop.call_soon_threadsafe(self._task.cancel)
            thread.join(30)

    def until(self, holds: Callable[[], object], what: str, *, within_s: float = LONG_S) -> None:
        """Wait until something is stored; meanwhile somebody looks at the group, and beat does its work."""

        def look() -> object:
            for group in self._viewed:
                note_viewed(redis=self._redis, cluster=self._row.pk, group=group, now=now_ms())
            rebalance_due_groups()
            return holds()

        wait_until(look, within_s=within_s, what=what)

    # ---- what is stored ----

    @property
    def group(self) -> Group:
        return Group.objects.get(name=self.group_name)

    def member(self, client_id: str) -> Member:
        return Member.objects.get(group__name=self.group_name, client_id=client_id)

    def members(self) -> set[str]:
        here = Member.objects.filter(group__name=self.group_name, left_at=None)
        return set(here.values_list("client_id", flat=True))

    def held(self, client_id: str) -> frozenset[str]:
        """Name the queues that a member holds, retry topics left out."""
        spans = Holding.objects.filter(member__client_id=client_id, member__group__name=self.group_name, until=None)
        rows = spans.values_list("queue__topic__name", "queue__broker", "queue__queue_id")
        return frozenset(f"{topic}/{broker}/{n}" for topic, broker, n in rows if not topic.startswith("%RETRY%"))

    def latest(self) -> Round | None:
        return Round.objects.filter(group__name=self.group_name).order_by("-number").first()

    def is_settled(self) -> bool:
        """Whether held is target, by looks from after everything that happened, and no round is open or to come."""
        if is_due(group=self.group.pk, now=ms()):  # asked first: what is stored is told in what is read below
            return False
        latest = self.latest()
        return bool(self.group.is_converged) and (latest is None or latest.closed_at is not None)

    # ---- what is shown ----

    def page(self) -> str:
        """Give the group's page as the server writes it."""
        answer = self._browser.get(reverse("group", args=[self.group.pk]))
        assert answer.status_code == 200
        return answer.content.decode()

    def dry_run(self, group: str, question: dict[str, list[str]]) -> dict[str, Any]:
        """Ask the API what would be."""
        address = reverse("api plan", args=[Group.objects.get(name=group).pk])
        answer = self._browser.get(address, question)
        assert answer.status_code == 200, answer.content
        told: dict[str, Any] = answer.json()
        return told

    def overview(self) -> str:
        return self._browser.get("/").content.decode()

    def round_page(self, number: int) -> str:
        answer = self._browser.get(reverse("round", args=[self.group.pk, number]))
        assert answer.status_code == 200
        return answer.content.decode()


def ms() -> int:
    """Say what time it is."""
    return time.time_ns() // 1_000_000
