"""Lists in the Django admin: rows that were observed are read there, not written.

Whatever column of a model holds an instant or a duration is written for people, in lists and rows, by its kind alone.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime
from functools import cache
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar, cast

from django.contrib import admin, messages
from django.contrib.admin.options import BaseModelAdmin, IncorrectLookupParameters
from django.contrib.admin.views.main import ChangeList
from django.core.exceptions import ValidationError
from django.db import DataError, models
from django.http import HttpRequest, HttpResponse
from django.template.response import TemplateResponse
from django.utils.html import format_html
from django.utils.text import format_lazy
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from dashboard.common.clock import now_ms
from dashboard.common.fields import AtField
from dashboard.common.naming.columns import COLUMNS
from dashboard.common.naming.values import said
from dashboard.common.shown import is_cut, marked, shown
from dashboard.common.spans import between, span

if TYPE_CHECKING:
    from django.utils.functional import _StrPromise

LONGEST_SHOWN = 40
LONGEST_LISTED = 64  # letters of a name in a list
NONE = "–"  # where an instant has not come, or a duration is not known
M = TypeVar("M", bound=models.Model)


def instant(value: int | None) -> str:
    """Write an instant for a person; None is unknown."""
    if value is None:
        return _("unknown")
    return datetime.fromtimestamp(value / 1000, UTC).isoformat(sep=" ", timespec="milliseconds").removesuffix("+00:00")


def bounds(low: int | None, high: int | None) -> str:
    """Write a duration between two bounds."""
    return between(low, high)[0]


def lasted(since: int, until: int | None) -> str:
    """Write how long something lasted; what has not ended says how long it goes on."""
    if until is not None:
        return span(until - since)
    return _("%(span)s, goes on") % {"span": span(now_ms() - since)}


def in_utc(name: str | _StrPromise) -> _StrPromise:
    """Head a column of instants."""
    return format_lazy(gettext_lazy("{column} (UTC)"), column=name)


class Lately(admin.SimpleListFilter):
    """Rows of the last minutes, hours, days, by their instant."""

    title = gettext_lazy("age")
    parameter_name = "lately"
    WITHIN_MS = {"minute": 60_000, "hour": 3_600_000, "day": 86_400_000}

    def lookups(self, request: HttpRequest, model_admin: admin.ModelAdmin[models.Model]) -> list[tuple[str, str]]:  # noqa: ARG002 - Django's names
        """Give what can be chosen."""
        return [("minute", _("the last minute")), ("hour", _("the last hour")), ("day", _("the last day"))]

    def queryset(self, request: HttpRequest, queryset: models.QuerySet[M]) -> models.QuerySet[M]:  # noqa: ARG002 - Django's name
        """Keep those rows."""
        within = self.WITHIN_MS.get(self.value() or "")
        return queryset if within is None else queryset.filter(at__gte=now_ms() - within)


class Said(admin.AllValuesFieldListFilter):
    """Rows by what they say; that is stored in English, and read in the reader's language."""

    def choices(self, changelist: ChangeList) -> Iterator[dict[str, object]]:  # type: ignore[override] # as Django has it
        """Give what can be chosen."""
        for each in super().choices(changelist):
            yield {**each, "display": said(str(each["display"]))}


class InWords(BaseModelAdmin[M]):
    """Rows whose instants and durations are read in words; for lists and for what stands inside of others."""

    durations: ClassVar[Sequence[str]] = ()  # columns in ms, besides those whose names say so
    sayings: ClassVar[Sequence[str]] = ()  # columns of English that is read in the reader's language

    def get_fields(self, request: HttpRequest, obj: M | None = None) -> Sequence[str]:  # type: ignore[override]
        """Give what a row shows, likewise; each once, though what is read in words is asked for by name as well."""
        return [*dict.fromkeys(cast("str", self._in_words(name)) for name in super().get_fields(request, obj))]

    def get_readonly_fields(self, request: HttpRequest, obj: M | None = None) -> Sequence[str]:  # type: ignore[override]
        """Nothing is written; what is put into words is no column by which Django would find that itself."""
        named = super().get_readonly_fields(request, obj)
        written = [self._in_words(field.name) for field in self.model._meta.fields]
        return [*named, *(cast("str", each) for each in written if callable(each))]

    def _in_words(self, name: object) -> str | Callable[[M], str]:
        """Give what writes a column, where it is an instant or a duration; else its name."""
        if not isinstance(name, str):
            return cast("Callable[[M], str]", name)
        field = next((each for each in self.model._meta.fields if each.name == name), None)
        if isinstance(field, AtField):
            return _writer(self.model, name, _instant)
        if field is not None and (name.endswith("_ms") or name in self.durations):
            return _writer(self.model, name, _duration)
        if name in self.sayings:
            return _writer(self.model, name, said)
        return name


