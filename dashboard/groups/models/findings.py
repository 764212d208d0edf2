"""Faults: suspected at one look, confirmed by another one or by proof, cleared when they are no more."""

from __future__ import annotations

from django.db import models
from django.db.models import Q

from dashboard.clusters.models import Cluster
from dashboard.common.fields import AtField, choices_of, in_order, instant, not_empty, one_of
from dashboard.common.sayings import in_words
from dashboard.groups.models.group import Group
from rebalance_engine.events import Origin


class Finding(models.Model):
    """One fault of a group, or, without one, of a cluster; with the rows that prove it."""

    cluster = models.ForeignKey(Cluster, models.CASCADE, related_name="findings")
    group = models.ForeignKey(Group, models.CASCADE, null=True, blank=True, related_name="findings")
    kind = models.CharField(max_length=40)
    subject = models.TextField()
    subject_key = models.CharField(max_length=64, help_text="the subject, or its digest where it is long")
    sentence = models.TextField()
    proof = models.JSONField()
    origin = models.CharField(max_length=16, choices=choices_of(Origin))
    suspected_at = AtField()
    confirmed_at = AtField(null=True, blank=True)
    cleared_at = AtField(null=True, blank=True)
    ends_at = AtField(null=True, blank=True, help_text="when it must end by itself, where that is known")

    class Meta:
        """A fault is there once at a time; suspected, confirmed, cleared in this order; never without proof."""

        constraints = [
            models.UniqueConstraint(
                fields=["group", "kind", "subject_key"],
                condition=Q(cleared_at__isnull=True, group__isnull=False),
                name="finding_of_a_group_is_there_once",
            ),
            models.UniqueConstraint(
                fields=["cluster", "kind", "subject_key"],
                condition=Q(cleared_at__isnull=True, group__isnull=True),
                name="finding_of_a_cluster_is_there_once",
            ),
            not_empty("kind", "finding_has_a_kind"),
            not_empty("sentence", "finding_has_a_sentence"),
            not_empty("subject_key", "finding_has_a_subject"),
            models.CheckConstraint(condition=~Q(proof=[]), name="finding_has_proof"),
            instant("suspected_at", "finding_suspected_at_is_an_instant"),
            in_order("suspected_at", "confirmed_at", "finding_is_confirmed_after_suspected"),
            in_order("suspected_at", "cleared_at", "finding_is_cleared_after_suspected"),
            in_order("confirmed_at", "cleared_at", "finding_is_cleared_after_confirmed"),
            one_of("origin", Origin, "finding_origin_is_known"),
        ]
        indexes = [
            models.Index(fields=["group", "suspected_at"], name="finding_now", condition=Q(cleared_at__isnull=True))
        ]

    def __str__(self) -> str:
        """The sentence."""
        return in_words(self.sentence)
