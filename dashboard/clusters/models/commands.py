"""What people order: a row with a deadline, carried out by the cluster's watcher, with a receipt for each member."""

from __future__ import annotations

from django.conf import settings
from django.db import models
from django.db.models import F, Q

from dashboard.clusters.models.routes import Cluster
from dashboard.common.fields import AtField, choices_of, in_order, instant, not_empty, one_of
from dashboard.common.names import NameField
from dashboard.common.naming.values import said
from rebalance_engine.events import CommandOutcome, ReceiptAnswer


class Command(models.Model):
    """One order. Waiting until a watcher takes it (``taken_at``), over when it has an outcome.

    ``taken_epoch`` is the lease of the watcher that took it: an order is carried out once. ``reported_as`` is the id
    under which somebody reported a command that was carried out elsewhere, as ``evenkeel recompute --report`` does.
    """

    cluster = models.ForeignKey(Cluster, models.CASCADE, related_name="commands")
    verb = models.CharField(max_length=40)
    group_name = NameField(null=True, blank=True)
    target = models.TextField(blank=True, default="")
    parameters = models.JSONField(default=dict, blank=True)
    author = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, null=True, blank=True, related_name="+")
    author_name = models.TextField()
    reason = models.TextField(blank=True, default="")
    ordered_at = AtField()
    deadline = AtField()
    taken_at = AtField(null=True, blank=True)
    taken_epoch = models.BigIntegerField(null=True, blank=True)
    finished_at = AtField(null=True, blank=True)
    outcome = models.CharField(max_length=16, null=True, blank=True, choices=choices_of(CommandOutcome))
    detail = models.TextField(blank=True, default="")
    reported_as = NameField(null=True, blank=True)

    class Meta:
        """Ordered, taken, finished: in this order, and an end has an outcome."""

        constraints = [
            not_empty("verb", "command_has_a_verb"),
            not_empty("author_name", "command_has_an_author"),
            instant("ordered_at", "command_ordered_at_is_an_instant"),
            models.CheckConstraint(condition=Q(deadline__gte=F("ordered_at")), name="command_deadline_is_not_before"),
            models.CheckConstraint(
                condition=Q(taken_at__isnull=True, taken_epoch__isnull=True)
                | Q(
                    taken_at__isnull=False,
                    taken_epoch__isnull=False,
                    taken_at__gte=F("ordered_at"),
                    taken_at__lte=F("deadline"),
                    taken_epoch__gte=1,
                ),
                name="command_is_taken_in_time_by_a_lease",
            ),
            models.CheckConstraint(
                condition=Q(finished_at__isnull=True, outcome__isnull=True)
                | Q(finished_at__isnull=False, finished_at__gte=F("ordered_at"), outcome__isnull=False),
                name="command_end_has_an_outcome",
            ),
            in_order("taken_at", "finished_at", "command_is_over_after_it_was_taken"),
            models.CheckConstraint(
                condition=~Q(outcome=CommandOutcome.DONE.value)
                | Q(taken_at__isnull=False)
                | Q(reported_as__isnull=False),
                name="command_done_was_taken",
            ),
            models.CheckConstraint(
                condition=Q(reported_as__isnull=True) | Q(finished_at__isnull=False),
                name="command_reported_is_over",
            ),
            models.UniqueConstraint(fields=["cluster", "reported_as"], name="command_is_reported_once"),
            one_of("outcome", CommandOutcome, "command_outcome_is_known"),
        ]
        indexes = [
            models.Index(fields=["cluster", "ordered_at"], name="command_open", condition=Q(finished_at__isnull=True)),
        ]

    def __str__(self) -> str:
        """What was ordered for whom."""
        return f"{said(self.verb)} {self.group_name or self.target}".strip()


class CommandReceipt(models.Model):
    """What a command did to one member, as far as can be known."""

    command = models.ForeignKey(Command, models.CASCADE, related_name="receipts")
    client_id = NameField()
    answer = models.CharField(max_length=16, choices=choices_of(ReceiptAnswer))
    at = AtField()
    detail = models.TextField(blank=True, default="")

    class Meta:
        """One receipt for each member."""

        constraints = [
            models.UniqueConstraint(fields=["command", "client_id"], name="receipt_is_unique"),
            one_of("answer", ReceiptAnswer, "receipt_answer_is_known"),
            not_empty("client_id", "receipt_has_a_member"),
            instant("at", "receipt_at_is_an_instant"),
        ]

    def __str__(self) -> str:
        """Who, and what."""
        return f"{self.client_id}: {self.get_answer_display()}"
