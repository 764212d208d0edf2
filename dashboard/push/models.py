"""Streams of messages: the whole as it is now, and the last steps that led there."""

from __future__ import annotations

from django.db import models
from django.db.models import Q

from dashboard.common.fields import AtField, instant, not_empty


class Stream(models.Model):
    """What browsers may follow. ``state`` is the whole at ``seq``, where rows elsewhere do not say it: a snapshot.

    It is written in the transaction of the change that it shows. ``seq`` grows by one a step; a trigger holds it.
    """

    name = models.CharField(max_length=100, unique=True)
    seq = models.BigIntegerField(default=0)
    at = AtField(default=0)
    state = models.BinaryField(default=b"")

    class Meta:
        """A state from the first step on."""

        constraints = [
            not_empty("name", "stream_has_a_name"),
            models.CheckConstraint(condition=Q(seq__gte=0), name="stream_seq_is_not_negative"),
        ]

    def __str__(self) -> str:
        """Name and place."""
        return f"{self.name}@{self.seq}"


class Step(models.Model):
    """One message of a stream, as it was sent; kept so that a browser that was away can catch up."""

    stream = models.ForeignKey(Stream, models.CASCADE, related_name="steps")
    seq = models.BigIntegerField()
    at = AtField()
    body = models.BinaryField()

    class Meta:
        """A number once."""

        constraints = [
            models.UniqueConstraint(fields=["stream", "seq"], name="step_is_unique"),
            models.CheckConstraint(condition=Q(seq__gte=1), name="step_seq_is_from_1"),
            models.CheckConstraint(condition=~Q(body=b""), name="step_has_a_body"),
            instant("at", "step_at_is_an_instant"),
        ]
        indexes = [models.Index(fields=["at"], name="step_age")]

    def __str__(self) -> str:
        """Its place."""
        return f"{self.stream_id}@{self.seq}"


class Tally(models.Model):
    """How often something has happened since there is this database; a trigger holds that it never becomes less."""

    kind = models.CharField(max_length=60, unique=True)
    count = models.BigIntegerField(default=0)

    class Meta:
        """A kind, counted from 0."""

        verbose_name_plural = "tallies"
        constraints = [
            not_empty("kind", "tally_has_a_kind"),
            models.CheckConstraint(condition=Q(count__gte=0), name="tally_is_not_negative"),
        ]

    def __str__(self) -> str:
        """What, and how often."""
        return f"{self.kind}: {self.count}"


class Server(models.Model):
    """A process that serves live pages: how many sockets it has open, as it said at ``at``; it says so every 10 s."""

    process = models.CharField(max_length=300, unique=True)
    at = AtField()
    sockets = models.IntegerField()

    class Meta:
        """A process, and what it has."""

        constraints = [
            not_empty("process", "server_has_a_process"),
            instant("at", "server_at_is_an_instant"),
            models.CheckConstraint(condition=Q(sockets__gte=0), name="server_sockets_are_not_negative"),
        ]

    def __str__(self) -> str:
        """Which, and how many."""
        return f"{self.process}: {self.sockets}"
