"""The canary of a watched cluster, while it is on: a message to each broker every ten seconds, within the budget."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from functools import partial

from django.db import DatabaseError

from dashboard.clusters.models import Canary as CanaryRow
from dashboard.common.fields import printable
from dashboard.common.names import escape
from rebalance_engine.events import Fact
from rebalance_engine.network.canary import Canary, Heard
from rebalance_engine.network.watcher import Watcher

logger = logging.getLogger(__name__)

LOOK_EVERY_S = 2.0  # whether it is on
SEND_EVERY_S = 10.0
LONGEST_DETAIL = 500

InThread = Callable[[Callable[[], object]], Awaitable[object]]


@dataclass
class Keeper:
    """Looks whether the canary of a cluster is on, lets it send, and stores what is in its way.

    Args:
        put: takes what it states.
        in_thread: runs a function of Django.
        now: UTC epoch ms.
    """

    cluster: int
    watcher: Watcher
    put: Callable[[list[Fact]], Awaitable[None]]
    in_thread: InThread
    now: Callable[[], int]
    _since: int | None = field(init=False, default=None)  # when it was switched on, as far as it has sent since
    _next_at: float = field(init=False, default=0.0)

    async def run(self) -> None:
        """Keep it, until cancelled."""
        canary, loop = Canary(self.watcher.admin), asyncio.get_running_loop()
        while True:
            row = await self._read()
            is_new = row is not None and row.changed_at != self._since
            if row is not None and self.watcher.memory.masters and (is_new or loop.time() >= self._next_at):
                self._since, self._next_at = row.changed_at, loop.time() + SEND_EVERY_S
                await self._send(canary, row)
            await asyncio.sleep(LOOK_EVERY_S)

    async def _read(self) -> CanaryRow | None:
        try:
            row = await self.in_thread(lambda: CanaryRow.objects.filter(cluster_id=self.cluster, is_on=True).first())
        except DatabaseError as error:
            logger.warning("whether there is a canary cannot be read for the moment: %s", error)
            return None
        return row if isinstance(row, CanaryRow) else None

    async def _send(self, canary: Canary, row: CanaryRow) -> None:
        """Send to all brokers at the same time."""
        async with asyncio.TaskGroup() as tasks:
            asked = {
                broker: tasks.create_task(canary.send(broker, address, may_create=row.may_create))
                for broker, address in self.watcher.memory.masters.items()
            }
        heard = {broker: task.result() for broker, task in asked.items()}
        facts: list[Fact] = [each.latency for each in heard.values() if each.latency is not None]
        if facts:
            await self.put(facts)
        try:
            await self.in_thread(partial(note, row=row, heard=heard, now=self.now()))
        except DatabaseError as error:
            logger.warning("how the canary goes cannot be stored for the moment: %s", error)


def note(*, row: CanaryRow, heard: Mapping[str, Heard], now: int) -> None:
    """Store what is in the way of a canary, unless it was switched since."""
    troubles = {
        escape(broker): [each.trouble.value, printable(each.detail)[:LONGEST_DETAIL]]
        for broker, each in heard.items()
        if each.trouble is not None
    }
    there = CanaryRow.objects.filter(pk=row.pk, is_on=True, changed_at=row.changed_at)
    there.update(told_at=max(now, row.changed_at), troubles=troubles)
