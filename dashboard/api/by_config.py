"""By-config assignments: their versions, keeping a new one, checking one without keeping it, and taking one away."""

from __future__ import annotations

import json
from typing import Literal

from django.http import Http404, HttpRequest, HttpResponse
from ninja import Query, Schema, Status
from pydantic import Field

from dashboard.api.errors import Problem
from dashboard.api.lists import Form, page_read
from dashboard.api.shapes import Body, Instant, Page, Paging, Text
from dashboard.api.site import does, reads
from dashboard.common.clock import now_ms
from dashboard.groups.models import Group
from dashboard.groups.risks import read_risks
from dashboard.groups.views import access_in, find_group
from dashboard.people.roles import Role
from dashboard.plans import assignments, exporting
from dashboard.plans.assignments import LONGEST, BadAssignment
from dashboard.plans.checks import Check, check, refusals, to_acknowledge
from dashboard.plans.models import ByConfig
from dashboard.plans.operations import LONGEST_REASON, Conflict, Draft, NoReason, Unchanged, Unchecked, publish
from dashboard.plans.queries import assignment_of, former_members, latest, read_group, version


class CheckOut(Schema):
    """One thing that was looked at. Whoever keeps a risky version names its ``key``."""

    kind: str
    grade: str
    words: Text
    subjects: list[Text]
    more: int
    key: str


class AcknowledgedOut(Schema):
    """A risk that the author of a version said to have read: its ``kind``, and the first of ``count`` subjects.

    ``kind`` empty: a version from before, of which the sentence alone is known.
    """

    kind: str
    key: str
    words: Text
    count: int
    subjects: list[Text]


class VersionOut(Schema):
    """One version of a by-config assignment; the latest one holds."""

    version: int
    at: Instant
    author: Text
    reason: Text
    clients: int
    queues: int
    acknowledged: list[AcknowledgedOut]


class ByConfigOut(VersionOut):
    """One version, whole: each client's queues as ``topic/broker/first-last``, and its checks as of now."""

    assignment: dict[Text, list[Text]]
    checks: list[CheckOut]


class ByConfigAsked(Schema):
    """Which version; without one the latest."""

    version: int | None = Field(default=None, ge=1)


class ExportAsked(ByConfigAsked):
    """Which version, and how: each queue by itself as JSON, or a class that gives stock members their lists."""

    as_: Literal["json", "java"] = Field(default="json", alias="as")


class CheckIn(Body):
    """What is to be checked, as it would be kept."""

    assignment: dict[str, list[str]]


class CheckedOut(Schema):
    """What the checks say of an assignment that was not kept.

    ``base`` is the version that it would follow, 0: there is none. ``to_acknowledge`` are the keys that whoever keeps
    it names; where ``is_refused`` something is wrong, and it cannot be kept.
    """

    at: Instant
    base: int
    is_refused: bool
    to_acknowledge: list[str]
    checks: list[CheckOut]


class DraftIn(Body):
    """A version to be kept. ``base`` is the version that it was made from, 0: there was none."""

    assignment: dict[str, list[str]]
    base: int = Field(ge=0)
    reason: str = Field(max_length=10 * LONGEST_REASON)
    acknowledged: list[str] = Field(default=[], max_length=100)


@reads("/groups/{int:pk}/by-config", name="api by config", answer=ByConfigOut)
def by_config(request: HttpRequest, pk: int, asked: Query[ByConfigAsked]) -> ByConfigOut:
    """Give a version of what the members were told by hand, with its checks."""
    found = find_group(request, pk)
    return _whole(found, _find(pk, asked.version))


@reads("/groups/{int:pk}/by-config/versions", name="api by config versions", answer=Page[VersionOut], is_table=True)
def by_config_versions(request: HttpRequest, pk: int, asked: Query[Paging]) -> Page[VersionOut] | HttpResponse:
    """List the versions, newest first."""
    found = find_group(request, pk)
    rows = ByConfig.objects.filter(group=found).order_by("-version").defer("document")
    return page_read(rows, _version, asked, now_ms(), _form(found))


@reads("/groups/{int:pk}/by-config/export", name="api by config export", answer=dict[str, object], also="text/x-java")
def by_config_export(request: HttpRequest, pk: int, asked: Query[ExportAsked]) -> HttpResponse:
    """Give a version as a file: ``as=json``, each queue by itself, or ``as=java``, for stock members."""
    found = find_group(request, pk)
    row = _find(pk, asked.version)
    return exporting.as_java(found, row) if asked.as_ == "java" else exporting.as_json(found, row)


