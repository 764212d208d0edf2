"""By-config assignments: what the members of a group were told by hand, version by version."""

from __future__ import annotations

from django.db import models
from django.db.models import Q
from django.utils.translation import gettext as _

from dashboard.common.fields import AtField, instant, not_empty
from dashboard.groups.models import Group


class ByConfig(models.Model):
    """One version of a group's by-config assignment. The latest one holds; none is ever changed.

    ``document`` is JSON in ASCII, as ``assignments.write`` writes it: names may hold what no database takes.
    """

    group = models.ForeignKey(Group, models.CASCADE, related_name="by_config")
    version = models.IntegerField()
    at = AtField()
    author = models.TextField()
    reason = models.TextField()
    document = models.TextField()
    client_count = models.IntegerField()
    queue_count = models.IntegerField()
    acknowledged = models.TextField(blank=True, default="", help_text="what its author was warned of, a line each")

    class Meta:
        """A version once, counted from 1, with an author and a reason."""

        verbose_name = "by-config assignment"
        constraints = [
            models.UniqueConstraint(fields=["group", "version"], name="by_config_version_is_unique"),
            models.CheckConstraint(condition=Q(version__gte=1), name="by_config_version_is_from_1"),
            models.CheckConstraint(
                condition=Q(client_count__gte=0, queue_count__gte=0), name="by_config_counts_are_counts"
            ),
            not_empty("author", "by_config_has_an_author"),
            not_empty("reason", "by_config_has_a_reason"),
            instant("at", "by_config_at_is_an_instant"),
        ]

    def __str__(self) -> str:
        """Which version, by whom."""
        kept = {"version": self.version, "author": self.author, "reason": self.reason}
        return _("%(version)s by %(author)s: %(reason)s") % kept
