"""Queue locks that brokers refused to members of orderly groups, as logs and reports tell."""

from __future__ import annotations

from django.db import models
from django.db.models import Q

from dashboard.common.fields import Sourced, not_empty, sourced_constraints
from dashboard.common.names import NameField
from dashboard.groups.models.group import Group


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
            *sourced_constraints("lock_refusal"),
        ]

    def __str__(self) -> str:
        """Who was refused what."""
        return f"{self.client_id}: {self.topic}/{self.broker}/{self.queue_id}"
