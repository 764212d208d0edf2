"""Tokens and reports in the Django admin: to read. Tokens are made and revoked on their page, which shows them once."""

from django.contrib import admin
from django.utils.translation import gettext as _

from dashboard.common.admin import Observed, in_utc, instant
from dashboard.common.naming.columns import COLUMNS
from dashboard.reports.models import Report, ReportToken


@admin.register(ReportToken)
class ReportTokenAdmin(Observed[ReportToken]):
    """Tokens, by their beginning: the whole ones are nowhere."""

    list_display = ["hint", "cluster", "group_name", "note", "made_by", "made", "used", "revoked_by"]
    list_filter = ["cluster"]
    search_fields = ["hint", "group_name", "note", "made_by"]
    ordering = ["-pk"]
    exclude = ["digest"]

    @admin.display(description=in_utc(COLUMNS["made_at"]), ordering="made_at")
    def made(self, row: ReportToken) -> str:
        """Write when it was made."""
        return instant(row.made_at)

    @admin.display(description=in_utc(COLUMNS["used_at"]), ordering="used_at")
    def used(self, row: ReportToken) -> str:
        """Write when it was last used."""
        return _("never") if row.used_at is None else instant(row.used_at)


@admin.register(Report)
class ReportAdmin(Observed[Report]):
    """Reports that were taken."""

    list_display = ["report_id", "when", "cluster", "group_name", "reporter", "facts", "stored"]
    list_filter = ["cluster"]
    search_fields = ["report_id", "group_name", "reporter"]
    ordering = ["-pk"]
