"""The one place of the pages that reads the clock; everything below takes instants as arguments.

It is the wall clock: it may be set back. What must not go back counts by another one (``network/watcher/clock.py``).
"""

from __future__ import annotations

import time


def now_ms() -> int:
    """Give the time, UTC epoch milliseconds."""
    return time.time_ns() // 1_000_000
