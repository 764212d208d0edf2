"""Names from outside in a database: any text that a client may call itself, within an index row.

PostgreSQL refuses NUL, both databases lone surrogates, and an index entry there ends at 2,704 bytes. Names are
therefore escaped on the way in and back on the way out; a name above 400 characters, or 600 bytes as it is stored, is
cut and carries its own digest, so that two of them stay two. An index may have four of them.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable
from typing import TypeVar

from django.db import models
from django.db.backends.base.base import BaseDatabaseWrapper

from rebalance_engine.model import MessageQueue

LONGEST = 400  # characters
MOST_BYTES = 600  # as it is stored: four names in one index entry, and what else stands there
_BYTES_EACH = 6  # of a character at most, as an escape takes
_UNSTORABLE = re.compile(r"\\(?=u)|[\x00\ud800-\udfff]")
_ESCAPED = re.compile(r"\\u([0-9a-f]{4})")


_Set_contra = TypeVar("_Set_contra", contravariant=True)
_Get_co = TypeVar("_Get_co", covariant=True)


def known_as(name: str) -> str:
    """Give the name under which everything here knows a client, group, topic or broker: nearly always its own."""
    if fits(name):
        return name
    end = f"…{hashlib.sha256(name.encode('utf-8', 'surrogatepass')).hexdigest()}"
    begin = name[: LONGEST - len(end)]
    while _bytes(begin) + _bytes(end) > MOST_BYTES:
        begin = begin[:-1]
    return begin + end


def fits(name: str) -> bool:
    """Whether a name is kept as it is; a longer one is no client's, topic's or broker's here."""
    return len(name) * _BYTES_EACH <= MOST_BYTES or (len(name) <= LONGEST and _bytes(name) <= MOST_BYTES)


def _bytes(name: str) -> int:
    return len(escape(name).encode())


def known_queue(queue: MessageQueue) -> MessageQueue:
    """Give the queue with the names under which it is known here."""
    if fits(queue.topic) and fits(queue.broker):
        return queue
    return MessageQueue(known_as(queue.topic), known_as(queue.broker), queue.queue_id)


def escape(name: str) -> str:
    r"""Write what no database takes as ``\uXXXX``; :func:`unescape` reads it."""
    return _UNSTORABLE.sub(lambda found: f"\\u{ord(found[0]):04x}", name)


def unescape(stored: str) -> str:
    """Read a stored name."""
    return _ESCAPED.sub(lambda found: chr(int(found[1], 16)), stored) if "\\u" in stored else stored


class NameField(models.TextField[_Set_contra, _Get_co]):
    """Any text, escaped; not longer than an index takes if it went through :func:`known_as`."""

    def get_prep_value(self, value: object) -> object:
        """Escape on the way in."""
        return escape(value) if isinstance(value, str) else value

    def from_db_value(self, value: str | None, _expression: object, _connection: BaseDatabaseWrapper) -> str | None:
        """Unescape on the way out."""
        return None if value is None else unescape(value)


class NamesField(models.JSONField[_Set_contra, _Get_co]):
    """A list of names, each escaped: jsonb refuses NUL and lone surrogates as text does."""

    def get_db_prep_value(self, value: object, connection: BaseDatabaseWrapper, prepared: bool = False) -> object:
        """Escape on the way in."""
        if isinstance(value, Iterable) and not isinstance(value, str):
            value = [escape(str(name)) for name in value]
        return super().get_db_prep_value(value, connection, prepared)

    def from_db_value(
        self, value: str | None, expression: models.Expression, connection: BaseDatabaseWrapper
    ) -> list[str] | None:
        """Unescape on the way out."""
        names: list[str] | None = super().from_db_value(value, expression, connection)
        return None if names is None else [unescape(name) for name in names]
