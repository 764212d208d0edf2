"""The room's table in the Django admin: versions are added there too, by the same operation as on the page."""

from __future__ import annotations

from django import forms
from django.contrib import admin
from django.core.exceptions import ValidationError
from django.db.models import QuerySet
from django.http import HttpRequest
from django.utils.translation import gettext_lazy

from dashboard.common.admin import Observed
from dashboard.common.clock import now_ms
from dashboard.common.sayings import in_words
from dashboard.groups.queries import look_at
from dashboard.plans import assignments
from dashboard.plans.assignments import Assignment, BadAssignment
from dashboard.plans.checks import Check, check, refusals, to_acknowledge
from dashboard.plans.models import ByConfig
from dashboard.plans.operations import LONGEST_REASON, Conflict, Draft, Unchanged, publish
from dashboard.plans.queries import former_members, latest

ASKED = ("group", "base", "document", "reason", "is_read")
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
    is_read = forms.BooleanField(required=False, label=gettext_lazy("I have read what the checks warn of"))

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
        wrong = [each.words for each in refusals(checks)]
        unread = [] if given["is_read"] else [each.words for each in to_acknowledge(checks)]
        if wrong or unread:
            raise ValidationError([*wrong, *unread])
        return given

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

    def get_fields(  # type: ignore[override]  # as those of ``InWords``: Django's may nest
        self,
        request: HttpRequest,  # noqa: ARG002 - Django's name
        obj: ByConfig | None = None,
    ) -> list[str]:
        """Ask for what a new version needs; show all of one that is kept."""
        return [*ASKED] if obj is None else [*KEPT]

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
