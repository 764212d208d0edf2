"""How far a group was behind over time: one row for each broker and ten seconds in which that changed."""

from __future__ import annotations

from django.db import models
from django.db.models import F, Q
from django.utils.translation import gettext as _

from dashboard.common.fields import AtField, instant, not_empty
from dashboard.common.names import NameField
from dashboard.groups.models.group import Group

STEP_MS = 10_000


class LagStep(models.Model):
    """What one broker's answers came to within ``STEP_MS`` from ``began_at`` on; nothing changed until the next row.

    ``lag`` is how many messages the group was behind at the end of it, ``most`` the most in it, at ``at``, of which
    ``worst_lag`` in ``worst_queue`` (topic and queue id). None: the broker did not answer, or does not know. ``queues``
    is what the last answer in it, at ``told_at``, said of each queue: by topic, a list by queue id, null is unknown;
    nothing where the broker did not answer, of very many queues, and in rows from before it was kept.
    """

    group = models.ForeignKey(Group, models.CASCADE, related_name="lag_steps")
    broker = NameField()
    began_at = AtField()
    at = AtField()
    lag = models.BigIntegerField(null=True, blank=True)
    most = models.BigIntegerField(null=True, blank=True)
    worst_queue = models.TextField(blank=True, default="")
    worst_lag = models.BigIntegerField(null=True, blank=True)
    told_at = AtField(null=True, blank=True)
    queues = models.JSONField(default=dict, blank=True)

    class Meta:
        """A broker has one row for each ten seconds; the most is not less than what it ended with."""

        constraints = [
            models.UniqueConstraint(fields=["group", "broker", "began_at"], name="lag_step_is_unique"),
            models.CheckConstraint(condition=Q(lag=None) | Q(lag__gte=0), name="lag_step_is_no_less_than_nothing"),
            models.CheckConstraint(
                condition=Q(lag=None) | Q(most__isnull=False, most__gte=F("lag")), name="lag_step_has_its_most"
            ),
            models.CheckConstraint(
                condition=Q(at__gte=F("began_at"), at__lt=F("began_at") + STEP_MS), name="lag_step_lies_in_its_time"
            ),
            instant("at", "lag_step_at_is_an_instant"),
            models.CheckConstraint(
                condition=Q(told_at=None) | Q(told_at__gte=F("began_at"), told_at__lt=F("began_at") + STEP_MS),
                name="lag_step_was_told_in_its_time",
            ),
            not_empty("broker", "lag_step_has_a_broker"),
        ]
        indexes = [models.Index(fields=["group", "began_at"], name="lag_step_by_time")]

    def __str__(self) -> str:
        """Which group, where, how far behind."""
        lag = _("unknown") if self.lag is None else self.lag
        return _("%(group)s at %(broker)s: %(lag)s behind") % {"group": self.group, "broker": self.broker, "lag": lag}
