"""The room's tables in the Django admin."""

from django.contrib import admin

from dashboard.common.admin import Lately, Observed
from dashboard.push.models import Step, Stream


@admin.register(Stream)
class StreamAdmin(Observed[Stream]):
    """Streams."""

    list_display = ["name", "seq", "when"]
    list_filter = [Lately]
    search_fields = ["name"]
    exclude = ["state"]


@admin.register(Step)
class StepAdmin(Observed[Step]):
    """Steps."""

    list_display = ["stream", "seq", "when"]
    list_filter = [Lately]
    search_fields = ["stream__name"]
    list_select_related = ["stream"]
    exclude = ["body"]
