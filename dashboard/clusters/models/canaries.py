"""Whether a cluster has a canary: messages of Evenkeel's own that estimate how long producers wait for its brokers."""

from __future__ import annotations

from django.db import models
from django.db.models import Q
from django.utils.translation import gettext as _

from dashboard.clusters.models.routes import Cluster
from dashboard.common.fields import AtField, in_order, instant, not_empty


class Canary(models.Model):
    """The canary of one cluster, off until an admin switches it on; a cluster without a row has it off.

    ``may_create`` lets it make its topic where a broker lacks it. ``told_at`` is when the watcher last said how it
    goes, NULL: not since it was switched; ``troubles`` has then, by broker, what is in the way
    (``network.canary.Trouble``) and what the broker said.
    """

    cluster = models.OneToOneField(Cluster, models.CASCADE, related_name="canary")
    is_on = models.BooleanField()
    may_create = models.BooleanField(default=False)
    reason = models.TextField()
    changed_by = models.TextField()
    changed_at = AtField()
    told_at = AtField(null=True, blank=True)
    troubles = models.JSONField(default=dict, blank=True)

    class Meta:
        """Somebody switched it, at a time and for a reason."""

        verbose_name_plural = "canaries"
        constraints = [
            not_empty("reason", "canary_has_a_reason"),
            not_empty("changed_by", "canary_was_switched_by_somebody"),
            instant("changed_at", "canary_changed_at_is_an_instant"),
            in_order("changed_at", "told_at", "canary_tells_after_it_was_switched"),
            models.CheckConstraint(
                condition=Q(is_on=True) | Q(may_create=False), name="canary_that_is_off_makes_nothing"
            ),
        ]

    def __str__(self) -> str:
        """Whose, and whether it sends."""
        words = _("canary of %(cluster)s: on") if self.is_on else _("canary of %(cluster)s: off")
        return words % {"cluster": self.cluster}
