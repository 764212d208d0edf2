"""Producers: those that brokers know, and what is known of one and one broker: latency, and whether it backs away."""

from __future__ import annotations

from django.db import models
from django.db.models import Q
from django.utils.translation import gettext as _

from dashboard.clusters.models.routes import Cluster
from dashboard.common.fields import AtField, Sourced, choices_of, in_order, not_empty, one_of, sourced_constraints
from dashboard.common.names import NameField
from rebalance_engine.events import Missing, SendOutcome


class ProducerList(Sourced):
    """When a broker last told which producers it knows (328); ``missing`` says why it did not, since ``missing_at``.

    A broker older than 4.9.4 cannot tell: ``refused``. Then nothing is known of its producers, which is not "none".
    """

    cluster = models.ForeignKey(Cluster, models.CASCADE, related_name="producer_lists")
    broker = NameField()
    missing = models.CharField(max_length=16, null=True, blank=True, choices=choices_of(Missing))
    missing_at = AtField(null=True, blank=True)

    class Meta:
        """A broker has one list."""

        constraints = [
            models.UniqueConstraint(fields=["cluster", "broker"], name="producer_list_is_unique"),
            models.CheckConstraint(
                condition=Q(missing__isnull=True, missing_at__isnull=True)
                | Q(missing__isnull=False, missing_at__isnull=False),
                name="producer_list_missing_has_a_time",
            ),
            one_of("missing", Missing, "producer_list_missing_is_known"),
            not_empty("broker", "producer_list_has_a_broker"),
            *sourced_constraints("producer_list"),
        ]

    def __str__(self) -> str:
        """The broker."""
        return self.broker


class Producer(Sourced):
    """A producer of a group on one broker, as the broker lists it; gone since ``gone_at`` where that is set.

    RocketMQ knows it by its client id within its group: ``address`` is where it connects from now, and another one
    after it has connected anew; one of them where it has several. ``at`` is when it was first listed, ``observed_at``
    when it last was; who was gone and comes back begins anew. An empty group or version is unknown.
    """

    cluster = models.ForeignKey(Cluster, models.CASCADE, related_name="producer_connections")
    broker = NameField()
    group_name = NameField()
    client_id = NameField()
    address = models.TextField()
    language = models.TextField(blank=True, default="")
    version = models.TextField(blank=True, default="")
    gone_at = AtField(null=True, blank=True)

    class Meta:
        """A producer of a group is there once on a broker, wherever it connects from."""

        constraints = [
            models.UniqueConstraint(
                fields=["cluster", "broker", "group_name", "client_id"], name="producer_connection_is_unique"
            ),
            not_empty("broker", "producer_connection_has_a_broker"),
            not_empty("client_id", "producer_connection_has_a_client"),
            in_order("at", "gone_at", "producer_goes_after_it_came"),
            *sourced_constraints("producer_connection"),
        ]

    def __str__(self) -> str:
        """Who, and where."""
        return _("%(who)s at %(broker)s") % {"who": self.client_id, "broker": self.broker}


class ProducerBroker(Sourced):
    """One producer's view of one broker. NULL is unknown: a stock producer reports nothing.

    ``backoff_until`` is the end of the backoff as announced; it is cleared when the producer says that it ended.
    ``sends`` are the last attempts that it told, oldest first: instant, latency in ms, outcome, topic (null: not told),
    and where its report counts them: since, until, and of all that went well least latency, greatest, and how many;
    ``backoffs`` the last backoffs: instant, announced ms, whether for a failure, and when it ended (null: not told).
    Nobody says that a producer ends: ``observed_at`` is when it last said anything, and its age is all that is known.
    """

    cluster = models.ForeignKey(Cluster, models.CASCADE, related_name="producers")
    client_id = NameField()
    broker = NameField()
    latency_ms = models.BigIntegerField(null=True, blank=True)
    latency_at = AtField(null=True, blank=True)
    outcome = models.CharField(max_length=16, null=True, blank=True, choices=choices_of(SendOutcome))
    backoff_ms = models.BigIntegerField(null=True, blank=True)
    backoff_until = AtField(null=True, blank=True)
    is_isolated = models.BooleanField(null=True, blank=True)
    is_reachable = models.BooleanField(null=True, blank=True)
    sends = models.JSONField(default=list, blank=True)
    backoffs = models.JSONField(default=list, blank=True)

    class Meta:
        """A producer has one view of a broker; a backoff is whole or not there."""

        constraints = [
            models.UniqueConstraint(fields=["cluster", "client_id", "broker"], name="producer_broker_is_unique"),
            models.CheckConstraint(condition=Q(latency_ms__isnull=True) | Q(latency_ms__gte=0), name="latency_is_one"),
            models.CheckConstraint(
                condition=Q(latency_ms__isnull=True, latency_at__isnull=True, outcome__isnull=True)
                | Q(latency_ms__isnull=False, latency_at__isnull=False, outcome__isnull=False),
                name="latency_is_whole",
            ),
            models.CheckConstraint(
                condition=Q(backoff_ms__isnull=True, backoff_until__isnull=True)
                | Q(
                    backoff_ms__isnull=False, backoff_ms__gte=0, backoff_until__isnull=False, is_isolated__isnull=False
                ),
                name="backoff_is_whole",
            ),
            one_of("outcome", SendOutcome, "producer_outcome_is_known"),
            not_empty("client_id", "producer_has_an_id"),
            not_empty("broker", "producer_broker_has_a_name"),
            *sourced_constraints("producer"),
        ]

    def __str__(self) -> str:
        """Who, and of whom."""
        return f"{self.client_id} -> {self.broker}"
