"""Tables that people write in the Django admin: each change with a reason, and an entry of the log at once."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import ClassVar, NamedTuple, TypeVar

from django import forms
from django.contrib import messages
from django.db import models, transaction
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, override

from dashboard.audit.operations import append
from dashboard.common.admin import Addressed
from dashboard.common.clock import now_ms
from dashboard.common.fields import printable

LONGEST_REASON = 500
CHANGED = "changed"  # instead of what is about a person and stays nobody's for ever
M = TypeVar("M", bound=models.Model)


class Reasoned(forms.Form):
    """A form that asks why."""

    reason = forms.CharField(
        label=gettext_lazy("Reason"),
        max_length=LONGEST_REASON,
        widget=forms.Textarea(attrs={"rows": 2, "class": "vLargeTextField"}),
        help_text=gettext_lazy("It stands in the audit log."),
    )


class Verbs(NamedTuple):
    """What stands in the log for adding, changing and deleting a row."""

    add: str
    change: str
    delete: str


class Audited(Addressed[M]):
    """Rows that people add, change and delete, one at a time. Its form is a ``Reasoned`` one.

    ``told`` are the columns that stand in each entry, changed or not; of ``personal`` ones only that they changed.
    """

    verbs: ClassVar[Verbs]
    told: ClassVar[Sequence[str]] = ()
    personal: ClassVar[frozenset[str]] = frozenset()
    delete_confirmation_template = "admin/delete_with_reason.html"

    def subject_of(self, row: M) -> str:
        """Name the object of an entry."""
        return str(row)

    def save_related(
        self,
        request: HttpRequest,
        form: forms.BaseModelForm[M],
        formsets: Iterable[forms.BaseFormSet[forms.ModelForm[M]]],
        change: bool,
    ) -> None:
        """Save the last of it, and say what is different; nothing where nothing is."""
        super().save_related(request, form, formsets, change)
        with override("en"):  # as all of it is kept, whoever reads it
            different = self._different(form, change=change)
        if change and not different:
            return
        detail = {**{name: _plain(getattr(form.instance, name)) for name in self.told}, **different}
        verb = self.verbs.change if change else self.verbs.add
        self.note(request, verb, form.instance, form.cleaned_data["reason"], detail)

    def _different(self, form: forms.BaseModelForm[M], *, change: bool) -> dict[str, object]:
        """Give what is written: of each column, or of a change of those that it changes what they were as well.

        Read from the row, not from what the form was sent of what it was: that anybody can write.
        """
        written = {field.name for field in (*self.opts.fields, *self.opts.many_to_many)} & form.cleaned_data.keys()
        told: dict[str, object] = {}
        for name in sorted(written):
            before, after = _plain(_initial(form, name)) if change else None, _plain(form.cleaned_data[name])
            if before == after or (not change and after in ("", [])):
                continue
            told[name] = {"before": before, "after": after} if change else after
            if name in self.personal:
                told[name] = CHANGED
        return told

    def has_delete_permission(self, request: HttpRequest, obj: M | None = None) -> bool:
        """One at a time: each needs a reason of its own."""
        return obj is not None and super().has_delete_permission(request, obj)

    def delete_view(
        self, request: HttpRequest, object_id: str, extra_context: dict[str, object] | None = None
    ) -> HttpResponse:
        """Ask for the reason, and insist on it."""
        if request.method == "POST" and not _reason_in(request):
            messages.error(request, _("It needs a reason: whoever reads the audit log wants to know why."))
            return redirect(request.get_full_path())
        return super().delete_view(request, object_id, {"longest_reason": LONGEST_REASON, **(extra_context or {})})

    def delete_model(self, request: HttpRequest, obj: M) -> None:
        """Delete it, and say so first: what goes with it is known before."""
        with transaction.atomic():
            self.note_end(request, obj, _reason_in(request))
            super().delete_model(request, obj)

    def note_end(self, request: HttpRequest, row: M, reason: str) -> None:
        """Say that a row is deleted, and how many of which kind go with it."""
        detail = {name: _plain(getattr(row, name)) for name in self.told}
        with override("en"):  # as all of it is kept; the page puts into the reader's language what it can
            counts = super().get_deleted_objects([row], request)[1]
            gone = {str(kind): count for kind, count in counts.items() if kind != self.opts.verbose_name_plural}
        self.note(request, self.verbs.delete, row, reason, {**detail, "deleted with it": gone})

    def note(self, request: HttpRequest, verb: str, row: M, reason: str, detail: Mapping[str, object]) -> None:
        """Append an entry."""
        append(
            at=now_ms(),
            author=request.user.get_username(),
            verb=verb,
            subject=self.subject_of(row),
            detail={"reason": printable(reason).strip()[:LONGEST_REASON], **detail},
        )


def _reason_in(request: HttpRequest) -> str:
    return printable(request.POST.get("reason", "")).strip()


def _initial(form: forms.BaseModelForm[M], name: str) -> object:
    """Give what a field had; of one that names a row its name, as of what it has now."""
    had, field = form.initial.get(name), form.fields[name]
    if isinstance(field, forms.ModelChoiceField) and not isinstance(field, forms.ModelMultipleChoiceField):
        return field.queryset.filter(pk=had).first() if field.queryset is not None else had
    return had


def _plain(value: object) -> object:
    """Make of a column what JSON can have."""
    if value is None or isinstance(value, bool | int | str):
        return value
    if isinstance(value, datetime):
        return value.isoformat(timespec="seconds")  # as forms have it
    if isinstance(value, Iterable):
        return sorted(str(each) for each in value)
    return str(value)
