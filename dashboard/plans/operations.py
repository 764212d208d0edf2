"""What is written about plans: a new version of a group's by-config assignment."""

from __future__ import annotations

import hashlib
from collections.abc import Collection
from dataclasses import dataclass

from django.db import transaction

from dashboard.audit.operations import append
from dashboard.common.fields import printable
from dashboard.groups.models import Group
from dashboard.groups.queries import look_at
from dashboard.groups.risks import Acknowledged, risk, write_risks
from dashboard.groups.telling import note_told
from dashboard.plans import assignments
from dashboard.plans.assignments import Assignment
from dashboard.plans.checks import Check, check, refusals, to_acknowledge
from dashboard.plans.models import ByConfig
from dashboard.plans.queries import former_members, latest

VERB = "by-config.publish"
LONGEST_REASON = 500


@dataclass(frozen=True, slots=True, kw_only=True)
class Draft:
    """What somebody wants to keep.

    Attributes:
        base: the version that it was made from; 0: there was none.
        acknowledged: the keys of the checks that its author says to have read.
    """

    assignment: Assignment
    base: int
    reason: str
    acknowledged: Collection[str] = ()


class Conflict(Exception):
    """The draft was not made from the latest version; ``latest`` is that, None: there is none."""

    def __init__(self, latest: ByConfig | None) -> None:
        came = "there is no version yet" if latest is None else f"version {latest.version} by {latest.author} is there"
        super().__init__(came)
        self.latest = latest


class Unchanged(Exception):
    """The latest version says the same already."""

    def __init__(self, latest: ByConfig) -> None:
        super().__init__(f"version {latest.version} by {latest.author} says the same already: nothing is kept")
        self.latest = latest


class Unchecked(Exception):
    """The draft cannot be kept: something is wrong with it, or was not acknowledged. ``checks`` are those."""

    def __init__(self, checks: Collection[Check]) -> None:
        super().__init__("; ".join(each.words for each in checks))
        self.checks = tuple(checks)


class NoReason(Exception):
    """The draft says no reason, or one that is too long."""


def publish(*, group: Group, draft: Draft, author: str, now: int) -> ByConfig:
    """Keep a new version: it holds from now on, and is the target of a group whose members use CONFIG.

    The audit log has it, and the group is rebalanced, all in one transaction.

    Raises:
        Conflict: another version was kept meanwhile, or there never was the one that it names.
        Unchecked: checks that are wrong, or that nobody acknowledged.
        NoReason: it needs one.
        Unchanged: the latest version says the same.
    """
    reason = printable(draft.reason).strip()
    if not 0 < len(reason) <= LONGEST_REASON:
        raise NoReason(f"the reason has {len(reason)} characters; needed are 1 to {LONGEST_REASON}")
    with transaction.atomic():
        locked = Group.objects.select_for_update(no_key=True).get(pk=group.pk)
        there = latest(group=locked.pk)
        if (there.version if there else 0) != draft.base:
            raise Conflict(there)
        if there is not None and there.document == assignments.write(draft.assignment):
            raise Unchanged(there)
        checks = check(draft.assignment, look_at(group=locked).view, former_members(group=locked))
        unread = [each for each in to_acknowledge(checks) if each.key not in draft.acknowledged]
        if refusals(checks) or unread:
            raise Unchecked([*refusals(checks), *unread])
        read = [risk(each.kind, each.key, each.subjects) for each in to_acknowledge(checks)]
        row = _store(locked, draft, author, reason, read, now)
        evidence = f"by-config version {row.version} by {author}: {reason}"
        note_told(group=locked, evidence=evidence, author=author, now=now)
    return row


def _store(group: Group, draft: Draft, author: str, reason: str, read: list[Acknowledged], now: int) -> ByConfig:
    document = assignments.write(draft.assignment)
    row = ByConfig.objects.create(
        group=group,
        version=draft.base + 1,
        at=now,
        author=printable(author),
        reason=reason,
        document=document,
        client_count=len(draft.assignment),
        queue_count=sum(map(len, draft.assignment.values())),
        acknowledged=write_risks(read),
    )
    detail = {
        "version": row.version,
        "reason": reason,
        "clients": row.client_count,
        "queues": row.queue_count,
        "acknowledged": [each.as_values() for each in read],
        "sha256": hashlib.sha256(document.encode()).hexdigest(),
    }
    append(at=now, author=author, verb=VERB, subject=f"{group.cluster.name} {group.name}", detail=detail)
    return row
