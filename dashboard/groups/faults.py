"""Findings over time: suspected at one look, confirmed by another one more than 20 s later, cleared when gone."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

from dashboard.common.fields import printable
from dashboard.groups.models import Finding, Group
from dashboard.groups.queries import Look
from rebalance_engine.events import (
    EXACT,
    Fact,
    FindingCleared,
    FindingConfirmed,
    FindingSuspected,
    Origin,
    Source,
)
from rebalance_engine.findings import ASKED_AGAIN_MS, FindingKind
from rebalance_engine.findings import Finding as Found

CONFIRM_AFTER_MS = 20_000  # one-round conflicts are normal during a rebalance
MOST_FAULTS = 500  # rows of a group; a group that nobody consumes would have one for each queue
SOURCE = Source(origin=Origin.DERIVED)


def keep_faults(
    *, group: Group, look: Look, found: Sequence[Found], now: int, caused_at: int = 0
) -> tuple[list[Finding], int | None, list[Fact]]:
    """Write what is found at a look. Give the faults there are, when to look again, and the news.

    A fault is suspected no earlier than the last change of the group, at ``caused_at``, that the look knew of. Only a
    later look confirms it; a report or a log proves it at once.
    """
    looked = max((member.held_seen_at or 0 for member in look.members), default=0) or now
    when = max(looked, min(caused_at, now))
    stored = {(row.kind, row.subject_key): row for row in Finding.objects.filter(group=group, cleared_at=None)}
    faults, new, news = list[Finding](), list[Finding](), list[Fact]()
    for each in found[:MOST_FAULTS]:
        row = stored.pop((each.kind.value, subject_key(each.subject)), None)
        if row is None:
            row = _suspect(group, each, when if each.proven_at is None else each.proven_at)
            row.confirmed_at = each.proven_at
            new.append(row)
            news.append(_proven(FindingSuspected, row, row.suspected_at))
            if row.confirmed_at is not None:
                news.append(_proven(FindingConfirmed, row, row.confirmed_at))
        elif row.confirmed_at is None and looked - row.suspected_at > CONFIRM_AFTER_MS:
            row.confirmed_at = when
            _say(row, each)
            row.save()
            news.append(_proven(FindingConfirmed, row, when))
        elif each.proven_at is not None and (row.sentence, row.ends_at) != (printable(each.sentence), each.ends_at):
            _say(row, each)
            row.save()
        faults.append(row)
    Finding.objects.bulk_create(new, batch_size=2_000)
    for row in stored.values():
        end = max(when, row.confirmed_at or row.suspected_at, now if row.kind == FindingKind.LOCK_REFUSED.value else 0)
        Finding.objects.filter(pk=row.pk).update(cleared_at=end)
        subject = {"finding": row.kind, "subject": row.subject, "group": group.name}
        news.append(FindingCleared(at=end, source=SOURCE, exactness=EXACT, **subject))
    due = [row.suspected_at + CONFIRM_AFTER_MS + 1 for row in faults if row.confirmed_at is None]
    due += [each.proven_at + ASKED_AGAIN_MS + 1 for each in found if each.proven_at is not None]
    return faults, min(due, default=None), news


def subject_key(subject: str) -> str:
    """Give what tells two subjects apart, short enough for an index."""
    if len(subject) <= 40 and subject.isascii() and "\0" not in subject:
        return subject
    return hashlib.sha256(subject.encode("utf-8", "surrogatepass")).hexdigest()


def _suspect(group: Group, each: Found, when: int) -> Finding:
    row = Finding(
        cluster_id=group.cluster_id,
        group=group,
        kind=each.kind.value,
        subject=printable(each.subject),
        subject_key=subject_key(each.subject),
        origin=Origin.DERIVED.value,
        suspected_at=when,
    )
    _say(row, each)
    return row


def _say(row: Finding, each: Found) -> None:
    row.sentence, row.proof = printable(each.sentence), [printable(line) for line in each.proof]
    row.ends_at = each.ends_at


def _proven(kind: type[FindingSuspected | FindingConfirmed], row: Finding, at: int) -> Fact:
    group, proof = row.group.name if row.group else None, tuple(map(str, row.proof))
    if kind is FindingSuspected:
        return FindingSuspected(
            at=at, source=SOURCE, exactness=EXACT, finding=row.kind, subject=row.subject, group=group, proof=proof
        )
    return FindingConfirmed(
        at=at,
        source=SOURCE,
        exactness=EXACT,
        finding=row.kind,
        subject=row.subject,
        group=group,
        proof=proof,
        ends_at=row.ends_at,
    )
