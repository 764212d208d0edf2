"""What is deleted once it is old. The history files keep it: these rows are what pages need at hand."""

from __future__ import annotations

from django.db.models import Q

from dashboard.clusters.models import Command, OutboxLine
from dashboard.groups.models import (
    Finding,
    Group,
    Holding,
    LagStep,
    LockRefusal,
    Member,
    Presence,
    PullRefusal,
    Round,
    RoundCause,
)
from dashboard.push.models import Step, Stream
from dashboard.push.publish import GROUP_STREAMS, group_stream

DAY_MS = 24 * 60 * 60 * 1000
KEPT_STEPS_MS = 60 * 60 * 1000  # a browser that was away for longer gets a snapshot
KEPT_PAST_MS = DAY_MS  # of a group: its page shows any instant of the last day as it was shown then
KEPT_LAG_DAYS = 3  # rows of ten seconds, where lag changes
KEPT_LINES_MS = DAY_MS  # exported ones stay so long to tell a fact that comes twice


def forget(*, now: int, days: int) -> int:
    """Delete rows that ended more than ``days`` ago; nothing that still lasts. Give how many."""
    old = now - days * DAY_MS
    gone = Group.objects.filter(gone_at__lt=old)
    streams = [group_stream(pk) for pk in gone.values_list("pk", flat=True)]
    doomed = (
        Step.objects.filter(at__lt=now - KEPT_STEPS_MS).exclude(stream__name__startswith=GROUP_STREAMS),
        Step.objects.filter(at__lt=now - KEPT_PAST_MS),
        OutboxLine.objects.filter(exported_at__lt=now - KEPT_LINES_MS),
        Holding.objects.filter(until__lt=old),
        Round.objects.filter(closed_at__lt=old),
        RoundCause.objects.filter(Q(round=None) & Q(at__lt=old)),
        Finding.objects.filter(cleared_at__lt=old),
        LockRefusal.objects.filter(at__lt=old),
        PullRefusal.objects.filter(at__lt=old),
        LagStep.objects.filter(began_at__lt=now - min(days, KEPT_LAG_DAYS) * DAY_MS),
        Presence.objects.filter(gone_at__lt=old),
        Member.objects.filter(left_at__lt=old).exclude(holdings__until=None, holdings__isnull=False),
        Command.objects.filter(finished_at__lt=old),
        Stream.objects.filter(name__in=streams),
        gone,
    )
    return sum(rows.delete()[0] for rows in doomed)
