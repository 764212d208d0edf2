"""What is read for the page of the audit log."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from django.db.models import QuerySet

from dashboard.audit.models import AuditEntry
from dashboard.groups.receipts import groups_of
from dashboard.people.roles import Access

A_PAGE = 100
LONGEST = 200
LARGEST_KEY = 2**63
DAY = timedelta(days=1)


@dataclass(frozen=True, slots=True)
class Filter:
    """What somebody looks for; empty is everything. Days are UTC, both included."""

    person: str = ""
    action: str = ""
    object: str = ""
    since: str = ""
    until: str = ""
    problem: str = ""

    def rows(self) -> QuerySet[AuditEntry]:
        """Give the entries that fit, the newest first."""
        rows = AuditEntry.objects.order_by("-number")
        if self.person:
            rows = rows.filter(author__icontains=self.person)
        if self.action:
            rows = rows.filter(verb=self.action)
        if self.object:
            rows = rows.filter(subject__icontains=self.object)
        if self.since:
            rows = rows.filter(at__gte=_ms(_day(self.since)))
        if self.until:
            rows = rows.filter(at__lt=_ms(_day(self.until) + DAY))
        return rows


@dataclass(frozen=True, slots=True)
class Receipt:
    """Where the receipt of an order stands: the keys of its group and of the order."""

    group: int
    order: int


@dataclass(frozen=True, slots=True)
class Page:
    """One page of entries, each with its detail as pairs, and where its receipt stands if it is an order of a group."""

    rows: list[tuple[AuditEntry, list[tuple[str, object]], Receipt | None]]
    number: int
    pages: int
    count: int


def may_read(access: Access) -> bool:
    """Ask whether somebody may read the log: it is about every cluster and group."""
    return access.is_admin_of_everything()


def read_filter(given: Mapping[str, str]) -> Filter:
    """Read a filter out of an address; a day that is none is left out, and named."""
    words = {name: given.get(name, "").replace("\0", "").strip()[:LONGEST] for name in ("person", "action", "object")}
    days, wrong = {}, []
    for name in ("since", "until"):
        text = given.get(name, "").strip()
        try:
            days[name] = "" if not text else _day(text).date().isoformat()
        except ValueError:
            days[name] = ""
            wrong.append(text[:40])
    return Filter(**words, **days, problem=", ".join(wrong))


def page_of(*, wanted: Filter, number: int) -> Page:
    """Give a page of the entries that fit; one that is not there is the nearest."""
    rows = wanted.rows()
    count = rows.count()
    pages = max(1, -(-count // A_PAGE))
    number = min(max(number, 1), pages)
    found = list(rows[(number - 1) * A_PAGE : number * A_PAGE])
    receipts = receipts_of(found)
    return Page([(row, pairs_of(row.detail), receipts.get(row.number)) for row in found], number, pages, count)


def receipts_of(rows: Sequence[AuditEntry]) -> dict[int, Receipt]:
    """Give where the receipts of entries stand, by the number of the entry; what is no order of a group has none."""
    orders = {row.number: order for row in rows if (order := _order_of(row)) is not None}
    known = groups_of(commands=orders.values())
    verbs = {row.number: row.verb for row in rows}
    return {
        number: Receipt(known[order][0], order)
        for number, order in orders.items()
        if order in known and known[order][1] == verbs[number]
    }


def actions() -> list[str]:
    """Give all actions that the log has."""
    return sorted(set(AuditEntry.objects.values_list("verb", flat=True).distinct()))


def pairs_of(detail: str) -> list[tuple[str, object]]:
    """Give an entry's detail as pairs, without what is empty; one that was tampered with need not be JSON."""
    try:
        values = json.loads(detail)
    except ValueError:
        return [("", detail)]
    if not isinstance(values, dict):
        return [("", detail)]
    return [(name, value) for name, value in values.items() if value not in ("", None, {}, [])]


def _order_of(row: AuditEntry) -> int | None:
    try:
        values = json.loads(row.detail)
    except ValueError:
        return None
    order = values.get("command") if isinstance(values, dict) else None
    return order if type(order) is int and 0 < order < LARGEST_KEY else None


def _day(text: str) -> datetime:
    day = datetime.strptime(text, "%Y-%m-%d").replace(tzinfo=UTC)
    if not 1970 <= day.year < 9999:
        raise ValueError(f"{text} is no day of the log")
    return day


def _ms(day: datetime) -> int:
    return int(day.timestamp() * 1000)
