"""Names from outside in a database: any text that a client may call itself, within an index row.

PostgreSQL refuses NUL, both databases lone surrogates, and an index entry there ends at 2,704 bytes. Names are
therefore escaped on the way in and back on the way out; a name above 600 characters is cut and carries its own
digest, so that two of them stay two.
"""

from __future__ import annotations

import hashlib
import re
from typing import TypeVar

from django.db import models
from django.db.backends.base.base import BaseDatabaseWrapper

LONGEST = 600  # characters; four bytes each at most, and an escape takes six for one
_UNSTORABLE = re.compile(r"\\(?=u)|[\x00\ud800-\udfff]")
_ESCAPED = re.compile(r"\\u([0-9a-f]{4})")


_Set_contra = TypeVar("_Set_contra", contravariant=True)
_Get_co = TypeVar("_Get_co", covariant=True)


def known_as(name: str) -> str:
    """Give the name under which everything here knows a client, group, topic or broker: nearly always its own."""
    if len(name) <= LONGEST and len(escape(name).encode()) <= 4 * LONGEST:
        return name
    digest = hashlib.sha256(name.encode("utf-8", "surrogatepass")).hexdigest()
    return f"{name[: LONGEST // 2 - 70]}…{digest}"


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
