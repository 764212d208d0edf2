"""Writes that are not worth waiting for, or not for long, and work that is done again where the database is away."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager

from django.db import OperationalError, connection, transaction

logger = logging.getLogger(__name__)

SOON_MS = 50
AWAY_IN_SQLITE = ("locked", "unable to open")  # its other operational errors may be faults of ours


@contextmanager
def no_waiting(*, sqlite_ms: int = 0) -> Iterator[None]:
    """Let what is written within fail where another holds a lock: in SQLite at once, in PostgreSQL after 50 ms.

    SQLite has one lock for all: ``sqlite_ms`` is for writes that ought to come through among ordinary ones.

    Raises:
        django.db.OperationalError: another holds it; what is around goes on.
    """
    if connection.vendor != "sqlite":
        with transaction.atomic(), connection.cursor() as cursor:
            cursor.execute(f"SET LOCAL lock_timeout = {SOON_MS}")
            yield
        return
    before = _busy_timeout()
    _set_busy_timeout(sqlite_ms)
    try:
        yield
    finally:
        _set_busy_timeout(before)


def _busy_timeout() -> int:
    with connection.cursor() as cursor:
        return int(cursor.execute("PRAGMA busy_timeout").fetchone()[0])


def _set_busy_timeout(ms: int) -> None:
    with connection.cursor() as cursor:
        cursor.execute(f"PRAGMA busy_timeout = {ms}")


def wait_at_most(seconds: float) -> None:
    """Let no write of this process wait longer for SQLite's lock; connections are made anew with what stands here."""
    if connection.vendor == "sqlite":
        connection.close()
        connection.settings_dict["OPTIONS"] = {**connection.settings_dict["OPTIONS"], "timeout": seconds}


@contextmanager
def later_if_away(what: str) -> Iterator[None]:
    """Let work that is done again anyway end where the database does not answer, or is locked for too long.

    Args:
        what: is done later, for the log.

    Raises:
        django.db.OperationalError: it is another one, as of a statement that SQLite does not take.
    """
    try:
        yield
    except OperationalError as error:
        if not is_away(error):
            raise
        logger.warning("%s is done later, the database does not answer: %s", what, " ".join(str(error).split()))


def is_away(error: OperationalError) -> bool:
    """Ask whether the same may go well later; SQLite has the same error for what never will."""
    return connection.vendor != "sqlite" or any(word in str(error) for word in AWAY_IN_SQLITE)
