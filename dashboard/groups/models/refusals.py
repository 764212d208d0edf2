"""Queue locks that brokers refused to members of orderly groups, and pulls, as logs and reports tell."""

from __future__ import annotations

from django.db import models
from django.db.models import Q

from dashboard.common.fields import AtField, Sourced, in_order, instant, not_empty, sourced_constraints
from dashboard.common.names import NameField
from dashboard.groups.models.group import Group
from rebalance_engine.events.shapes import ANY_QUEUE
from rebalance_engine.model import MAX_QUEUE_ID

QUEUE_ID_FITS = Q(queue_id__range=(ANY_QUEUE, MAX_QUEUE_ID))


class LockRefusal(Sourced):
    """A member was refused the lock of one queue; the row is of the latest time, ``count`` of all since it had it last.

    ``holder`` is who has the lock; empty is unknown, as a client's log does not say it. A lock that is granted, given
    back or expires ends the row.
    """

    group = models.ForeignKey(Group, models.CASCADE, related_name="lock_refusals")
    client_id = NameField()
    topic = NameField()
    broker = NameField()
    queue_id = models.BigIntegerField()
    holder = NameField(blank=True, default="")
    count = models.BigIntegerField(default=1)

    class Meta:
        """A member is refused a queue once at a time."""

        constraints = [
            models.UniqueConstraint(
                fields=["group", "client_id", "topic", "broker", "queue_id"], name="lock_refusal_is_unique"
            ),
            not_empty("client_id", "lock_refusal_has_a_client"),
            models.CheckConstraint(condition=Q(count__gte=1), name="lock_refusal_is_counted"),
            models.CheckConstraint(condition=QUEUE_ID_FITS, name="lock_refusal_queue_id_fits"),
            *sourced_constraints("lock_refusal"),
        ]

    def __str__(self) -> str:
        """Who was refused what."""
        return f"{self.client_id}: {self.topic}/{self.broker}/{self.queue_id}"


class LockGrant(Sourced):
    """Who was granted the lock of a queue last, as reports and broker logs tell; stock members tell it nowhere.

    Giving it back, and a lock that expired, end the row; that it was renewed is not told.
    """

    group = models.ForeignKey(Group, models.CASCADE, related_name="lock_grants")
    client_id = NameField()
    topic = NameField()
    broker = NameField()
    queue_id = models.BigIntegerField()

    class Meta:
        """A queue has one lock."""

        constraints = [
            models.UniqueConstraint(fields=["group", "topic", "broker", "queue_id"], name="lock_grant_is_unique"),
            not_empty("client_id", "lock_grant_has_a_client"),
            models.CheckConstraint(condition=QUEUE_ID_FITS, name="lock_grant_queue_id_fits"),
            *sourced_constraints("lock_grant"),
        ]

    def __str__(self) -> str:
        """Who was granted what."""
        return f"{self.client_id}: {self.topic}/{self.broker}/{self.queue_id}"


class PullRefusal(Sourced):
    """A member was refused to pull from one queue; the row is of the latest time, ``count`` of all since ``since``.

    ``code`` is RocketMQ's. A pull that is answered ends the row, and so does letting the queue go.
    """

    group = models.ForeignKey(Group, models.CASCADE, related_name="pull_refusals")
    client_id = NameField()
    topic = NameField()
    broker = NameField()
    queue_id = models.BigIntegerField()
    code = models.IntegerField()
    since = AtField()
    count = models.BigIntegerField(default=1)

    class Meta:
        """A member is refused a queue once at a time."""

        constraints = [
            models.UniqueConstraint(
                fields=["group", "client_id", "topic", "broker", "queue_id"], name="pull_refusal_is_unique"
            ),
            not_empty("client_id", "pull_refusal_has_a_client"),
            models.CheckConstraint(condition=Q(count__gte=1), name="pull_refusal_is_counted"),
            models.CheckConstraint(condition=QUEUE_ID_FITS, name="pull_refusal_queue_id_fits"),
            in_order("since", "at", "pull_refusal_began_before_its_last"),
            instant("since", "pull_refusal_since_is_an_instant"),
            *sourced_constraints("pull_refusal"),
        ]

    def __str__(self) -> str:
        """Who was refused what."""
        return f"{self.client_id}: {self.topic}/{self.broker}/{self.queue_id}"
