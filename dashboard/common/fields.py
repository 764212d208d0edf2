"""Columns that many tables share: instants, sources and exactness of what was learned from outside.

Every instant is UTC epoch milliseconds in a bigint, as in the facts, on the wire and in the event log.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from enum import Enum
from typing import TypeVar

from django.db import models
from django.db.models import F, Q

from rebalance_engine.events import Bound, Fact, Origin

UNSTORABLE = re.compile("[\x00\ud800-\udfff]")
WRITTEN_OUT = re.compile(r"\\u(0000|d[89a-f][0-9a-f]{2})")
MAX_AT = 253_402_300_799_999  # the last ms of the year 9999, as facts have it
MOST_OFFSET = 2**48  # no disk holds such a queue; what 32,000 of them come to fits a column


_Set_contra = TypeVar("_Set_contra", contravariant=True)
_Get_co = TypeVar("_Get_co", covariant=True)


class AtField(models.BigIntegerField[_Set_contra, _Get_co]):
    """An instant: UTC epoch milliseconds."""


def choices_of(kind: type[Enum]) -> list[tuple[str, str]]:
    """Give an enum's words as Django's choices."""
    return [(member.value, member.value) for member in kind]


def one_of(field: str, kind: type[Enum], name: str) -> models.CheckConstraint:
    """Let a column hold the enum's words and nothing else; NULL passes where the column allows it."""
    return models.CheckConstraint(condition=Q(**{f"{field}__in": [member.value for member in kind]}), name=name)


def instant(field: str, name: str) -> models.CheckConstraint:
    """Let a column hold instants only: micro- and nanoseconds lie above, negative ones below."""
    return models.CheckConstraint(condition=Q(**{f"{field}__range": (0, MAX_AT)}), name=name)


def instants(fields: Iterable[str], name: str) -> models.CheckConstraint:
    """Let each of several columns hold instants only, or NULL."""
    return models.CheckConstraint(condition=_each(fields, "range", (0, MAX_AT)), name=name)


def not_negative(fields: Iterable[str], name: str) -> models.CheckConstraint:
    """Let each of several columns hold nothing below 0, or NULL."""
    return models.CheckConstraint(condition=_each(fields, "gte", 0), name=name)


def _each(fields: Iterable[str], lookup: str, value: object) -> Q:
    """Put one condition of several columns together; the database lets NULL pass each."""
    return Q(*(Q(**{f"{field}__{lookup}": value}) for field in fields))


def not_empty(field: str, name: str) -> models.CheckConstraint:
    """Refuse the empty text."""
    return models.CheckConstraint(condition=~Q(**{field: ""}), name=name)


def in_order(first: str, second: str, name: str) -> models.CheckConstraint:
    """Let ``second`` be NULL or not before ``first``."""
    return models.CheckConstraint(
        condition=Q(**{f"{second}__isnull": True}) | Q(**{f"{second}__gte": F(first)}), name=name
    )


class Sourced(models.Model):
    """Columns of every row that was learned from outside: no fact without its source.

    ``at`` is when it happened, within ``at_low`` and ``at_high``; both equal ``at`` where it is exact.
    ``observed_at`` is when it was looked at, ``detail`` finds the proof again.
    """

    at = AtField()
    at_low = AtField(null=True, blank=True)
    at_high = AtField(null=True, blank=True)
    origin = models.CharField(max_length=16, choices=choices_of(Origin))
    observed_at = AtField()
    observed_by = models.TextField(blank=True, default="")
    detail = models.TextField(blank=True, default="")

    class Meta:
        """No table of its own."""

        abstract = True


def sourced_constraints(table: str) -> list[models.BaseConstraint]:
    """Give what must hold of the columns of ``Sourced``."""
    inside = (Q(at_low__isnull=True) | Q(at_low__lte=F("at"))) & (Q(at_high__isnull=True) | Q(at_high__gte=F("at")))
    return [
        instant("at", f"{table}_at_is_an_instant"),
        instant("observed_at", f"{table}_observed_at_is_an_instant"),
        one_of("origin", Origin, f"{table}_origin_is_known"),
        models.CheckConstraint(condition=inside, name=f"{table}_at_is_within_its_bounds"),
    ]


def observed_at(fact: Fact) -> int:
    """Tell when somebody looked: what decides which of two facts is newer."""
    return fact.at if fact.source.observed_at is None else fact.source.observed_at


def source_columns(fact: Fact) -> dict[str, int | str | bytes | None]:
    """Give the columns of ``Sourced`` for a fact. A bound that is no instant bounds nothing."""
    source, exactness = fact.source, fact.exactness
    of_time = fact.FIGURE == "at"
    exact = not of_time or exactness.bound is Bound.EXACT
    return {
        "at": fact.at,
        "at_low": fact.at if exact else _instant(exactness.low),
        "at_high": fact.at if exact else _instant(exactness.high),
        "origin": source.origin.value,
        "observed_at": observed_at(fact),
        "observed_by": printable(source.client or source.broker or source.address or ""),
        "detail": printable(source.detail or ""),
    }


def _instant(bound: int | None) -> int | None:
    return bound if bound is not None and 0 <= bound <= MAX_AT else None


def printable(text: str) -> str:
    r"""Make a text for people storable: what no database takes is written as names have it, ``\uXXXX``."""
    return UNSTORABLE.sub(lambda found: f"\\u{ord(found[0]):04x}", text)


def as_it_was(text: str) -> str:
    """Read what :func:`printable` wrote: only for who writes it out at once, so that nobody can pose as another."""
    return WRITTEN_OUT.sub(lambda found: chr(int(found[1], 16)), text) if "\\u" in text else text
