"""Clusters, their brokers, topics and queues, and what each NameServer says of them."""

from __future__ import annotations

from django.db import models
from django.db.models import Q
from django.utils.translation import gettext as _

from dashboard.common.fields import AtField, Sourced, in_order, instant, not_empty, sourced_constraints
from dashboard.common.names import NameField
from rebalance_engine.events.shapes import ANY_QUEUE
from rebalance_engine.model import MAX_QUEUE_ID, MessageQueue

READABLE = 4  # ``PermName.PERM_READ``


class Cluster(models.Model):
    """One RocketMQ cluster, and the lease of the one watcher that may look after it.

    ``lease_epoch`` grows with every holder: what a watcher states under an older epoch is refused. A cluster whose
    lease has no holder any more is put aside: nobody is to watch it, so that pages show it only to whoever asks for it.
    """

    name = NameField(unique=True)
    namesrv = models.TextField(help_text="host:port of each NameServer, separated by semicolons")
    is_demo = models.BooleanField(default=False)
    is_read_only = models.BooleanField(default=True)
    added_at = AtField()
    lease_holder = models.TextField(blank=True, default="")
    lease_epoch = models.BigIntegerField(default=0)
    lease_until = AtField(default=0)
    watched_at = AtField(null=True, blank=True, help_text="when anything of it answered last")

    class Meta:
        """Names are unique; a lease has a holder."""

        constraints = [
            not_empty("name", "cluster_has_a_name"),
            not_empty("namesrv", "cluster_has_a_namesrv"),
            instant("added_at", "cluster_added_at_is_an_instant"),
            models.CheckConstraint(condition=Q(lease_epoch__gte=0), name="cluster_lease_epoch_is_not_negative"),
            models.CheckConstraint(
                condition=Q(lease_until=0) | ~Q(lease_holder="") & Q(lease_epoch__gte=1),
                name="cluster_lease_has_a_holder",
            ),
        ]

    def __str__(self) -> str:
        """Its name."""
        return self.name

    @property
    def is_aside(self) -> bool:
        """Whether it was put aside; ``ASIDE`` asks the same of rows."""
        return self.lease_epoch > 0 and not self.lease_holder


ASIDE = Q(lease_epoch__gt=0, lease_holder="")


class Broker(Sourced):
    """One broker process: a master (``broker_id`` 0) or a slave; gone since ``gone_at`` where that is set.

    ``absences`` are those that ended, the last ones: [gone at, back at], as they were seen.
    """

    cluster = models.ForeignKey(Cluster, models.CASCADE, related_name="brokers")
    name = NameField()
    broker_id = models.BigIntegerField()
    address = models.TextField()
    version = models.TextField(blank=True, default="", help_text="empty is unknown")
    gone_at = AtField(null=True, blank=True)
    absences = models.JSONField(null=True, blank=True, help_text="[[gone at, back at], …], the last ones; NULL: none")

    class Meta:
        """A cluster has a broker's id once."""

        constraints = [
            models.UniqueConstraint(fields=["cluster", "name", "broker_id"], name="broker_is_unique"),
            not_empty("name", "broker_has_a_name"),
            not_empty("address", "broker_has_an_address"),
            models.CheckConstraint(condition=Q(broker_id__gte=0), name="broker_id_is_not_negative"),
            in_order("at", "gone_at", "broker_goes_after_it_came"),
            *sourced_constraints("broker"),
        ]

    def __str__(self) -> str:
        """Its name and id."""
        return f"{self.name}:{self.broker_id}"


class Topic(models.Model):
    """A topic of a cluster.

    ``division`` is another text, used once, whenever the queues that consumers divide are others: what was computed
    from these queues may be kept under it. Empty where nothing is known of its route yet. ``unrouted_by`` are the
    NameServers that said last that they have no route of it.

    NameServers are asked for topics that some group consumes. ``unused_since`` is since when nothing kept here refers
    to it, as retention found: what is stored of its route and queues grows old from then on.
    """

    cluster = models.ForeignKey(Cluster, models.CASCADE, related_name="topics")
    name = NameField()
    division = models.CharField(max_length=32, blank=True, default="")
    unrouted_by = models.JSONField(default=list, blank=True)
    unused_since = AtField(null=True, blank=True)

    class Meta:
        """A cluster has a name once."""

        constraints = [
            models.UniqueConstraint(fields=["cluster", "name"], name="topic_is_unique"),
            not_empty("name", "topic_has_a_name"),
            instant("unused_since", "topic_unused_since_is_an_instant"),
        ]

    def __str__(self) -> str:
        """Its name."""
        return self.name


