"""How many random stories a test tries."""

from __future__ import annotations

from django.db import connection


def examples(number: int) -> int:
    """Give all of them on SQLite; on another database, where each takes longest and luck is the same, a quarter."""
    return number if connection.vendor == "sqlite" else max(2, number // 4)
