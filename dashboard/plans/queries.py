"""What is read for plans: a group as a dry run takes it, versions of by-config assignments."""

from __future__ import annotations

from dashboard.groups.kinds import POP
from dashboard.groups.models import Group, Member
from dashboard.groups.queries import look_plainly, target_of
from dashboard.groups.risks import read_risks
from dashboard.groups.told import Told
from dashboard.plans import assignments
from dashboard.plans.assignments import Assignment
from dashboard.plans.models import ByConfig
from dashboard.plans.trying import Known, Undivided
from dashboard.push.publish import state_in, stored_state
from rebalance_engine.group import GroupView

LEFT_OUT = frozenset({"without owner", "retry left out"})  # kinds of risks by which a queue has nobody on purpose
MOST_VERSIONS = 50
MOST_FORMER = 5_000


def read_group(*, group: Group) -> tuple[GroupView, Known]:
    """Read a group as it is now."""
    look = look_plainly(group=group)
    state = state_in(stored_state(group=group.pk))
    shown = target_of(state) if state is not None and state.head.is_target_known else None
    languages = {member.client_id: member.language for member in look.members}
    undivided = Undivided(
        popping=tuple(member.client_id for member in look.members if member.consume_type == POP),
        proxied=tuple(member.client_id for member in look.members if member.is_proxied),
        popped_by=group.popped_by,
    )
    return look.view, Known(languages, told(group.pk), shown, undivided)


def latest(*, group: int) -> ByConfig | None:
    """Give the by-config assignment that holds."""
    return ByConfig.objects.filter(group=group).order_by("-version").first()


def to_begin_with(*, group: Group) -> tuple[int, str]:
    """Give what a new version is made from: number and document of the latest; 0 and what is held if none is."""
    there = latest(group=group.pk)
    if there is not None:
        return there.version, there.document
    held = look_plainly(group=group).view.held
    return 0, assignments.write({} if held is None else held.as_lists())


def version(*, group: int, number: int) -> ByConfig | None:
    """Give one version."""
    return ByConfig.objects.filter(group=group, version=number).first()


def versions(*, group: int) -> list[ByConfig]:
    """List the versions, newest first."""
    return list(ByConfig.objects.filter(group=group).order_by("-version").defer("document")[:MOST_VERSIONS])


def assignment_of(row: ByConfig) -> Assignment:
    """Read the document of a version; it was checked when it was kept."""
    return assignments.read(row.document)


def told(group: int) -> Told | None:
    """Give what the members of a group were told, for the rooms below."""
    row = latest(group=group)
    if row is None:
        return None
    read = frozenset(
        subject for each in read_risks(row.acknowledged) if each.kind in LEFT_OUT for subject in each.every_subject
    )
    return Told(row.version, assignment_of(row), row.author, row.reason, read)


def former_members(*, group: Group) -> frozenset[str]:
    """Name who was a member, and is none now."""
    rows = Member.objects.filter(group=group).exclude(left_at=None).order_by("-left_at")
    return frozenset(rows.values_list("client_id", flat=True)[:MOST_FORMER])