class Route(Sourced):
    """What one NameServer says of one topic on one broker. NameServers that differ have rows that differ.

    ``broker`` is a name, not a row: routes name brokers that nobody has seen. The NameServer is the one of the
    source; where a source tells no address, it is empty.
    """

    topic = models.ForeignKey(Topic, models.CASCADE, related_name="routes")
    namesrv = models.TextField(blank=True, default="")
    broker = NameField()
    read_queues = models.BigIntegerField()
    write_queues = models.BigIntegerField()
    permission = models.SmallIntegerField()
    has_master = models.BooleanField()

    class Meta:
        """A NameServer says one thing of a topic on a broker."""

        constraints = [
            models.UniqueConstraint(fields=["topic", "namesrv", "broker"], name="route_is_unique"),
            models.CheckConstraint(condition=Q(read_queues__range=(0, MAX_QUEUE_ID)), name="route_read_queues_fit"),
            models.CheckConstraint(condition=Q(write_queues__range=(0, MAX_QUEUE_ID)), name="route_write_queues_fit"),
            models.CheckConstraint(condition=Q(permission__range=(0, 15)), name="route_permission_is_known"),
            not_empty("broker", "route_has_a_broker"),
            *sourced_constraints("route"),
        ]

    def __str__(self) -> str:
        """What it says, in short."""
        told = {"topic": self.topic_id, "broker": self.broker, "n": self.read_queues}
        return _("%(topic)s on %(broker)s: %(n)s") % told

    @property
    def readable_queues(self) -> int:
        """How many queues consumers divide: none without a master or the permission to read."""
        return self.read_queues if self.has_master and self.permission & READABLE else 0


class Queue(models.Model):
    """One queue that is, or was, in some route since ``since``; ``gone_at`` is set while it is in none.

    It went between ``gone_low`` (NULL: unknown) and ``gone_at``. ``absences`` are those that ended, the last ones, as
    it was seen: not before when it went, when it was gone; not before when it came, when it was back. ``came_at`` is
    when it was first known, in a route or as somebody's; no return changes that.
    """

    topic = models.ForeignKey(Topic, models.CASCADE, related_name="queues")
    broker = NameField()
    queue_id = models.BigIntegerField()
    since = AtField()
    came_at = AtField(null=True, blank=True, help_text="when it was first known; NULL: nobody kept it")
    gone_at = AtField(null=True, blank=True)
    gone_low = AtField(null=True, blank=True)
    absences = models.JSONField(
        null=True, blank=True, help_text="[[gone low, gone at, back low, back at], …], the last ones; NULL: none"
    )

    class Meta:
        """A topic has a queue id once on each broker."""

        constraints = [
            models.UniqueConstraint(fields=["topic", "broker", "queue_id"], name="queue_is_unique"),
            models.CheckConstraint(condition=Q(queue_id__range=(ANY_QUEUE, MAX_QUEUE_ID)), name="queue_id_fits"),
            not_empty("broker", "queue_has_a_broker"),
            instant("since", "queue_since_is_an_instant"),
            in_order("since", "gone_at", "queue_goes_after_it_came"),
            in_order("gone_low", "gone_at", "queue_gone_bounds_are_in_order"),
        ]

    def __str__(self) -> str:
        """As ``topic/broker/id``."""
        return f"{self.topic.name}/{self.broker}/{self.queue_id}"

    @property
    def message_queue(self) -> MessageQueue:
        """The engine's name of it."""
        return MessageQueue(self.topic.name, self.broker, self.queue_id)
