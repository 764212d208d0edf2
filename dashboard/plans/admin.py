"""The room's table in the Django admin: versions are added there too, by the same operation as on the page."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any
from urllib.parse import urlencode

from django import forms
from django.contrib import admin
from django.core.exceptions import ValidationError
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils.translation import gettext_lazy

from dashboard.common.admin import Observed
from dashboard.common.clock import now_ms
from dashboard.common.sayings import in_words
from dashboard.groups.models import Group
from dashboard.groups.queries import look_at
from dashboard.plans import assignments
from dashboard.plans.assignments import Assignment, BadAssignment
from dashboard.plans.checks import Check, check, refusals, to_acknowledge
from dashboard.plans.models import ByConfig
from dashboard.plans.operations import LONGEST_REASON, Conflict, Draft, Unchanged, publish
from dashboard.plans.queries import former_members, latest, to_begin_with

LONGEST_KEY = 19  # digits
ASKED = ("group", "base", "document", "reason", "is_read", "listed")
KEPT = ("group", "version", "when", "author", "reason", "document", "acknowledged")


class ByConfigForm(forms.ModelForm[ByConfig]):
    """A new version of a group's by-config assignment."""

    base = forms.IntegerField(
        label=gettext_lazy("Replaces"),
        min_value=0,
        help_text=gettext_lazy("the version that this one replaces; 0 where there is none"),
    )
    reason = forms.CharField(
        label=gettext_lazy("Reason"), max_length=LONGEST_REASON, widget=forms.Textarea(attrs={"rows": 2})
    )
    document = forms.CharField(
        label=gettext_lazy("Document"),
        max_length=assignments.LONGEST,
        widget=forms.Textarea(attrs={"rows": 20, "spellcheck": "false"}),
        help_text=gettext_lazy('JSON: {"client id": ["topic/broker/0-3"]}'),
    )
    is_read = forms.BooleanField(
        required=False,
        label=gettext_lazy("I have read what the checks warn of"),
        help_text=gettext_lazy("each warning is listed here by name first; this accepts those that are listed"),
    )
    listed = forms.CharField(required=False, widget=forms.HiddenInput)  # keys of the warnings that the page has

    class Meta:
        """Who says it and when is not asked."""

        model = ByConfig
        fields = ["group"]

    def clean_document(self) -> str:
        """Insist on an assignment."""
        text: str = self.cleaned_data["document"]
        try:
            assignments.read(text)
        except BadAssignment as bad:
            raise ValidationError([*map(in_words, bad.problems)]) from bad
        return text

    def clean(self) -> dict[str, object]:
        """Insist on what the checks ask for, and on the latest version as the base."""
        given = super().clean() or {}
        if self.errors:
            return given
        checks = self.checks()
        there = latest(group=given["group"].pk)
        if (there.version if there else 0) != given["base"]:
            raise ValidationError(in_words(str(Conflict(there))))
        if there is not None and there.document == assignments.write(self.assignment()):
            raise ValidationError(in_words(str(Unchanged(there))))
        if wrong := refusals(checks):
            self.add_error("document", [each.named for each in wrong])
        self._insist_on_reading(to_acknowledge(checks), listed=given["listed"].split("|"), is_ticked=given["is_read"])
        return given

    def _insist_on_reading(self, warnings: list[Check], *, listed: Collection[str], is_ticked: bool) -> None:
        """List each warning beside the tick; a tick counts for what was listed when it was made."""
        keys = [each.key for each in warnings]
        if is_ticked and {*keys} <= {*listed}:
            return
        self.data = {name: each for name, each in self.data.items() if name != "is_read"} | {"listed": "|".join(keys)}
        if warnings:
            self.add_error("is_read", [each.named for each in warnings])

    def checks(self) -> list[Check]:
        """Look at the assignment, for the group as it is now."""
        group = self.cleaned_data["group"]
        return check(self.assignment(), look_at(group=group).view, former_members(group=group))

    def assignment(self) -> Assignment:
        """Read what was given."""
        return assignments.read(self.cleaned_data["document"])


@admin.register(ByConfig)
class ByConfigAdmin(Observed[ByConfig]):
    """By-config assignments: versions are added, and never changed or deleted."""

    form = ByConfigForm
    add_form_template = "admin/plans/byconfig/add_form.html"
    list_display = ["group", "version", "when", "author", "reason", "client_count", "queue_count"]
    list_filter = ["group__cluster"]
    search_fields = ["group__name", "author", "reason"]
    list_select_related = ["group"]
    autocomplete_fields = ["group"]

    def get_queryset(self, request: HttpRequest) -> QuerySet[ByConfig]:
        """Leave the documents out of lists: each may be large."""
        return super().get_queryset(request).defer("document")

    def has_add_permission(self, request: HttpRequest) -> bool:
        """Whoever has Django's permission for it adds."""
        return request.user.has_perm("plans.add_byconfig")

    def add_view(
        self, request: HttpRequest, form_url: str = "", extra_context: dict[str, object] | None = None
    ) -> HttpResponse:
        """Ask for the group first, then for a version of it, made from what it has."""
        if request.method == "POST" and "document" not in request.POST and "group" in request.POST:
            return redirect(f"{request.path}?{urlencode({'group': request.POST['group']})}")
        asks = {"asks_group": request.method != "POST" and _chosen(request) is None}
        return super().add_view(request, form_url, {**(extra_context or {}), **asks})

    def get_changeform_initial_data(self, request: HttpRequest) -> dict[str, Any]:
        """Begin with the latest version of the group, or with what its members hold."""
        given = super().get_changeform_initial_data(request)
        group = _chosen(request)
        if group is None:
            return given
        base, document = to_begin_with(group=group)
        return {"base": base, "document": document} | given

    def get_fields(  # type: ignore[override]  # as those of ``InWords``: Django's may nest
        self,
        request: HttpRequest,
        obj: ByConfig | None = None,
    ) -> list[str]:
        """Ask for the group, then for what a new version needs; show all of one that is kept."""
        if obj is not None:
            return [*KEPT]
        return [*ASKED] if request.method == "POST" or _chosen(request) is not None else ["group"]

    def get_readonly_fields(self, request: HttpRequest, obj: ByConfig | None = None) -> list[str]:  # noqa: ARG002 - likewise
        """Show what is kept as it is."""
        return [] if obj is None else [*KEPT]

    def save_model(self, request: HttpRequest, obj: ByConfig, form: forms.Form, change: bool) -> None:  # noqa: ARG002 - Django's
        """Keep it by the same operation as on the page: audited, and the group is rebalanced."""
        assert isinstance(form, ByConfigForm)
        given = form.cleaned_data
        draft = Draft(
            assignment=form.assignment(),
            base=given["base"],
            reason=given["reason"],
            acknowledged=[each.key for each in to_acknowledge(form.checks())],
        )
        row = publish(group=given["group"], draft=draft, author=request.user.get_username(), now=now_ms())
        obj.pk, obj.version, obj.author, obj.reason = row.pk, row.version, row.author, row.reason
        obj._state.adding = False


def _chosen(request: HttpRequest) -> Group | None:
    """Give the group that the address names; None: none, or one that there is not."""
    asked = request.GET.get("group", "")
    return Group.objects.filter(pk=int(asked)).first() if asked.isdecimal() and len(asked) < LONGEST_KEY else None
