"""Saying to a group that its members were told otherwise by hand: what a room above does when that changes."""

from __future__ import annotations

from django.db import transaction
from django.db.models import F

from dashboard.common.fields import printable
from dashboard.groups.models import Group, Member, RoundCause
from dashboard.groups.operations import start_rebalancing
from dashboard.groups.told import BY_HAND
from rebalance_engine.events import Cause, Origin


def note_told(*, group: Group, evidence: str, author: str, now: int) -> None:
    """Let a group be rebalanced because its members were told otherwise; to be called within the transaction.

    It is a cause of a round only where somebody divides by what it was told; for others nothing changes.
    """
    if not Member.objects.filter(group=group, left_at=None, strategy__in=BY_HAND).exists():
        return
    RoundCause.objects.create(
        group=group,
        cause=Cause.CONFIG_CHANGED.value,
        evidence=printable(evidence),
        at=now,
        at_low=now,
        at_high=now,
        origin=Origin.OPERATOR.value,
        observed_at=now,
        observed_by=printable(author),
    )
    Group.objects.filter(pk=group.pk).update(inputs_version=F("inputs_version") + 1)
    transaction.on_commit(lambda: start_rebalancing({group.pk: Cause.CONFIG_CHANGED}), robust=True)
