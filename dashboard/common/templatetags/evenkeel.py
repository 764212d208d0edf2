"""Filters for times and figures; and the mark that says where a figure comes from."""

from __future__ import annotations

from django import template
from django.templatetags.static import static
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _

from dashboard.common import spans

register = template.Library()


@register.filter
def span(ms: int | None) -> str:
    """Write a duration."""
    return spans.span(ms)


@register.filter
def clock(ms: int | None) -> str:
    """Write a time of day."""
    return spans.clock(ms)


@register.filter
def clock_s(ms: int | None) -> str:
    """Write a time of day in seconds."""
    return spans.clock(ms, millis=False)


@register.filter
def until(since: int, ms: int) -> str:
    """Write how long it took."""
    return spans.span(ms - since)


@register.filter
def split_words(text: str) -> list[str]:
    """Split at spaces."""
    return text.split()


@register.simple_tag
def stylesheet(name: str) -> str:
    """Give the address of a stylesheet."""
    return static(f"css/{name}.css")


@register.filter
def day(ms: int) -> str:
    """Write a date."""
    return spans.day(ms)


@register.simple_tag
def moment(ms: int | None) -> SafeString:
    """Write an instant, whole for machines and for whoever points at it."""
    if ms is None:
        return format_html('<span class="dim">{}</span>', "–")
    return format_html('<time datetime="{0}T{1}Z" title="{0} {1} UTC">{1}</time>', spans.day(ms), spans.clock(ms))


@register.simple_tag
def figure(value: object, mark: str = "exact", note: str = "") -> SafeString:
    """Write a figure with its mark: exact, bound, estimate or unknown. ``None`` is unknown, whatever the mark."""
    if value is None:
        return format_html(
            '<span class="fig" data-mark="unknown" title="{}" tabindex="0">–</span>', note or _("unknown")
        )
    return format_html('<span class="fig" data-mark="{}" title="{}" tabindex="0">{}</span>', mark, note, value)


@register.simple_tag
def between(low: int | None, high: int | None, note: str = "") -> SafeString:
    """Write a duration between two bounds."""
    words, mark = spans.between(low, high)
    return figure(None if mark == "unknown" else words, mark, note)
