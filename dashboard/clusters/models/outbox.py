"""Lines of the event log on their way to the history files; and what has been stored already."""

from __future__ import annotations

from django.db import models

from dashboard.clusters.models.routes import Cluster
from dashboard.common.fields import AtField, instant, not_empty

DIGEST_BYTES = 20


class OutboxLine(models.Model):
    """One fact as one line, in the order in which facts were stored.

    A fact has exactly one line, so that the digest of the line tells a fact that was stored before. Lines stay for
    a while after they were exported, for that reason alone.
    """

    cluster = models.ForeignKey(Cluster, models.CASCADE, related_name="outbox")
    digest = models.BinaryField(max_length=DIGEST_BYTES)
    at = AtField()
    stored_at = AtField()
    line = models.TextField()
    exported_at = AtField(null=True, blank=True)

    class Meta:
        """A fact is stored once."""

        constraints = [
            models.UniqueConstraint(fields=["cluster", "digest"], name="outbox_line_is_unique"),
            instant("at", "outbox_at_is_an_instant"),
            not_empty("line", "outbox_line_is_not_empty"),
        ]
        indexes = [
            models.Index(fields=["id"], name="outbox_waiting", condition=models.Q(exported_at__isnull=True)),
            models.Index(fields=["exported_at"], name="outbox_exported"),
        ]

    def __str__(self) -> str:
        """The beginning of the line."""
        return self.line[:80]
