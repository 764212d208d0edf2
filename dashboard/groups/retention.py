"""What is deleted once it is old. The history files keep it: these rows are what pages need at hand."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime

from django.contrib.sessions.models import Session
from django.db import models, transaction
from django.db.models import Exists, OuterRef, Q, QuerySet

from dashboard.clusters import retention as of_clusters
from dashboard.clusters.models import Broker, Command, OutboxLine
from dashboard.groups.models import (
    Finding,
    Flow,
    Group,
    Holding,
    LagStep,
    LockRefusal,
    Member,
    MemberList,
    Presence,
    Progress,
    PullRefusal,
    Round,
    RoundCause,
    Subscription,
)
from dashboard.push.models import Server, Step
from dashboard.push.publish import GROUP_STREAMS, end_streams, group_stream

DAY_MS = 24 * 60 * 60 * 1000
KEPT_STEPS_MS = 60 * 60 * 1000  # a browser that was away for longer gets a snapshot
KEPT_PAST_MS = DAY_MS  # of a group: its page shows any instant of the last day as it was shown then
KEPT_LAG_DAYS = 3  # rows of ten seconds, where lag changes
ROWS_AT_ONCE = 1_000
KEPT_LINES_MS = DAY_MS  # exported ones stay so long to tell a fact that comes twice
NAMED = of_clusters.Named(
    topic=Q(Exists(Subscription.objects.filter(group__cluster=OuterRef("cluster"), topic=OuterRef("name")))),
    broker=Exists(MemberList.objects.filter(group__cluster=OuterRef("cluster"), broker=OuterRef("name")))
    | Exists(Presence.objects.filter(member__group__cluster=OuterRef("cluster"), broker=OuterRef("name"))),
)


def forget(*, now: int, days: int) -> int:
    """Delete rows that ended more than ``days`` ago; nothing that still lasts. Give how many.

    Then what is gone in a cluster since then, unless what is kept here refers to it.
    """
    old = now - days * DAY_MS
    gone = Group.objects.filter(gone_at__lt=old)
    streams = [group_stream(pk) for pk in gone.values_list("pk", flat=True)]
    lost = Broker.objects.filter(cluster=OuterRef("group__cluster"), name=OuterRef("broker"), broker_id=0)
    is_lost = Exists(lost.filter(gone_at__lt=old))
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
        *(model._default_manager.filter(is_lost) for model in (MemberList, Progress, Flow)),
        Server.objects.filter(at__lt=now - KEPT_STEPS_MS),
        Session.objects.filter(expire_date__lt=datetime.fromtimestamp(now / 1_000, UTC)),
        gone,
    )
    done = sum(map(_delete, doomed)) + end_streams(names=streams)
    return done + of_clusters.forget(old=old, now=now, named=NAMED)


def _delete(rows: QuerySet[models.Model]) -> int:
    """Delete rows after what refers to them, some at a time, each time in a transaction of its own; give how many.

    A round may have ten thousand handoffs, and a group thousands of rounds: nobody is to wait until all are gone.
    Whether they are to go is asked again each time.
    """
    done, last = sum(_delete(referring) for referring in _referring(rows)), 0
    while pks := list(rows.filter(pk__gt=last).order_by("pk").values_list("pk", flat=True)[:ROWS_AT_ONCE]):
        with transaction.atomic():
            done += rows.filter(pk__in=pks).only("pk").delete()[0]
        last = pks[-1]
    return done


def _referring(rows: QuerySet[models.Model]) -> Iterator[QuerySet[models.Model]]:
    """Give the rows of other tables that would be deleted with these."""
    for relation in rows.model._meta.get_fields(include_hidden=True):
        if isinstance(relation, models.ManyToOneRel) and relation.on_delete is models.CASCADE:
            refers = {f"{relation.field.name}__in": rows.order_by().values("pk")}
            yield relation.related_model._default_manager.filter(**refers)
