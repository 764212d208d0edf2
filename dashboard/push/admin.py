"""The room's tables in the Django admin."""

from django.contrib import admin

from dashboard.common.admin import Lately, Observed
from dashboard.push.models import Server, Step, Stream, Tally


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


@admin.register(Tally)
class TallyAdmin(Observed[Tally]):
    """What is counted."""

    list_display = ["kind", "count"]
    list_filter = ["kind"]
    search_fields = ["kind"]


@admin.register(Server)
class ServerAdmin(Observed[Server]):
    """Processes that serve live pages."""

    list_display = ["process", "sockets", "when"]
    list_filter = [Lately]
    search_fields = ["process"]
