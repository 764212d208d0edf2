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
from rebalance_engine.findings import Finding as Found

CONFIRM_AFTER_MS = 20_000  # one-round conflicts are normal during a rebalance
MOST_FAULTS = 500  # rows of a group; a group that nobody consumes would have one for each queue
SOURCE = Source(origin=Origin.DERIVED)


def keep_faults(
    *, group: Group, look: Look, found: Sequence[Found], now: int
) -> tuple[list[Finding], int | None, list[Fact]]:
    """Write what is found at a look. Give the faults there are, when the next one may be confirmed, and the news."""
    when = max((member.held_seen_at or 0 for member in look.members), default=0) or now
    stored = {(row.kind, row.subject_key): row for row in Finding.objects.filter(group=group, cleared_at=None)}
    faults, new, news = list[Finding](), list[Finding](), list[Fact]()
    for each in found[:MOST_FAULTS]:
        row = stored.pop((each.kind.value, subject_key(each.subject)), None)
        if row is None:
            row = _suspect(group, each, when)
            new.append(row)
            news.append(_proven(FindingSuspected, row, when))
        elif row.confirmed_at is None and when - row.suspected_at > CONFIRM_AFTER_MS:
            row.confirmed_at = when
            _say(row, each)
            row.save()
            news.append(_proven(FindingConfirmed, row, when))
        faults.append(row)
    Finding.objects.bulk_create(new, batch_size=2_000)
    for row in stored.values():
        end = max(when, row.confirmed_at or row.suspected_at)
        Finding.objects.filter(pk=row.pk).update(cleared_at=end)
        subject = {"finding": row.kind, "subject": row.subject, "group": group.name}
        news.append(FindingCleared(at=end, source=SOURCE, exactness=EXACT, **subject))
    waiting = [row.suspected_at for row in faults if row.confirmed_at is None]
    return faults, min(waiting) + CONFIRM_AFTER_MS + 1 if waiting else None, news


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


def _proven(kind: type[FindingSuspected | FindingConfirmed], row: Finding, at: int) -> Fact:
    return kind(
        at=at,
        source=SOURCE,
        exactness=EXACT,
        finding=row.kind,
        subject=row.subject,
        group=row.group.name if row.group else None,
        proof=tuple(row.proof),
    )
