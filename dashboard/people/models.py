"""What people were given, and how often somebody tried. The people themselves are Django's users."""

from __future__ import annotations

from django.conf import settings
from django.db import models
from django.utils.translation import gettext as _

from dashboard.common.fields import AtField, choices_of, not_empty, one_of
from dashboard.people.roles import Role


class Grant(models.Model):
    """A role for one person, in the clusters and groups whose names fit the two patterns (``*`` and ``?``)."""

    user = models.ForeignKey(settings.AUTH_USER_MODEL, models.CASCADE, related_name="grants")
    role = models.CharField(max_length=16, choices=choices_of(Role))
    clusters = models.CharField(max_length=200, default="*", help_text="pattern of cluster names: * is any text")
    groups = models.CharField(max_length=200, default="*", help_text="pattern of group names: * is any text")

    class Meta:
        """A role that exists, somewhere; the same grant once."""

        constraints = [
            one_of("role", Role, "grant_role_is_known"),
            not_empty("clusters", "grant_names_clusters"),
            not_empty("groups", "grant_names_groups"),
            models.UniqueConstraint(fields=["user", "role", "clusters", "groups"], name="grant_is_unique"),
        ]

    def __str__(self) -> str:
        """Who may be what, and where."""
        given = {"user": self.user, "role": self.role, "clusters": self.clusters, "groups": self.groups}
        return _("%(user)s: %(role)s of %(clusters)s / %(groups)s") % given


class Attempt(models.Model):
    """Somebody tried something that is limited; ``key`` is a digest of what is counted together."""

    key = models.CharField(max_length=64)
    at = AtField()

    class Meta:
        """Counted by key and time."""

        constraints = [not_empty("key", "attempt_has_a_key")]
        indexes = [
            models.Index(fields=["key", "at"], name="attempt_count"),
            models.Index(fields=["at"], name="attempt_age"),
        ]

    def __str__(self) -> str:
        """The beginning of the digest."""
        return self.key[:8]
