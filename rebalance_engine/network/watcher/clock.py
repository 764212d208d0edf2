"""The time of a watcher: the wall clock's, which the pages and reports count by too, but it never goes back.

What is newer decides what is true, and every fact of a cluster is compared with what is stored of it. So a wall clock
that is set back (by NTP, or as a virtual machine resumes) must not let what is seen then look older than what was seen
before: joins and leaves would be dropped for good. To state everything anew would not do: what left in between is only
known by its absence, and reports, rounds and holdings keep their times.

Set ahead, or on after a sleep in which no monotone clock counted, it is followed at once: then everything is old.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

SLOWER = 0.9  # as quick as the monotone clock, while it is ahead: so the wall clock comes up, and spans stay about true


class WatcherClock:
    """Epoch milliseconds that never become less; for all threads of a process.

    Args:
        wall: seconds since 1970, by a clock that may be set.
        monotone: seconds by one that may not.
    """

    def __init__(
        self, *, wall: Callable[[], float] = time.time, monotone: Callable[[], float] = time.monotonic
    ) -> None:
        self._wall, self._monotone = wall, monotone
        self._told, self._told_at = 0.0, monotone()
        self._lock = threading.Lock()

    def now(self) -> int:
        """Say what time it is, in ms."""
        with self._lock:
            return int(self._count() * 1000)

    def keep_after(self, at: int) -> int:
        """Let it be later than ``at``, in ms, from here on: a lease begins after all that is stored by those before.

        Returns:
            how far it is ahead of the wall clock by that, in ms; 0 is the rule.
        """
        with self._lock:
            self._told = max(self._count(), (at + 1) / 1000)
            return max(0, round((self._told - self._wall()) * 1000))

    def _count(self) -> float:
        wall, monotone = self._wall(), self._monotone()
        slow = self._told + SLOWER * (monotone - self._told_at)
        self._told, self._told_at = max(wall, slow), monotone
        return self._told