class Addressed(admin.ModelAdmin[M]):
    """Lists and forms whose addresses anybody may have written: what no column can be breaks no page."""

    def get_changelist_instance(self, request: HttpRequest) -> ChangeList:
        """Read a list. Django catches what no filter takes, but not what the database does not take of it.

        Raises:
            IncorrectLookupParameters: Django leads to the list without what was asked for, then.
        """
        try:
            return super().get_changelist_instance(request)
        except (DataError, OverflowError, TypeError) as error:  # too large a number; text for bytes
            if not request.GET:
                raise
            raise IncorrectLookupParameters(error) from error

    def get_changeform_initial_data(self, request: HttpRequest) -> dict[str, Any]:
        """Give what the address fills in; a row that there cannot be is left out, and that is said."""
        given = super().get_changeform_initial_data(request)
        for name in [name for name, value in given.items() if not _may_be(self.model, name, value)]:
            messages.warning(request, _("Left out: %(name)s=%(value)s names no row.") % _shown(name, given[name]))
            del given[name]
        return given


class Observed(InWords[M], Addressed[M]):
    """Rows that facts write: nobody adds, changes or deletes them by hand."""

    list_per_page = 100
    show_full_result_count = False

    def get_list_display(self, request: HttpRequest) -> Sequence[str | Callable[[M], str]]:  # type: ignore[override]
        """Give the columns, instants and durations in words."""
        return [self._cut(self._in_words(name)) for name in super().get_list_display(request)]

    def _cut(self, name: str | Callable[[M], str]) -> str | Callable[[M], str]:
        """Give what writes a column of names, which may be as long as strangers like; else what is given."""
        field = next((each for each in self.model._meta.fields if each.name == name), None)
        is_name = isinstance(field, models.CharField | models.TextField | models.ForeignKey) and not field.choices
        return _writer(self.model, str(name), _short) if is_name else name

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

    @admin.display(description=in_utc(COLUMNS["at"]), ordering="at")
    def when(self, row: M) -> str:
        """Write a row's instant for a person."""
        return instant(getattr(row, "at", None))


def _instant(at: int | None) -> str:
    return instant(at) if at else NONE


def _short(name: object) -> str | None:
    """Cut a long name in the middle; whoever points at it sees the whole."""
    whole = None if name is None else str(name)
    if whole is None or not is_cut(whole, LONGEST_LISTED):
        return whole
    return format_html('<span title="{}">{}</span>', shown(whole), shown(whole, LONGEST_LISTED))


def _duration(ms: int | None) -> str:
    return NONE if ms is None else span(ms)


@cache
def _writer(
    model: type[models.Model],  # one writer for each column of each table: Django compares them
    name: str,
    write: Callable[[Any], str | None],
) -> Callable[[models.Model], Any]:
    heading = cast("models.Field[object, object]", model._meta.get_field(name)).verbose_name

    @admin.display(description=in_utc(heading) if write is _instant else heading, ordering=name)
    def column(row: models.Model) -> str | None:
        return write(getattr(row, name))

    column.__name__ = name  # by which the page styles it
    return column


def _may_be(model: type[models.Model], name: str, value: object) -> bool:
    """Ask whether a value of an address can be what a column refers to. Other columns say so in their form."""
    field = next((each for each in [*model._meta.fields, *model._meta.many_to_many] if each.name == name), None)
    if field is None or not isinstance(field.related_model, type):
        return True
    key = field.related_model._meta.pk
    try:
        for each in value if isinstance(value, list) else [value]:
            key.clean(each, None)
    except ValidationError:
        return False
    return True


def _shown(name: str, value: object) -> dict[str, str]:
    return {"name": name, "value": shown(",".join(value) if isinstance(value, list) else str(value), LONGEST_SHOWN)}


def _written_out(answer: HttpResponse) -> HttpResponse:
    """Write out in a whole page what cannot be seen: Django's lists know nothing of ``shown``."""

    def write(page: HttpResponse) -> None:
        page.content = marked(page.content.decode())

    if isinstance(answer, TemplateResponse):
        answer.add_post_render_callback(write)
    return answer
