"""Tokens with which a person's programs use the API."""

from __future__ import annotations

from django.conf import settings
from django.db import models
from django.db.models import F, Q
from django.utils.translation import gettext as _

from dashboard.common.fields import AtField, in_order, instant


class ApiToken(models.Model):
    """A token of one person: whoever has it may do what that person may, or only read. Only its digest is kept.

    ``hint`` is its beginning, by which a person knows it again. ``used_at`` is exact to a minute.
    """

    user = models.ForeignKey(settings.AUTH_USER_MODEL, models.CASCADE, related_name="api_tokens")
    digest = models.CharField(max_length=64, unique=True)
    hint = models.CharField(max_length=16)
    note = models.CharField(max_length=200, blank=True, default="")
    is_read_only = models.BooleanField(default=True)
    made_at = AtField()
    expires_at = AtField()
    used_at = AtField(null=True, blank=True)
    revoked_at = AtField(null=True, blank=True)

    class Meta:
        """A digest once; an end is after the beginning."""

        constraints = [
            instant("made_at", "api_token_made_at_is_an_instant"),
            in_order("made_at", "revoked_at", "api_token_is_revoked_after_it_was_made"),
            models.CheckConstraint(
                condition=Q(expires_at__gt=F("made_at")), name="api_token_expires_after_it_was_made"
            ),
        ]

    def __str__(self) -> str:
        """Its beginning, and whose it is."""
        return _("%(hint)s… of %(who)s") % {"hint": self.hint, "who": self.user}
