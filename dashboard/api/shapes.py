r"""What all answers of the API are made of. Null is never 0; what it means in each field ``nulls`` says.

Instants are UTC epoch ms, durations ms, as everywhere. A name may be any text; half of a surrogate pair, which JSON has
no safe way to write, comes as ``\udXXX``.
"""

from __future__ import annotations

import re
from typing import Annotated, Generic, Literal, TypeVar

from ninja import Schema
from pydantic import BeforeValidator, ConfigDict, Field

T = TypeVar("T")
LARGEST_PAGE = 1_000
LARGEST_TABLE = 200_000  # rows that come as one answer
_LONE = re.compile(r"[\ud800-\udfff]")


def representable(text: object) -> object:
    """Write what UTF-8 cannot have; what was written so stays as it is."""
    return _LONE.sub(lambda found: f"\\u{ord(found[0]):04x}", text) if isinstance(text, str) else text


Text = Annotated[str, BeforeValidator(representable)]
Instant = Annotated[int, Field(description="UTC epoch ms")]
Unknown = Annotated[dict[str, Text], Field(description="why a figure of this object is null, by its name")]


class Refusal(Schema):
    """Why it was not done: what was seen, and what is needed."""

    problem: Text


class Bounds(Schema):
    """A duration in ms, at least and at most; both the same is exact, null is unknown on that side."""

    low: int | None
    high: int | None


class When(Schema):
    """An instant and what is known of it: within ``low`` and ``high``; both the same as ``at`` is exact."""

    at: Instant | None
    low: Instant | None
    high: Instant | None


class Body(Schema):
    """What somebody sends to have something done: a field that there is not is a mistake, and nothing is done.

    A value of another type is one as well: ``true`` is no 1, and ``"1"`` is a text.
    """

    model_config = ConfigDict(extra="forbid", strict=True)


class Paging(Schema):
    """Which part of a list: ``page`` from 1, ``size`` rows each. With ``format=all`` or ``csv`` it is all of it."""

    page: int = Field(default=1, ge=1, le=1_000_000)
    size: int = Field(default=100, ge=1, le=LARGEST_PAGE)
    format: Literal["json", "csv", "all"] = "json"

    @property
    def span(self) -> slice:
        """Which rows; all that one answer can have, where all are asked for."""
        if self.format != "json":
            return slice(0, LARGEST_TABLE)
        return slice((self.page - 1) * self.size, self.page * self.size)


SINCE = "UTC epoch ms; null, as without it: from a day before its end"
UNTIL = "UTC epoch ms; null, as without it: until now"


def in_order(since: int | None, until: int | None) -> None:
    """Ask that a time begins before it ends.

    Raises:
        ValueError: it does not.
    """
    if since is not None and until is not None and since > until:
        raise ValueError(f"since is {since}, after until, {until}; needed is a since that is not after until")


class Page(Schema, Generic[T]):
    """One page of a list; ``count`` is of the whole list."""

    at: Instant
    count: int
    page: int
    pages: int
    rows: list[T]
