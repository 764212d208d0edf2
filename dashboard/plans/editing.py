"""By-config assignments: the page that shows one, the page on which admins edit, and what can be taken away."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods, require_safe

from dashboard.common.clock import now_ms
from dashboard.groups.models import Group
from dashboard.groups.risks import read_risks
from dashboard.groups.views import access_in, find_group
from dashboard.people.gate import needs
from dashboard.people.roles import Role
from dashboard.plans import assignments, exporting
from dashboard.plans.assignments import Assignment, BadAssignment
from dashboard.plans.checks import check, to_acknowledge
from dashboard.plans.given import SETTLED_MS, not_given
from dashboard.plans.models import ByConfig
from dashboard.plans.operations import LONGEST_REASON, Conflict, Draft, NoReason, Unchanged, Unchecked, publish
from dashboard.plans.picturing import Picture, picture
from dashboard.plans.queries import assignment_of, former_members, latest, read_group, version, versions
from dashboard.plans.questions import Question
from dashboard.plans.trying import COMPARED, Known, try_out
from rebalance_engine.group import GroupView
from rebalance_engine.ownership import Ownership
from rebalance_engine.tables import ClientTable, QueueTable

MOST_CELLS = 1_200
HELD = "held"
STARTS = (HELD, *COMPARED)


@require_safe
@needs(Role.VIEWER)
def by_config(request: HttpRequest, pk: int) -> HttpResponse:
    """Show what the members of a group were told: the latest version, or ``?version=``."""
    found = find_group(request, pk)
    shown = _shown(request, found)
    view, _known = read_group(group=found)
    assignment = {} if shown is None else assignment_of(shown)
    context = {
        "group": found,
        "shown": shown,
        "latest": latest(group=found.pk),
        "versions": versions(group=found.pk),
        "checks": [] if shown is None else check(assignment, view, former_members(group=found)),
        "acknowledged": [] if shown is None else [each.sentence for each in read_risks(shown.acknowledged)],
        "not_given": _not_given(shown, latest(group=found.pk), assignment, view),
        "uses": sorted(set(view.strategies.values())),
        "may_edit": _may_edit(request, found),
        "facts": {"picture": None if shown is None else _picture(view, assignment), "is_edited": False},
    }
    return render(request, "plans/by_config.html", context)


def _not_given(
    shown: ByConfig | None, there: ByConfig | None, assignment: Assignment, view: GroupView
) -> tuple[str, ...]:
    """Name the members that were not given the version that holds, once they had the time to take it."""
    if shown is None or there is None or shown.version != there.version or now_ms() - there.at < SETTLED_MS:
        return ()
    return not_given(assignment, view)


@require_http_methods(["GET", "POST"])
@needs(Role.ADMIN)
def edit(request: HttpRequest, pk: int) -> HttpResponse:
    """Edit a by-config assignment; ``?from=`` a version, ``held`` or a strategy. POST checks it, or keeps it."""
    found = find_group(request, pk)
    if not _may_edit(request, found):
        raise PermissionDenied(_("This needs the role admin for this group."))
    view, known = read_group(group=found)
    if request.method != "POST":
        there = latest(group=found.pk)
        start = _start(request, found, view, known, there)
        given = {"document": assignments.write(start), "base": str(there.version if there else 0)}
        return _form(request, found, view, given, Answered(start))
    return _posted(request, found, view)


@require_safe
@needs(Role.VIEWER)
def as_json(request: HttpRequest, pk: int) -> HttpResponse:
    """Give a version as JSON: each client's queues one by one, and which version it is."""
    found = find_group(request, pk)
    return exporting.as_json(found, _asked(request, found))


@require_safe
@needs(Role.VIEWER)
def as_java(request: HttpRequest, pk: int) -> HttpResponse:
    """Give a version as a Java class: an ``AllocateMessageQueueByConfig`` for each member."""
    found = find_group(request, pk)
    return exporting.as_java(found, _asked(request, found))


@dataclass(frozen=True, slots=True)
class Answered:
    """What became of what was posted: what the page says of it.

    Attributes:
        assignment: what the document says; None where it could not be read.
        conflict: the version that came in between.
    """

    assignment: Assignment | None
    problems: tuple[str, ...] = ()
    conflict: ByConfig | None = None
    status: int = 200


def _posted(request: HttpRequest, group: Group, view: GroupView) -> HttpResponse:
    """Check what was posted, or keep it."""
    given = {name: request.POST.get(name, "") for name in ("document", "base", "reason")}
    try:
        assignment = assignments.read(given["document"])
    except BadAssignment as bad:
        return _form(request, group, view, given, Answered(None, bad.problems, status=400))
    if request.POST.get("does") != "keep":
        return _form(request, group, view, given, Answered(assignment))
    return _kept(request, group, view, given, assignment)


