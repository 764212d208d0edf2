"""The one place of the pages that reads the clock; everything below takes instants as arguments."""

from __future__ import annotations

import time


def now_ms() -> int:
    """Give the time, UTC epoch milliseconds."""
    return time.time_ns() // 1_000_000
