"""The audit log's one table. Triggers refuse to change or delete its rows, whoever asks."""

from __future__ import annotations

from django.db import models
from django.db.models import Q

from dashboard.common.fields import AtField, instant, not_empty
from dashboard.common.naming.values import said


class AuditEntry(models.Model):
    """One thing that somebody did. ``digest`` covers all other columns and the digest of the entry before."""

    number = models.BigIntegerField(unique=True)
    at = AtField()
    author = models.TextField()
    verb = models.CharField(max_length=60)
    subject = models.TextField(blank=True, default="")
    detail = models.TextField(blank=True, default="", help_text="JSON, byte for byte as it was digested")
    previous = models.CharField(max_length=64)
    digest = models.CharField(max_length=64, unique=True)

    class Meta:
        """Numbered from 1, with an author and a verb."""

        verbose_name_plural = "audit entries"
        constraints = [
            models.CheckConstraint(condition=Q(number__gte=1), name="audit_number_is_from_1"),
            models.UniqueConstraint(fields=["previous"], name="audit_chain_does_not_fork"),
            not_empty("author", "audit_has_an_author"),
            not_empty("verb", "audit_has_a_verb"),
            instant("at", "audit_at_is_an_instant"),
        ]

    def __str__(self) -> str:
        """Who did what."""
        return f"{self.number}: {self.author} {said(self.verb)} {self.subject}"