@does(Role.ADMIN, "/groups/{int:pk}/by-config/checks", name="api by config checks", status=200, answer=CheckedOut)
def check_by_config(request: HttpRequest, pk: int, asked: CheckIn) -> CheckedOut:
    """Check an assignment as of now, without keeping it."""
    found = _find_to_edit(request, pk)
    try:
        assignment = assignments.read(_document(asked.assignment))
    except BadAssignment as bad:
        raise Problem(422, str(bad), problems=list(bad.problems)) from bad
    checks = check(assignment, read_group(group=found)[0], former_members(group=found))
    there = latest(group=pk)
    return CheckedOut(
        at=now_ms(),
        base=there.version if there else 0,
        is_refused=bool(refusals(checks)),
        to_acknowledge=[each.key for each in to_acknowledge(checks)],
        checks=[_check(each) for each in checks],
    )


@does(Role.ADMIN, "/groups/{int:pk}/by-config/versions", name="api by config versions", status=201, answer=ByConfigOut)
def keep_by_config(request: HttpRequest, pk: int, draft: DraftIn) -> Status[ByConfigOut]:
    """Keep a new version. 409: ``latest`` came in between, or says the same; 422: a check is not fine."""
    found = _find_to_edit(request, pk)
    try:
        assignment = assignments.read(_document(draft.assignment))
        kept = publish(
            group=found,
            draft=Draft(assignment=assignment, base=draft.base, reason=draft.reason, acknowledged=draft.acknowledged),
            author=access_in(request).name,
            now=now_ms(),
        )
    except BadAssignment as bad:
        raise Problem(422, str(bad), problems=list(bad.problems)) from bad
    except Conflict as conflict:
        newest = conflict.latest.version if conflict.latest else None
        raise Problem(409, f"{conflict}; this was made from version {draft.base}", latest=newest) from conflict
    except Unchanged as unchanged:
        raise Problem(409, str(unchanged), latest=unchanged.latest.version) from unchanged
    except Unchecked as unchecked:
        checks = [_check(each).model_dump() for each in unchecked.checks]
        raise Problem(422, str(unchecked), checks=checks) from unchecked
    except NoReason as missing:
        raise Problem(422, str(missing)) from missing
    return Status(201, _whole(found, kept))


def _find(group: int, number: int | None) -> ByConfig:
    """Give a version of a group's assignment, without a number the latest.

    Raises:
        Http404: there is none.
    """
    row = latest(group=group) if number is None else version(group=group, number=number)
    if row is None:
        raise Http404("nobody has said yet what the members of this group are to have, or not in this version")
    return row


def _find_to_edit(request: HttpRequest, pk: int) -> Group:
    """Give a group of which the caller is an admin.

    Raises:
        Problem: the caller sees it, and is none.
    """
    found = find_group(request, pk)
    if not access_in(request).may(Role.ADMIN, cluster=found.cluster.name, group=found.name):
        raise Problem(403, "this needs the role admin for this group")
    return found


def _document(assignment: dict[str, list[str]]) -> str:
    text = json.dumps(assignment, ensure_ascii=False, separators=(",", ":"))
    if len(text) > LONGEST:
        raise Problem(422, f"the assignment has {len(text):,} characters; at most {LONGEST:,} are read")
    return text


def _form(group: Group) -> Form[VersionOut]:
    names = ("version", "at", "author", "reason", "clients", "queues", "acknowledged")
    return Form(VersionOut, f"by-config-{group.name}", names, _fields)


def _fields(row: VersionOut) -> list[object]:
    """Give a version's columns; what was acknowledged as one text."""
    read = "; ".join(map(_sentence, row.acknowledged))
    return [row.version, row.at, row.author, row.reason, row.clients, row.queues, read]


def _sentence(each: AcknowledgedOut) -> str:
    """Say what was read, with the subjects that are kept, and how many more there were."""
    more = [f"{each.count - len(each.subjects)} more"] if each.count > len(each.subjects) > 0 else []
    return f"{each.words} ({', '.join([*each.subjects, *more])})" if each.subjects else each.words


def _version(row: ByConfig) -> VersionOut:
    return VersionOut(
        version=row.version,
        at=row.at,
        author=row.author,
        reason=row.reason,
        clients=row.client_count,
        queues=row.queue_count,
        acknowledged=[
            AcknowledgedOut(
                kind=each.kind, key=each.key, words=each.words, count=each.count, subjects=list(each.subjects)
            )
            for each in read_risks(row.acknowledged)
        ],
    )


def _whole(group: Group, row: ByConfig) -> ByConfigOut:
    assignment, (view, _known) = assignment_of(row), read_group(group=group)
    checks = check(assignment, view, former_members(group=group))
    return ByConfigOut(
        **_version(row).model_dump(),
        assignment=assignments.as_lists(assignment),
        checks=[_check(each) for each in checks],
    )


def _check(each: Check) -> CheckOut:
    return CheckOut(
        kind=each.kind,
        grade=each.grade.value,
        words=each.words,
        subjects=list(each.shown),
        more=each.more,
        key=each.key,
    )
