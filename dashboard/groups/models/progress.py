"""How far a group is on one broker: where its queues end, and what it has committed, all at one look."""

from __future__ import annotations

from django.db import models
from django.db.models import Q
from django.utils.translation import gettext as _

from dashboard.common.fields import AtField, Sourced, choices_of, instants, not_empty, one_of, sourced_constraints
from dashboard.common.names import NameField
from dashboard.groups.models.group import Group
from rebalance_engine.events import Missing


class Progress(Sourced):
    """The last answer of one broker: offsets of the queues that a group has there, as of ``observed_at``.

    ``queues`` has one list a queue: topic, queue id, where it ends (the broker's offset), what is committed (null: a
    broker says 0 also where nothing ever was), and when the last message that was consumed had been stored, in ms
    (null: unknown). One row, because all of it is one answer: it ages as a whole. ``missing`` says why the broker did
    not answer when it was asked last, since ``missing_at``.

    The other columns are what this answer comes to (``lag.py``), for lists of thousands of groups: how many messages
    were not consumed yet in the queues where that is known (``lag``, NULL: in none), in how many it is unknown, since
    when the first of them waits at most, and when nothing waited last. ``looks`` has one list for each answer of the
    last minute: when, and how many messages waited in each queue, in the order of ``queues`` (null: unknown).
    """

    group = models.ForeignKey(Group, models.CASCADE, related_name="progress")
    broker = NameField()
    queues = models.JSONField(default=list, blank=True)
    missing = models.CharField(max_length=16, null=True, blank=True, choices=choices_of(Missing))
    missing_at = AtField(null=True, blank=True)

    lag = models.BigIntegerField(null=True, blank=True)
    unknown_lags = models.IntegerField(default=0, help_text="queues of which it is unknown what was consumed")
    waits_since = AtField(null=True, blank=True, help_text="no message waits longer; NULL: none waits, or unknown")
    empty_at = AtField(null=True, blank=True, help_text="the last answer of which nothing waited")
    looks = models.JSONField(default=list, blank=True)

    class Meta:
        """A broker has one answer; one that is missing is so for a reason, since some time."""

        verbose_name_plural = "progress"
        constraints = [
            models.UniqueConstraint(fields=["group", "broker"], name="progress_is_unique"),
            models.CheckConstraint(
                condition=Q(missing__isnull=True, missing_at__isnull=True)
                | Q(missing__isnull=False, missing_at__isnull=False),
                name="progress_missing_has_a_time",
            ),
            one_of("missing", Missing, "progress_missing_is_known"),
            models.CheckConstraint(
                condition=(Q(lag=None) | Q(lag__gte=0)) & Q(unknown_lags__gte=0), name="progress_lag_is_counted"
            ),
            instants(("waits_since", "empty_at"), "progress_times_are_instants"),
            not_empty("broker", "progress_has_a_broker"),
            *sourced_constraints("progress"),
        ]
        indexes = [models.Index(fields=["group", "missing", "lag"], name="progress_lags")]

    def __str__(self) -> str:
        """Which group, where."""
        return _("%(who)s at %(broker)s") % {"who": self.group, "broker": self.broker}
