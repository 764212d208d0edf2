"""Findings over time: suspected at one look, confirmed by another one more than 20 s later, cleared when gone.

That nobody has a queue is gone where somebody is seen with it, or it is in no route: a look at which that cannot be
judged, since a broker or a member did not tell, leaves the finding there; ``unjudged.py`` says what is known of it.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence

import numpy as np

from dashboard.common.fields import printable
from dashboard.groups.models import Finding, Group
from dashboard.groups.owned import NOBODYS
from dashboard.groups.queries import Look
from dashboard.groups.unjudged import say_unjudged
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
from rebalance_engine.findings import FindingKind, spell
from rebalance_engine.findings.flow import STUCK_MS
from rebalance_engine.model import MessageModel

MOST_FAULTS = 500  # rows of a group; a group that nobody consumes would have one for each queue
AGAIN_MS = 10_000  # after a look that confirmed nothing, another one is waited for
SOURCE = Source(origin=Origin.DERIVED)
NO_LOOK = frozenset(  # that they are over is not seen by asking what members hold
    kind.value for kind in (FindingKind.LOCK_REFUSED, FindingKind.PULL_REFUSED, FindingKind.STORM, FindingKind.FLAPPING)
)


def keep_faults(
    *, group: Group, look: Look, found: Sequence[Found], now: int, caused_at: int = 0
) -> tuple[list[Finding], int | None, list[Fact]]:
    """Write what is found at a look. Give the faults there are, when to look again, and the news.

    A fault is suspected no earlier than the last change of the group, at ``caused_at``, that the look knew of. Only a
    later look confirms it, of those on whose word it rests; a report or a log proves it at once.
    """
    told_at = {member.client_id: member.held_seen_at or 0 for member in look.members}
    looked = max(told_at.values(), default=0) or now
    when = max(looked, min(max(caused_at, look.moved_at), now))  # a report tells of what no look saw yet
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
        elif row.confirmed_at is None and _told_again(each, told_at, looked) - row.suspected_at > each.confirm_after_ms:
            row.confirmed_at = when
            _say(row, each)
            row.save()
            news.append(_proven(FindingConfirmed, row, when))
        elif (row.sentence, row.ends_at) != (printable(each.sentence), each.ends_at):
            _say(row, each)
            row.save()
        faults.append(row)
    Finding.objects.bulk_create(new, batch_size=2_000)
    kept = _still_open(group, look, stored)
    say_unjudged(group=group, look=look, rows=kept)
    kept += _still_deserted(look, stored)
    for row in stored.values():
        end = max(when, row.confirmed_at or row.suspected_at, now if row.kind in NO_LOOK else 0)
        Finding.objects.filter(pk=row.pk).update(cleared_at=end)
        subject = {"finding": row.kind, "subject": row.subject, "group": group.name}
        news.append(FindingCleared(at=end, source=SOURCE, exactness=EXACT, **subject))
    waits = [each.confirm_after_ms for each in found[:MOST_FAULTS]]
    due = [row.suspected_at + wait + 1 for row, wait in zip(faults, waits, strict=True) if row.confirmed_at is None]
    due = [at if at > now else now + AGAIN_MS for at in due]  # who is to tell again has not yet
    due += [each.over_at + 1 for each in found if each.over_at is not None]
    due += _unripe(look)
    return [*faults, *kept], min(due, default=None), news


def _still_open(group: Group, look: Look, stored: dict[tuple[str, str], Finding]) -> list[Finding]:
    """Take out of what is not found any more what this look cannot judge: that nobody has queues.

    They are in a route and nobody is seen with them, and not everybody has told, or NameServers disagree.
    """
    view = look.view
    named = [place for place in stored if place[0] in NOBODYS]
    if not named or group.gone_at is not None or look.is_empty or view.model is MessageModel.BROADCASTING:
        return []
    is_whole = view.everybody_answered and len(view.clients) > 0
    numbers = view.perhaps_unowned if is_whole else np.concatenate([view.perhaps_unowned, view.unowned])
    unjudged = {subject_key(spell(queue)) for queue in view.queues.take(numbers)}
    return [stored.pop(place) for place in named if place[1] in unjudged]


def _still_deserted(look: Look, stored: dict[tuple[str, str], Finding]) -> list[Finding]:
    """Take out that nobody consumes, while nobody is seen to be a member and a broker does not tell."""
    if look.are_members_known or look.members:
        return []
    return [stored.pop(place) for place in list(stored) if place[0] == FindingKind.NOBODY_CONSUMES.value]


def _told_again(each: Found, told_at: Mapping[str, int], looked: int) -> int:
    """Say when everybody on whose word a fault rests has told it."""
    return min((told_at.get(client, 0) for client in each.told_by), default=looked)


def _unripe(look: Look) -> list[int]:
    """Say when queues in which nothing is committed have been their owners' for long enough to blame these."""
    since = look.sights.held_since
    taken = [since[spell(each.queue)] for each in look.sights.standings if spell(each.queue) in since]
    looked = [each.at for each in look.sights.standings if spell(each.queue) in since]
    return [at + STUCK_MS + 1 for at, seen in zip(taken, looked, strict=True) if seen - at < STUCK_MS]


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
