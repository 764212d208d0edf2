"""Tokens that let a group's clients report, and the ids of reports that were taken."""

from __future__ import annotations

from django.db import models
from django.db.models import Q
from django.utils.translation import gettext as _

from dashboard.clusters.models import Cluster
from dashboard.common.fields import AtField, in_order, instant, not_empty
from dashboard.common.names import NameField


class ReportToken(models.Model):
    """A token of one group: of consumers, or of producers, which have groups too. Only its digest is kept.

    ``hint`` is its beginning, by which a person knows it again. ``used_at`` is exact to a minute.
    """

    cluster = models.ForeignKey(Cluster, models.CASCADE, related_name="report_tokens")
    group_name = NameField()
    digest = models.CharField(max_length=64, unique=True)
    hint = models.CharField(max_length=16)
    note = models.CharField(max_length=200, blank=True, default="")
    made_by = models.TextField()
    made_at = AtField()
    used_at = AtField(null=True, blank=True)
    revoked_by = models.TextField(blank=True, default="")
    revoked_at = AtField(null=True, blank=True)

    class Meta:
        """A digest once; an end has somebody who made it."""

        constraints = [
            not_empty("group_name", "report_token_has_a_group"),
            not_empty("made_by", "report_token_has_a_maker"),
            instant("made_at", "report_token_made_at_is_an_instant"),
            in_order("made_at", "revoked_at", "report_token_is_revoked_after_it_was_made"),
            models.CheckConstraint(
                condition=Q(revoked_at__isnull=True, revoked_by="") | Q(revoked_at__isnull=False) & ~Q(revoked_by=""),
                name="report_token_is_revoked_by_somebody",
            ),
        ]
        indexes = [models.Index(fields=["cluster", "group_name"], name="report_token_of_group")]

    def __str__(self) -> str:
        """Its beginning, and whose it is."""
        return _("%(hint)s… of %(who)s") % {"hint": self.hint, "who": self.group_name}


class Report(models.Model):
    """A report that was taken: the same id again is the same report, with another content it is a conflict."""

    cluster = models.ForeignKey(Cluster, models.CASCADE, related_name="reports")
    group_name = NameField()
    report_id = NameField()
    digest = models.CharField(max_length=64, help_text="of the body")
    reporter = NameField(blank=True, default="", help_text="the client that reported of itself; empty: a command")
    facts = models.IntegerField()
    stored = models.IntegerField(help_text="how many of its facts said something new")
    at = AtField()

    class Meta:
        """An id once in a group."""

        constraints = [
            models.UniqueConstraint(fields=["cluster", "group_name", "report_id"], name="report_is_taken_once"),
            not_empty("report_id", "report_has_an_id"),
            instant("at", "report_at_is_an_instant"),
            models.CheckConstraint(
                condition=Q(facts__gte=1, stored__gte=0, stored__lte=models.F("facts")), name="report_counts_its_facts"
            ),
        ]
        indexes = [models.Index(fields=["at"], name="report_age")]

    def __str__(self) -> str:
        """Its id, and of which group."""
        return _("%(report)s of %(group)s") % {"report": self.report_id, "group": self.group_name}
