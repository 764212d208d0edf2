"""Lists in the Django admin: rows that were observed are read there, not written."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TypeVar

from django.contrib import admin
from django.db import models
from django.http import HttpRequest, HttpResponse
from django.template.response import TemplateResponse

from dashboard.common.clock import now_ms
from dashboard.common.shown import marked

M = TypeVar("M", bound=models.Model)


def instant(value: int | None) -> str:
    """Write an instant for a person; None is unknown."""
    if value is None:
        return "unknown"
    return datetime.fromtimestamp(value / 1000, UTC).isoformat(sep=" ", timespec="milliseconds").removesuffix("+00:00")


class Lately(admin.SimpleListFilter):
    """Rows of the last minutes, hours, days, by their instant."""

    title = "age"
    parameter_name = "lately"
    WITHIN_MS = {"minute": 60_000, "hour": 3_600_000, "day": 86_400_000}

    def lookups(self, request: HttpRequest, model_admin: admin.ModelAdmin[models.Model]) -> list[tuple[str, str]]:  # noqa: ARG002 - Django's names
        """Give what can be chosen."""
        return [(name, f"the last {name}") for name in self.WITHIN_MS]

    def queryset(self, request: HttpRequest, queryset: models.QuerySet[M]) -> models.QuerySet[M]:  # noqa: ARG002 - Django's name
        """Keep those rows."""
        within = self.WITHIN_MS.get(self.value() or "")
        return queryset if within is None else queryset.filter(at__gte=now_ms() - within)


class Observed(admin.ModelAdmin[M]):
    """Rows that facts write: nobody adds, changes or deletes them by hand."""

    list_per_page = 100
    show_full_result_count = False

    def has_add_permission(self, request: HttpRequest) -> bool:  # noqa: ARG002 - Django's name
        """Nobody adds."""
        return False

    def has_change_permission(self, request: HttpRequest, obj: M | None = None) -> bool:  # noqa: ARG002 - Django's name
        """Nobody changes."""
        return False

    def has_delete_permission(self, request: HttpRequest, obj: M | None = None) -> bool:  # noqa: ARG002 - Django's name
        """Nobody deletes."""
        return False

    def changelist_view(self, request: HttpRequest, extra_context: dict[str, object] | None = None) -> HttpResponse:
        """Show the list, with what strangers wrote written out."""
        return _written_out(super().changelist_view(request, extra_context))

    def changeform_view(
        self,
        request: HttpRequest,
        object_id: str | None = None,
        form_url: str = "",
        extra_context: dict[str, object] | None = None,
    ) -> HttpResponse:
        """Show a row, with what strangers wrote written out."""
        return _written_out(super().changeform_view(request, object_id, form_url, extra_context))

    @admin.display(description="at (UTC)", ordering="at")
    def when(self, row: M) -> str:
        """Write a row's instant for a person."""
        return instant(getattr(row, "at", None))


def _written_out(answer: HttpResponse) -> HttpResponse:
    """Write out in a whole page what cannot be seen: Django's lists know nothing of ``shown``."""

    def write(page: HttpResponse) -> None:
        page.content = marked(page.content.decode())

    if isinstance(answer, TemplateResponse):
        answer.add_post_render_callback(write)
    return answer
