"""Lists in the Django admin: rows that were observed are read there, not written."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TypeVar

from django.contrib import admin
from django.db import models
from django.http import HttpRequest

M = TypeVar("M", bound=models.Model)


def instant(value: int | None) -> str:
    """Write an instant for a person; None is unknown."""
    if value is None:
        return "unknown"
    return datetime.fromtimestamp(value / 1000, UTC).isoformat(sep=" ", timespec="milliseconds").removesuffix("+00:00")


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

    @admin.display(description="at (UTC)", ordering="at")
    def when(self, row: M) -> str:
        """Write a row's instant for a person."""
        return instant(getattr(row, "at", None))
