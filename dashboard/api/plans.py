"""Dry runs, and by-config assignments: their versions, and keeping a new one."""

from __future__ import annotations

import json

from django.http import Http404, HttpRequest, HttpResponse
from ninja import Query, Schema, Status
from pydantic import Field

from dashboard.api.errors import Problem
from dashboard.api.lists import Form, page_read
from dashboard.api.shapes import Instant, Page, Paging, Text
from dashboard.api.site import does, reads
from dashboard.common.clock import now_ms
from dashboard.common.tables import attached
from dashboard.groups.models import Group
from dashboard.groups.views import access_in, find_group
from dashboard.people.roles import Role
from dashboard.plans import answers, assignments
from dashboard.plans.assignments import LONGEST, BadAssignment
from dashboard.plans.checks import Check, check
from dashboard.plans.earlier import earlier_of
from dashboard.plans.models import ByConfig
from dashboard.plans.operations import LONGEST_REASON, Conflict, Draft, NoReason, Unchecked, publish
from dashboard.plans.parameters import read_params
from dashboard.plans.queries import assignment_of, expected_pause, former_members, latest, read_group, version
from dashboard.plans.questions import BadQuestion, read_question
from dashboard.plans.trying import try_out


class DryRunAsked(Schema):
    """What would be otherwise; each may be there several times. ``docs/plans.md`` has examples."""

    add: list[str] = []
    remove: list[str] = []
    rename: list[str] = []
    queues: list[str] = []
    broker: list[str] = []
    strategy: str = ""
    params: str = ""
    format: str = Field(default="json", pattern="^(json|csv)$")


class CheckOut(Schema):
    """One thing that was looked at. Whoever keeps a risky version names its ``key``."""

    kind: str
    grade: str
    words: Text
    subjects: list[Text]
    more: int
    key: str


class VersionOut(Schema):
    """One version of a by-config assignment; the latest one holds."""

    version: int
    at: Instant
    author: Text
    reason: Text
    clients: int
    queues: int
    acknowledged: list[Text]


class ByConfigOut(VersionOut):
    """One version, whole: each client's queues as ``topic/broker/first-last``, and its checks as of now."""

    assignment: dict[Text, list[Text]]
    checks: list[CheckOut]


class ByConfigAsked(Schema):
    """Which version; without one the latest."""

    version: int | None = Field(default=None, ge=1)


class DraftIn(Schema):
    """A version to be kept. ``base`` is the version that it was made from, 0: there was none."""

    assignment: dict[str, list[str]]
    base: int = Field(ge=0)
    reason: str = Field(max_length=10 * LONGEST_REASON)
    acknowledged: list[str] = Field(default=[], max_length=100)


@reads("/groups/{int:pk}/plan", name="api plan", answer=dict[str, object], is_table=True, is_trial=True)
def plan(request: HttpRequest, pk: int, asked: Query[DryRunAsked]) -> dict[str, object] | HttpResponse:
    """Try out what would be; nothing is written. The answer is that of ``manage.py whatif`` and of the page."""
    found = find_group(request, pk)
    values = asked.model_dump(exclude={"format"})
    try:
        question = read_question(lambda name: [values[name]] if isinstance(values[name], str) else values[name])
        view, known = read_group(group=found)
        trial = try_out(view, question, known, params=read_params(question.params))
    except BadQuestion as bad:
        raise Problem(422, str(bad), problems=list(bad.problems)) from bad
    if asked.format == "csv":
        return attached(answers.moves_csv(trial), f"dry-run-{found.name}")
    return answers.describe(
        trial,
        cluster=found.cluster.name,
        at=now_ms(),
        expected=expected_pause(group=found),
        earlier=earlier_of(group=found),
    )


@reads("/groups/{int:pk}/by-config", name="api by config", answer=ByConfigOut)
def by_config(request: HttpRequest, pk: int, asked: Query[ByConfigAsked]) -> ByConfigOut:
    """Give a version of what the members were told by hand, with its checks."""
    found = find_group(request, pk)
    row = latest(group=pk) if asked.version is None else version(group=pk, number=asked.version)
    if row is None:
        raise Http404("nobody has said yet what the members of this group are to have, or not in this version")
    return _whole(found, row)


@reads("/groups/{int:pk}/by-config/versions", name="api by config versions", answer=Page[VersionOut], is_table=True)
def by_config_versions(request: HttpRequest, pk: int, asked: Query[Paging]) -> Page[VersionOut] | HttpResponse:
    """List the versions, newest first."""
    found = find_group(request, pk)
    rows = ByConfig.objects.filter(group=found).order_by("-version").defer("document")
    return page_read(rows, _version, asked, now_ms(), Form(VersionOut, f"by-config-{found.name}"))


@does(Role.ADMIN, "/groups/{int:pk}/by-config/versions", name="api by config versions", status=201, answer=ByConfigOut)
def keep_by_config(request: HttpRequest, pk: int, draft: DraftIn) -> Status[ByConfigOut]:
    """Keep a new version. 409: another one came in between, ``latest`` is its number; 422: a check is not fine."""
    found, access = find_group(request, pk), access_in(request)
    if not access.may(Role.ADMIN, cluster=found.cluster.name, group=found.name):
        raise Problem(403, "this needs the role admin for this group")
    try:
        assignment = assignments.read(_document(draft))
        kept = publish(
            group=found,
            draft=Draft(assignment=assignment, base=draft.base, reason=draft.reason, acknowledged=draft.acknowledged),
            author=access.name,
            now=now_ms(),
        )
    except BadAssignment as bad:
        raise Problem(422, str(bad), problems=list(bad.problems)) from bad
    except Conflict as conflict:
        newest = conflict.latest.version if conflict.latest else None
        raise Problem(409, f"{conflict}; this was made from version {draft.base}", latest=newest) from conflict
    except Unchecked as unchecked:
        checks = [_check(each).model_dump() for each in unchecked.checks]
        raise Problem(422, str(unchecked), checks=checks) from unchecked
    except NoReason as missing:
        raise Problem(422, str(missing)) from missing
    return Status(201, _whole(found, kept))


def _document(draft: DraftIn) -> str:
    text = json.dumps(draft.assignment, ensure_ascii=False, separators=(",", ":"))
    if len(text) > LONGEST:
        raise Problem(422, f"the assignment has {len(text):,} characters; at most {LONGEST:,} are read")
    return text


def _version(row: ByConfig) -> VersionOut:
    return VersionOut(
        version=row.version,
        at=row.at,
        author=row.author,
        reason=row.reason,
        clients=row.client_count,
        queues=row.queue_count,
        acknowledged=row.acknowledged.splitlines(),
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
