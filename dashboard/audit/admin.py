"""The log in the Django admin: to read."""

from django.contrib import admin

from dashboard.audit.models import AuditEntry
from dashboard.common.admin import Observed, Said


@admin.register(AuditEntry)
class AuditEntryAdmin(Observed[AuditEntry]):
    """Entries."""

    list_display = ["number", "when", "author", "verb", "subject"]
    list_filter = [("verb", Said)]
    sayings = ["verb"]
    search_fields = ["author", "subject", "detail"]
    ordering = ["-number"]
