"""Target and held: who should have which queue, and who has it."""

from __future__ import annotations

from django.db import models
from django.db.models import Case, F, Q, When
from django.db.models.functions import Coalesce
from django.utils.translation import gettext as _

from dashboard.clusters.models import Queue
from dashboard.common.fields import (
    AtField,
    Sourced,
    choices_of,
    in_order,
    instants,
    not_negative,
    one_of,
    sourced_constraints,
)
from dashboard.common.spans import clock, day
from dashboard.groups.models.group import Group
from dashboard.groups.models.members import Member
from rebalance_engine.events import DropReason, Origin

OWN_WORD = (Origin.AGENT_REPORT.value, Origin.CLIENT_LOG.value)
IS_BACK = Q(until_high__gt=F("until")) & ~Q(until_origin__in=OWN_WORD)
"""Who was lost with a queue has an upper bound of that since it was back, or said good-bye; no word of its end."""
BACK_LOW = Case(When(IS_BACK, then=Coalesce("member__at_low", "member__at")))
"""Since when that one may have been back; before a member may have come it had nothing. Else NULL."""
INSTANTS = ("at_low", "at_high", "until", "until_low", "until_high", "first_pull_at")


class Target(models.Model):
    """Who should have one queue, by the strategy; no member: nobody should, or nobody can.

    ``fence`` is the rebalance that said so first; a trigger lets no earlier one say otherwise.
    """

    group = models.ForeignKey(Group, models.CASCADE, related_name="targets")
    queue = models.ForeignKey(Queue, models.CASCADE, related_name="+")
    member = models.ForeignKey(Member, models.CASCADE, null=True, blank=True, related_name="targets")
    fence = models.BigIntegerField()

    class Meta:
        """A queue has one target."""

        constraints = [
            models.UniqueConstraint(fields=["group", "queue"], name="target_is_unique"),
            models.CheckConstraint(condition=Q(fence__gte=1), name="target_comes_from_a_rebalance"),
        ]

    def __str__(self) -> str:
        """The rows that it joins."""
        return f"{self.queue_id} -> {self.member_id}"


class Holding(Sourced):
    """The time in which a member had a queue in its process-queue table: from ``at`` until ``until``.

    Both ends have their bounds: of a look each second one knows that a queue came between the two. Rows end, and
    are never rewritten: so any past instant can be read. Two members at one time are storable, because they happen.
    ``start_offset`` and ``committed_offset`` are where the member went on, and how far it had consumed when it let go,
    as it reported itself; NULL is unknown. ``twice_until``: what lies from where it went on until before this offset
    was counted as consumed twice; NULL: nothing was.
    """

    group = models.ForeignKey(Group, models.CASCADE, related_name="holdings")
    queue = models.ForeignKey(Queue, models.CASCADE, related_name="holdings")
    member = models.ForeignKey(Member, models.CASCADE, related_name="holdings")
    until = AtField(null=True, blank=True)
    until_low = AtField(null=True, blank=True)
    until_high = AtField(null=True, blank=True)
    until_origin = models.CharField(max_length=16, null=True, blank=True, choices=choices_of(Origin))
    reason = models.CharField(max_length=20, null=True, blank=True, choices=choices_of(DropReason))
    first_pull_at = AtField(null=True, blank=True)
    start_offset = models.BigIntegerField(null=True, blank=True)
    committed_offset = models.BigIntegerField(null=True, blank=True)
    twice_until = models.BigIntegerField(null=True, blank=True)

    class Meta:
        """A member holds a queue once at a time; an end has a source and a reason."""

        constraints = [
            models.UniqueConstraint(
                fields=["member", "queue"], condition=Q(until__isnull=True), name="holding_is_held_once"
            ),
            models.CheckConstraint(
                condition=Q(until__isnull=True, until_origin__isnull=True, reason__isnull=True)
                | Q(until__isnull=False, until_origin__isnull=False, reason__isnull=False),
                name="holding_that_ended_has_a_reason",
            ),
            in_order("at", "until", "holding_ends_after_it_began"),
            in_order("at", "first_pull_at", "holding_is_pulled_after_it_began"),
            instants(INSTANTS, "holding_times_are_instants"),
            in_order("until_low", "until", "holding_end_is_not_below_its_bound"),
            in_order("until", "until_high", "holding_end_is_not_above_its_bound"),
            one_of("until_origin", Origin, "holding_end_origin_is_known"),
            one_of("reason", DropReason, "holding_reason_is_known"),
            not_negative(("start_offset", "committed_offset"), "holding_offsets_are_not_negative"),
            *sourced_constraints("holding"),
        ]
        indexes = [
            models.Index(fields=["group", "queue", "at"], name="holding_owners"),
            models.Index(fields=["group", "until"], name="holding_ends"),
        ]

    def __str__(self) -> str:
        """The rows that it joins, and since when (UTC)."""
        had = {"member": self.member_id, "queue": self.queue_id, "at": f"{day(self.at)} {clock(self.at)}"}
        return _("%(member)s had %(queue)s from %(at)s") % had
