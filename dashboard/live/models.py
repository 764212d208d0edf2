"""What somebody looks at: the watcher looks there first."""

from __future__ import annotations

from django.db import models

from dashboard.common.fields import AtField, not_empty


class Follow(models.Model):
    """A stream that at least one browser follows, or did until a moment ago."""

    stream = models.CharField(max_length=100, unique=True)
    until = AtField()

    class Meta:
        """A stream once."""

        constraints = [not_empty("stream", "follow_has_a_stream")]
        indexes = [models.Index(fields=["until"], name="follow_now")]

    def __str__(self) -> str:
        """The stream."""
        return self.stream
