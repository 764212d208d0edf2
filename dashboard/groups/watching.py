"""Between a watcher and the database: what was known before it came, and a bounded way for its facts."""

from __future__ import annotations

import asyncio
import logging
from collections import deque
from collections.abc import Awaitable, Callable
from typing import TypeVar

from django.db import DatabaseError, DataError, IntegrityError

from dashboard.clusters.models import Broker, Cluster, Watch
from dashboard.groups.models import Group, Member, Presence
from dashboard.groups.operations import LeaseLost, record
from rebalance_engine.eventlog import EventLogError
from rebalance_engine.events import Fact
from rebalance_engine.network.watcher import Known

logger = logging.getLogger(__name__)

T = TypeVar("T")
MOST_BATCHES = 200  # wait to be stored; then the watcher waits too
MOST_FACTS = 1_000  # are stored at once
RETRY_S = (0.5, 10.0)
TOO_MUCH = "54"  # class of PostgreSQL's codes for what is beyond its limits, as a row of an index; no matter of time

InThread = Callable[[Callable[[], T]], Awaitable[T]]


def known_of(*, cluster: str) -> Known:
    """Read what is known of a cluster: its brokers, and the members that did not leave, with where they are.

    Raises:
        Cluster.DoesNotExist: nobody added it.
    """
    row = Cluster.objects.get(name=cluster)
    told = Watch.objects.filter(cluster=row).values_list("lists_at", flat=True).first()
    brokers = Broker.objects.filter(cluster=row, gone_at=None).values_list("name", "broker_id", "address")
    members: dict[str, dict[str, set[tuple[str, str]]]] = {}
    here = Member.objects.filter(group__cluster=row, left_at=None).values_list("group__name", "client_id")
    for group, client in here:
        members.setdefault(group, {})[client] = set()
    there = Presence.objects.filter(member__group__cluster=row, member__left_at=None, gone_at=None)
    for group, client, broker, address in there.values_list(
        "member__group__name", "member__client_id", "broker", "address"
    ):
        members[group][client].add((broker, address))
    shut = Group.objects.filter(cluster=row).exclude(closed_by=[]).values_list("name", "closed_by")
    closed = {group: set(names) for group, names in shut}
    there_are = {(name, number): at for name, number, at in brokers}
    by_pop = Group.objects.filter(cluster=row, popped_by__isnull=False).values_list("name", "popped_by")
    popped = {group: {name: tuple(topics) for name, topics in (told or {}).items()} for group, told in by_pop}
    groups = frozenset(Group.objects.filter(cluster=row, gone_at=None).values_list("name", flat=True))
    return Known(at=told, brokers=there_are, members=members, groups=groups, closed=closed, popped=popped)


def stored_until(cluster: Cluster) -> int:
    """Say until when watchers stored facts of a cluster, by their own clocks, in ms; 0 is never."""
    return Watch.objects.filter(cluster=cluster).values_list("at", flat=True).first() or 0


class Writer:
    """Stores facts in their order, in bulk, in a thread of its own.

    Args:
        cluster: the name under which it was added.
        epoch: of the watcher's lease.
        in_thread: runs a function in the writer's thread.
        now: what time it is, in ms.
    """

    def __init__(self, *, cluster: str, epoch: int, in_thread: InThread[int], now: Callable[[], int]) -> None:
        self._cluster, self._epoch, self._in_thread, self._now = cluster, epoch, in_thread, now
        self._queue: asyncio.Queue[list[Fact]] = asyncio.Queue(MOST_BATCHES)
        self._taken_at: deque[int] = deque()  # of each batch that is not stored yet, oldest first

    @property
    def is_idle(self) -> bool:
        """Whether everything that was taken is stored."""
        return not self._taken_at

    def stored_until(self, at: int) -> int:
        """Say until when everything that was taken is stored, up to an instant: what is shown is of no later time."""
        return min(at, self._taken_at[0]) if self._taken_at else at

    @property
    def queued(self) -> int:
        """How many batches wait."""
        return self._queue.qsize()

    async def put(self, facts: list[Fact]) -> None:
        """Take facts; waits while too many wait already."""
        await self._queue.put(facts)
        self._taken_at.append(self._now())

    async def run(self) -> None:
        """Store what comes, until it is cancelled.

        Raises:
            LeaseLost: another watcher has the cluster.
        """
        while True:
            await self._store_next()

    async def drain(self) -> None:
        """Store what waits still."""
        while not self._queue.empty():
            await self._store_next()

    async def _store_next(self) -> None:
        batches = [await self._queue.get()]
        while sum(map(len, batches)) < MOST_FACTS and not self._queue.empty():
            batches.append(self._queue.get_nowait())
        await self._store([fact for batch in batches for fact in batch])
        for _batch in batches:
            self._taken_at.popleft()

    async def _store(self, facts: list[Fact]) -> None:
        """Store a batch; a database that does not answer is tried again, so that no fact is lost.

        What it refuses is tried once more, since another process may have written the same row first.
        """
        pause_s, is_refused = RETRY_S[0], False
        while True:
            try:
                await self._in_thread(lambda: self._record(facts))
            except DatabaseError as error:
                if is_refused and _refuses(error):
                    await self._store_each(facts, error)
                    break
                is_refused = is_refused or _refuses(error)
                logger.warning("%d facts cannot be stored, trying again in %.1f s: %s", len(facts), pause_s, error)
                await asyncio.sleep(pause_s)
                pause_s = min(2 * pause_s, RETRY_S[1])
            except (EventLogError, ValueError, OverflowError) as error:
                await self._store_each(facts, error)
                break
            else:
                break

    async def _store_each(self, facts: list[Fact], error: Exception) -> None:
        """One of these facts cannot be stored: leave that one out."""
        if len(facts) == 1:
            logger.error("a fact cannot be stored, and is left out: %s; %r", error, facts[0])
            return
        middle = len(facts) // 2
        await self._store(facts[:middle])
        await self._store(facts[middle:])

    def _record(self, facts: list[Fact]) -> int:
        return record(cluster=self._cluster, facts=facts, now=self._now(), lease_epoch=self._epoch).facts


def _refuses(error: DatabaseError) -> bool:
    """Ask whether a database refuses what it was given, so that waiting does not help."""
    code = getattr(error.__cause__, "sqlstate", None) or ""
    return isinstance(error, DataError | IntegrityError) or code.startswith(TOO_MUCH)


__all__ = ["MOST_BATCHES", "LeaseLost", "Writer", "known_of", "stored_until"]