def _kept(
    request: HttpRequest, group: Group, view: GroupView, given: dict[str, str], assignment: Assignment
) -> HttpResponse:
    """Keep what was posted, or say why not."""
    draft = Draft(
        assignment=assignment,
        base=_number(given["base"]),
        reason=given["reason"],
        acknowledged=request.POST.getlist("acknowledged"),
    )
    try:
        kept = publish(group=group, draft=draft, author=request.user.get_username(), now=now_ms())
    except Conflict as conflict:
        problems = tuple([] if conflict.latest else [_("There is no version yet: this was made from none.")])
        given["base"] = given["base"] if conflict.latest else "0"
        return _form(request, group, view, given, Answered(assignment, problems, conflict.latest, 409))
    except Unchanged as unchanged:
        words = _("Unchanged: version %(n)s says the same already. Nothing is kept.") % {"n": unchanged.latest.version}
        return _form(request, group, view, given, Answered(assignment, (words,), status=409))
    except Unchecked as unchecked:
        problems = tuple(_("Not kept: %(words)s.") % {"words": each.words} for each in unchecked.checks)
        return _form(request, group, view, given, Answered(assignment, problems, status=400))
    except NoReason:
        needed = _("Not kept: it needs a reason of 1 to %(n)s characters.") % {"n": LONGEST_REASON}
        return _form(request, group, view, given, Answered(assignment, (needed,), status=400))
    messages.success(request, _("Version %(n)s is kept.") % {"n": kept.version})
    return redirect("by config", pk=group.pk)


def _form(
    request: HttpRequest, group: Group, view: GroupView, given: Mapping[str, str], answered: Answered
) -> HttpResponse:
    """Render the page on which it is edited."""
    assignment = answered.assignment
    checks = [] if assignment is None else check(assignment, view, former_members(group=group))
    acknowledged = set(request.POST.getlist("acknowledged"))
    context = {
        "group": group,
        "given": given,
        "problems": answered.problems,
        "conflict": answered.conflict,
        "checks": checks,
        "risks": [(each, each.key in acknowledged) for each in to_acknowledge(checks)],
        "started": request.GET.get("from", ""),
        "starts": [(name, _start_words(name)) for name in STARTS],
        "versions": versions(group=group.pk)[:5],
        "longest_reason": LONGEST_REASON,
        "facts": {"picture": _picture(view, assignment or {}), "is_edited": True},
    }
    return render(request, "plans/by_config_edit.html", context, status=answered.status)


def _start(request: HttpRequest, group: Group, view: GroupView, known: Known, there: ByConfig | None) -> Assignment:
    """Give what editing begins with: what was asked for, otherwise the latest version, otherwise what is held."""
    asked = request.GET.get("from", "")
    if _number(asked) >= 0:
        return assignment_of(_version(group, asked))
    if asked in COMPARED:
        outcome = try_out(view, Question(strategy=asked), known).chosen.outcome
        return {} if outcome is None else _lists(outcome.target)
    if there is not None and asked != HELD:
        return assignment_of(there)
    return {} if view.held is None else _lists(view.held)


def _lists(ownership: Ownership) -> Assignment:
    return {client: tuple(queues) for client, queues in ownership.as_lists().items()}


def _picture(view: GroupView, assignment: Assignment) -> Picture | None:
    """Give the map: held now, and as the assignment has it; its queues and clients that nobody knows are in it."""
    named = {queue for queues in assignment.values() for queue in queues}
    table = QueueTable.of({*view.queues, *named})
    if len(table) > MOST_CELLS:
        return None
    clients = ClientTable.of({*view.clients.distinct, *assignment})
    target = Ownership.from_lists(table, clients, assignment)
    after = GroupView(group=view.group, queues=table, clients=clients, model=view.model)
    base = view.held if view.held is not None else Ownership.nobody(view.queues, view.clients)
    return picture(
        view, base, after, target, silent=view.silent, clients=(view.clients.distinct, view.clients.distinct)
    )


def _shown(request: HttpRequest, group: Group) -> ByConfig | None:
    """Give the version that is asked for; the latest where none is.

    Raises:
        Http404: there is no such version.
    """
    asked = request.GET.get("version", "")
    return _version(group, asked) if asked else latest(group=group.pk)


def _version(group: Group, asked: str) -> ByConfig:
    row = version(group=group.pk, number=_number(asked))
    if row is None:
        raise Http404(_("There is no such version."))
    return row


def _number(text: str) -> int:
    """Read a version's number; -1 is none."""
    return int(text) if text.isascii() and text.isdigit() and len(text) < 10 else -1


def _asked(request: HttpRequest, group: Group) -> ByConfig:
    row = _shown(request, group)
    if row is None:
        raise Http404(_("Nobody has said yet what the members of this group are to have."))
    return row


def _may_edit(request: HttpRequest, group: Group) -> bool:
    return access_in(request).may(Role.ADMIN, cluster=group.cluster.name, group=group.name)


def _start_words(name: str) -> str:
    return _("what is held now") if name == HELD else name
