"""A consumer group, and how far its rebalancing has come."""

from __future__ import annotations

from django.db import models
from django.db.models import F, Q

from dashboard.clusters.models import Cluster
from dashboard.common.fields import AtField, choices_of, instant, not_empty, one_of
from dashboard.common.names import NameField
from rebalance_engine.events import Cause
from rebalance_engine.model import MessageModel


class Group(models.Model):
    """A consumer group of one cluster.

    ``inputs_version`` grows with every stored change of what a rebalance is computed from; ``done_version`` is the
    one that the last rebalance saw, and ``fingerprint`` what those inputs came to. ``fence`` grows with every
    rebalance that begins: one that writes under an older fence is late, and is refused. ``due_at`` is when time
    alone will change something. None of the four ever becomes less; triggers hold the three counters to it.

    ``closed_by`` names the brokers that are told to let nobody of it consume, ``popped_by`` those that are set to give
    it topics by POP, with these topics; what was seen of the two before ``settings_seen_at`` says nothing of now.
    ``is_notified`` is False where every broker that has it is told to notify none of its members; NULL: it is not
    known to be so.

    ``disputed_since`` is since when NameServers may disagree on queues of the group, ``disputes`` when they did before.

    The figures from ``member_count`` on are of the last rebalance, for lists of thousands of groups; NULL is
    unknown, never 0.
    """

    cluster = models.ForeignKey(Cluster, models.CASCADE, related_name="groups")
    name = NameField()
    model = models.CharField(max_length=16, null=True, blank=True, choices=choices_of(MessageModel))
    added_at = AtField()
    gone_at = AtField(null=True, blank=True, help_text="since then no broker names it, and nobody is a member")
    closed_by = models.JSONField(default=list, blank=True, help_text="brokers with consumeEnable=false")
    popped_by = models.JSONField(
        null=True, blank=True, help_text="broker -> topics that it is set to give by POP; NULL: none told of any"
    )

    settings_seen_at = models.JSONField(
        null=True, blank=True, help_text="setting -> broker -> when it was looked at last, ms; NULL: never"
    )
    is_notified = models.BooleanField(
        null=True, blank=True, help_text="False: notifyConsumerIdsChangedEnable=false at every broker that has it"
    )

    inputs_version = models.BigIntegerField(default=0)
    done_version = models.BigIntegerField(default=0)
    fingerprint = models.CharField(max_length=40, blank=True, default="")
    fence = models.BigIntegerField(default=0)
    due_at = AtField(null=True, blank=True)

    strategy = models.TextField(blank=True, default="", help_text="what the target was computed by; empty is unknown")
    is_strategy_assumed = models.BooleanField(default=True, help_text="no member told its strategy")
    rebalanced_at = AtField(null=True, blank=True)
    member_count = models.IntegerField(null=True, blank=True)
    queue_count = models.IntegerField(null=True, blank=True)
    silent_count = models.IntegerField(null=True, blank=True)
    unasked_count = models.IntegerField(null=True, blank=True, help_text="of the silent ones, those not asked yet")
    proxied_count = models.IntegerField(
        null=True, blank=True, help_text="of the silent ones, those that seem to come through a proxy: they own nothing"
    )
    popping_count = models.IntegerField(
        null=True, blank=True, help_text="members that take messages by POP, from queues that nobody owns"
    )
    partial_count = models.IntegerField(
        null=True, blank=True, help_text="members with several connections, of which only one can be asked"
    )
    untold_count = models.IntegerField(null=True, blank=True, help_text="brokers that did not tell who is a member")
    orphan_count = models.IntegerField(null=True, blank=True)
    double_count = models.IntegerField(null=True, blank=True)
    perhaps_twice_count = models.IntegerField(
        null=True, blank=True, help_text="queues that two said to hold, at times that need not overlap; no doubles"
    )
    disputed_count = models.IntegerField(
        null=True, blank=True, help_text="queues that not every NameServer has in its route"
    )
    perhaps_orphan_count = models.IntegerField(
        null=True, blank=True, help_text="of the disputed queues, those that nobody is known to hold; no orphans"
    )
    disputed_since = AtField(null=True, blank=True)
    disputes = models.JSONField(null=True, blank=True, help_text="[[since, until, whether queues went], …]; NULL: none")
    is_converged = models.BooleanField(null=True, blank=True)
    duplicate_messages = models.BigIntegerField(
        null=True,
        blank=True,
        help_text="consumed twice, at least, as both members of handoffs reported; NULL: none did",
    )
    round_number = models.IntegerField(null=True, blank=True)
    round_opened_at = AtField(null=True, blank=True)
    round_closed_at = AtField(null=True, blank=True)
    round_cause = models.CharField(max_length=20, null=True, blank=True, choices=choices_of(Cause))
    round_moves = models.IntegerField(null=True, blank=True)

    class Meta:
        """A cluster has a group's name once; nothing is done before it was asked for."""

        constraints = [
            models.UniqueConstraint(fields=["cluster", "name"], name="group_is_unique"),
            not_empty("name", "group_has_a_name"),
            one_of("model", MessageModel, "group_model_is_known"),
            one_of("round_cause", Cause, "group_round_cause_is_known"),
            instant("added_at", "group_added_at_is_an_instant"),
            models.CheckConstraint(
                condition=Q(done_version__gte=0, done_version__lte=F("inputs_version")),
                name="group_done_is_not_ahead_of_inputs",
            ),
            models.CheckConstraint(condition=Q(fence__gte=0), name="group_fence_is_not_negative"),
        ]
        indexes = [
            models.Index(fields=["id"], name="group_waiting", condition=Q(inputs_version__gt=F("done_version"))),
            models.Index(fields=["due_at"], name="group_due"),
        ]

    def __str__(self) -> str:
        """Its name."""
        return self.name
