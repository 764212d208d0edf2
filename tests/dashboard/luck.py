"""How many random stories a test tries."""

from __future__ import annotations

from django.db import connection
from hypothesis import HealthCheck, settings


def examples(number: int) -> int:
    """Give all of them on SQLite; on another database, where each takes longest and luck is the same, a quarter."""
    return number if connection.vendor == "sqlite" else max(2, number // 4)


def the_same_luck(number: int) -> settings:
    """Let a test try so many random stories, the same ones each time, however long one takes."""
    return settings(
        max_examples=examples(number),
        derandomize=True,
        database=None,
        deadline=None,
        suppress_health_check=[HealthCheck.function_scoped_fixture],
    )
