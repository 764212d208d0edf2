"""JSON lines on standard output: one object each, flushed, the way programs read what a command sees."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Mapping

from rebalance_engine.model import MessageQueue

Value = str | int | float | bool | None | list[str]


def say(saw: str, at: int | None = None, /, **what: Value) -> None:
    """Print what was seen, and when: ms since 1970, by default now."""
    put({"ms": time.time_ns() // 1_000_000 if at is None else at, "saw": saw, **what})


def put(line: Mapping[str, Value]) -> None:
    """Print one object."""
    sys.stdout.write(json.dumps(line, ensure_ascii=True, separators=(",", ":")) + "\n")
    sys.stdout.flush()


def queue_name(queue: MessageQueue) -> str:
    """Name a queue as ``topic/broker/id``."""
    return f"{queue.topic}/{queue.broker}/{queue.queue_id}"
