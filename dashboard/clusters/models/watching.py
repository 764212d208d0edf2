"""How the watcher of a cluster is doing, by its own word."""

from __future__ import annotations

from django.db import models
from django.utils.translation import gettext as _

from dashboard.clusters.models.routes import Cluster
from dashboard.common.fields import AtField, instant


class Watch(models.Model):
    """The last report of a cluster's watcher; the columns are those of ``rebalance_engine.network.watcher.Health``.

    NULL is unknown: no sweep has ended yet, nobody told what it holds. ``silent`` has the attributes of
    ``rebalance_engine.network.watcher.silence.Silent``, 50 at most.
    """

    cluster = models.OneToOneField(Cluster, models.CASCADE, related_name="watch")
    at = AtField()
    epoch = models.BigIntegerField(default=0)
    sweep = models.BigIntegerField(default=0)
    sweep_began_at = AtField(null=True, blank=True)
    sweep_ended_at = AtField(null=True, blank=True)
    sweep_took_ms = models.BigIntegerField(null=True, blank=True)
    sweep_missed = models.IntegerField(default=0, help_text="what the last whole sweep did not get to")
    sweep_unanswered = models.IntegerField(default=0, help_text="what the last whole sweep asked in vain")
    calls = models.BigIntegerField(default=0)
    missed = models.BigIntegerField(default=0)
    facts = models.BigIntegerField(default=0)
    brokers = models.IntegerField(default=0)
    groups = models.IntegerField(default=0)
    members = models.IntegerField(default=0)
    unknown = models.IntegerField(default=0)
    viewed = models.IntegerField(default=0)
    resting = models.IntegerField(default=0, help_text="clients that did not answer, and are left alone for a while")
    lists_at = AtField(null=True, blank=True, help_text="every member list was told then or later, and is stored")
    routes_at = AtField(null=True, blank=True, help_text="every route was told then or later, and is stored")
    oldest_held_at = AtField(null=True, blank=True)
    waiting = models.IntegerField(default=0)
    answered_at = AtField(null=True, blank=True, help_text="when any server answered last; NULL is never")
    silent = models.JSONField(default=list, blank=True, help_text="servers that do not answer, since when, and why")
    queued = models.IntegerField(default=0, help_text="batches of facts that wait to be stored")

    class Meta:
        """An instant is one."""

        verbose_name_plural = "watches"
        constraints = [instant("at", "watch_at_is_an_instant")]

    def __str__(self) -> str:
        """Which cluster."""
        return _("watcher of %(cluster)s") % {"cluster": self.cluster}
