"""How many sockets this process has open, and what went wrong with them, as the database is told of it.

One task tells it: at once when something changes, and every ten seconds while there are sockets. What comes while it
tells goes along the next time, so that a thousand sockets that open together are a few statements. It ends with the
last.
"""

from __future__ import annotations

import asyncio
import logging
import os
import socket
from collections import Counter
from contextlib import suppress
from weakref import WeakKeyDictionary

from channels.db import database_sync_to_async
from django.db import DatabaseError

from dashboard.common.clock import now_ms
from dashboard.common.waiting import no_waiting
from dashboard.push import tallies
from dashboard.push.models import Server
from dashboard.push.tallies import Kind

logger = logging.getLogger(__name__)

EVERY_S = 10.0
SOON_MS = 2_000  # less than browsers wait for a beat that is late
WITHIN_S = 10.0
PROCESS = f"{socket.gethostname()}:{os.getpid()}"


class Serving:
    """The sockets of one event loop."""

    def __init__(self) -> None:
        self.sockets = 0
        self._counted: Counter[Kind] = Counter()
        self._news = asyncio.Event()
        self._task: asyncio.Task[None] | None = None

    def came(self) -> None:
        """Count a socket that opened."""
        self.sockets += 1
        self._tell()

    async def went(self) -> None:
        """Count a socket that closed; of the last one it is told before this returns."""
        self.sockets -= 1
        self._tell()
        if not self.sockets and self._task is not None:
            await asyncio.wait([self._task], timeout=WITHIN_S)

    def count(self, kind: Kind, by: int = 1) -> None:
        """Count something that went wrong."""
        if by:
            self._counted[kind] += by
            self._tell()

    def _tell(self) -> None:
        self._news.set()
        if self._task is None or self._task.done():
            self._task = asyncio.create_task(self._report(), name="figures of the live sockets")

    async def _report(self) -> None:
        """Tell what is new, for as long as there is a socket."""
        while True:
            self._news.clear()
            counted, self._counted = self._counted, Counter()
            try:
                await database_sync_to_async(_store)(self.sockets, counted)
            except DatabaseError as error:
                self._counted += counted
                logger.warning("how many sockets are open cannot be stored for the moment: %s", error)
            if not self.sockets and not self._news.is_set():
                return
            with suppress(TimeoutError):
                async with asyncio.timeout(EVERY_S):
                    await self._news.wait()


def _store(sockets: int, counted: Counter[Kind]) -> None:
    """Store it if that can be done soon: the words of all sockets wait for it, in the one thread that they share."""
    with no_waiting(sqlite_ms=SOON_MS):
        Server.objects.update_or_create(process=PROCESS, defaults={"at": now_ms(), "sockets": sockets})
        tallies.add(counted)


_servings: WeakKeyDictionary[asyncio.AbstractEventLoop, Serving] = WeakKeyDictionary()


def serving() -> Serving:
    """Give the one of the running event loop; a process that serves has one."""
    return _servings.setdefault(asyncio.get_running_loop(), Serving())
