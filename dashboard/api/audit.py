"""The audit log: its entries, and whether it is still what was written. For admins of everything, as its page."""

from __future__ import annotations

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from ninja import Query, Schema
from pydantic import Field

from dashboard.api.errors import Problem
from dashboard.api.lists import Form, page_read
from dashboard.api.shapes import Instant, Page, Paging, Text
from dashboard.api.site import reads_as
from dashboard.audit.models import AuditEntry
from dashboard.audit.queries import verify
from dashboard.auditing import queries
from dashboard.common.clock import now_ms
from dashboard.common.tables import Escaped
from dashboard.groups.views import access_in
from dashboard.people.roles import Role


class EntryOut(Schema):
    """One thing that somebody did; ``detail`` is JSON, byte for byte as it was digested."""

    number: int
    at: Instant
    author: Text
    verb: Text
    subject: Text
    detail: Text
    previous: str
    digest: str


class VerdictOut(Schema):
    """What a verification found; ``noted`` is up to which entry the anchor tells, 0: none."""

    at: Instant
    is_whole: bool
    count: int
    digest: str
    noted: int
    troubles: list[Text]


class AuditAsked(Paging):
    """Which entries; days are UTC, both included."""

    person: str = Field(default="", max_length=queries.LONGEST)
    action: str = Field(default="", max_length=queries.LONGEST)
    object: str = Field(default="", max_length=queries.LONGEST)
    since: str = Field(default="", max_length=10)
    until: str = Field(default="", max_length=10)


def _fields(row: EntryOut) -> list[object]:
    """Give the columns of a row; its detail is JSON of ASCII alone already."""
    return [Escaped(value) if name == "detail" else value for name, value in row.model_dump().items()]


FORM = Form(EntryOut, "audit", tuple(EntryOut.model_fields), _fields)


@reads_as(Role.ADMIN, "/audit", name="api audit", answer=Page[EntryOut])
def audit(request: HttpRequest, asked: Query[AuditAsked]) -> Page[EntryOut] | HttpResponse:
    """List the entries, newest first."""
    _check(request)
    wanted = queries.read_filter(asked.model_dump(include={"person", "action", "object", "since", "until"}))
    if wanted.problem:
        raise Problem(422, f"{wanted.problem} is no day; needed is YYYY-MM-DD")
    return page_read(wanted.rows(), _entry, asked, now_ms(), FORM)


@reads_as(Role.ADMIN, "/audit/verdict", name="api audit verdict", answer=VerdictOut)
def verdict(request: HttpRequest) -> VerdictOut:
    """Go through the whole log, and say whether it is what was written."""
    _check(request)
    found = verify(path=settings.AUDIT_ANCHOR)
    return VerdictOut(
        at=now_ms(),
        is_whole=found.is_whole,
        count=found.count,
        digest=found.digest,
        noted=found.noted,
        troubles=list(found.troubles),
    )


def _check(request: HttpRequest) -> None:
    if not queries.may_read(access_in(request)):
        raise Problem(403, "the audit log is about every cluster and group: it is for admins of all of them")


def _entry(row: AuditEntry) -> EntryOut:
    return EntryOut(
        number=row.number,
        at=row.at,
        author=row.author,
        verb=row.verb,
        subject=row.subject,
        detail=row.detail,
        previous=row.previous,
        digest=row.digest,
    )
