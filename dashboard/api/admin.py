"""Tokens of people in the Django admin: to read. They are made and revoked on their page, which shows them once."""

from django.contrib import admin
from django.utils.translation import gettext as _

from dashboard.api.models import ApiToken
from dashboard.common.admin import Observed, in_utc, instant
from dashboard.common.naming.columns import COLUMNS


@admin.register(ApiToken)
class ApiTokenAdmin(Observed[ApiToken]):
    """Tokens, by their beginning: the whole ones are nowhere."""

    list_display = ["hint", "user", "note", "is_read_only", "made", "used", "expires"]
    list_filter = ["is_read_only", ("revoked_at", admin.EmptyFieldListFilter)]
    search_fields = ["hint", "user__username", "note"]
    ordering = ["-pk"]
    exclude = ["digest"]

    @admin.display(description=in_utc(COLUMNS["made_at"]), ordering="made_at")
    def made(self, row: ApiToken) -> str:
        """Write when it was made."""
        return instant(row.made_at)

    @admin.display(description=in_utc(COLUMNS["used_at"]), ordering="used_at")
    def used(self, row: ApiToken) -> str:
        """Write when it was last used."""
        return _("never") if row.used_at is None else instant(row.used_at)

    @admin.display(description=in_utc(COLUMNS["expires_at"]), ordering="expires_at")
    def expires(self, row: ApiToken) -> str:
        """Write how long it is good."""
        return instant(row.expires_at)
