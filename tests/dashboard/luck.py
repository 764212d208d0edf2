"""How many random stories a test tries."""

from __future__ import annotations

from django.conf import settings


def examples(number: int) -> int:
    """Give all of them on SQLite; on another database, where each takes longest and luck is the same, a quarter."""
    is_sqlite = settings.DATABASES["default"]["ENGINE"].endswith("sqlite3")
    return number if is_sqlite else max(2, number // 4)
