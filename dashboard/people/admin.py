"""Roles in Django's admin."""

from django.contrib import admin
from django.http import HttpRequest

from dashboard.audit.operations import append
from dashboard.common.admin import Lately, Observed
from dashboard.common.clock import now_ms
from dashboard.people.models import Attempt, Grant


@admin.register(Grant)
class GrantAdmin(admin.ModelAdmin[Grant]):
    """Who may do what, and where; each change is audited."""

    list_display = ("user", "role", "clusters", "groups")
    list_filter = ("role",)
    search_fields = ("user__username", "clusters", "groups")
    autocomplete_fields = ("user",)

    def save_model(self, request: HttpRequest, obj: Grant, form: object, change: bool) -> None:
        """Save, and say so in the audit log."""
        super().save_model(request, obj, form, change)
        _audit(request, obj, "change a role" if change else "grant a role")

    def delete_model(self, request: HttpRequest, obj: Grant) -> None:
        """Take back, and say so in the audit log."""
        _audit(request, obj, "take back a role")
        super().delete_model(request, obj)

    def has_delete_permission(self, request: HttpRequest, obj: Grant | None = None) -> bool:
        """One at a time: deleting many at once would go past the audit log."""
        return obj is not None and super().has_delete_permission(request, obj)


@admin.register(Attempt)
class AttemptAdmin(Observed[Attempt]):
    """What counts against the limits, by digest: whose it was cannot be read from it."""

    list_display = ("key", "when")
    search_fields = ("key",)
    list_filter = (Lately,)


def _audit(request: HttpRequest, grant: Grant, verb: str) -> None:
    detail = {"role": grant.role, "clusters": grant.clusters, "groups": grant.groups}
    append(at=now_ms(), author=request.user.get_username(), verb=verb, subject=grant.user.get_username(), detail=detail)
