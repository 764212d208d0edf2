"""Rounds that were told before the new owners of their queues had been looked at again, and are told closer since.

Two had a queue for certain only while both told of it. A round often ends with the very look that shows the last drop:
that the one who took the queue before still had it then is known with his next look. So the round is told once more.
"""

from __future__ import annotations

from django.db.models import Exists, F, OuterRef, Q, QuerySet
from django.db.models.functions import Coalesce

from dashboard.groups.models import Handoff, Holding, Round
from dashboard.groups.recording.held import LATE_MS


def reopen_confirmed(*, group: int, now: int) -> int:
    """Forget what was told of a group's rounds where a look since bounds it closer; give how many rounds.

    To be called in a transaction: whoever calls tells them anew.
    """
    rounds = list(_confirmed(now).filter(round__group=group).values_list("round", flat=True).distinct())
    if not rounds:
        return 0
    Handoff.objects.filter(round__in=rounds).delete()
    return Round.objects.filter(pk__in=rounds).update(told_at=None)


def groups_to_tell(*, now: int, group: int | None = None) -> QuerySet[Handoff, int]:
    """Give the groups, by their rows, of which rounds can be told closer; with ``group`` that one alone."""
    found = _confirmed(now) if group is None else _confirmed(now).filter(round__group=group)
    return found.values_list("round__group", flat=True)


def _confirmed(now: int) -> QuerySet[Handoff]:
    """Find handoffs with less overlap than their instants allow, where the new owner told since that he had it then."""
    is_short = Q(overlap_low__lt=F("dropped_low") - Coalesce("taken_high", "taken_at"))
    lately = Q(round__closed_at__gte=now - LATE_MS, round__told_at__isnull=False)
    told_at = OuterRef("round__told_at")  # what was known by then is told
    is_seen = Q(until=None, member__held_seen_at__gte=OuterRef("dropped_low"), member__held_seen_at__gt=told_at) | Q(
        until_low__gte=OuterRef("dropped_low"), until__gt=told_at
    )
    had_told = Q(member__silent_until=None) | Q(member__silent_until__lte=Coalesce(OuterRef("taken_at"), 0))
    spans = Holding.objects.filter(
        is_seen,
        had_told,  # no look bounds closer what was so in a silence
        group=OuterRef("round__group"),
        queue__topic__name=OuterRef("topic"),
        queue__broker=OuterRef("broker"),
        queue__queue_id=OuterRef("queue_id"),
        member__client_id=OuterRef("to_client"),
        at__lte=OuterRef("dropped_at"),
    )
    return Handoff.objects.filter(lately, is_short).filter(Exists(spans))
