"""What the last looks at a group's offsets on one broker show of messages that do not get on."""

from __future__ import annotations

from django.db import models
from django.utils.translation import gettext as _

from dashboard.common.fields import AtField, instant, not_empty
from dashboard.common.names import NameField
from dashboard.groups.models.group import Group


class Flow(models.Model):
    """What is kept of the looks of the last minutes, besides the last answer itself.

    ``standings`` has one list for each queue in which messages wait: topic, queue id, what is committed, how many wait,
    since when what is committed is the same, and how many waited then (not in old rows). ``retried`` has one list for
    each look: when, where the retry topic ended, and how much of all other topics was committed (null: unknown).
    ``dead`` has one list for each look at the dead-letter topic, on a clock of its own: when, how many messages
    were put there so far, and how many of them are kept. Each is empty while the broker does not answer.
    """

    group = models.ForeignKey(Group, models.CASCADE, related_name="flows")
    broker = NameField()
    at = AtField()
    standings = models.JSONField(default=list, blank=True)
    retried = models.JSONField(default=list, blank=True)
    dead = models.JSONField(default=list, blank=True)

    class Meta:
        """A broker has one."""

        constraints = [
            models.UniqueConstraint(fields=["group", "broker"], name="flow_is_unique"),
            not_empty("broker", "flow_has_a_broker"),
            instant("at", "flow_at_is_an_instant"),
        ]

    def __str__(self) -> str:
        """Which group, where."""
        return _("%(who)s at %(broker)s") % {"who": self.group, "broker": self.broker}
