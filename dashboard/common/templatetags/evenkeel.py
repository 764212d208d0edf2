"""Filters for times and figures; and the mark that says where a figure comes from."""

from __future__ import annotations

import re
from collections.abc import Iterable

from django import template
from django.templatetags.static import static
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _

from dashboard.common import spans
from dashboard.common.sayings import in_words
from dashboard.common.shown import is_cut
from dashboard.common.shown import shown as write

register = template.Library()
OF_SYSTEM = re.compile(r"(?P<what>.*) \(\[Errno (?P<number>\d+)\].*", re.DOTALL)  # what a socket says, in English


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
def shown(name: str | None, most: int | None = None) -> str:
    """Write a name from outside, or a sentence with names in it; a longer one is cut in the middle."""
    return "" if name is None else spans.together(write(str(name), most))


@register.filter
def said(sentence: str | None) -> str:
    """Put a sentence that is stored in English into the reader's language."""
    return "" if sentence is None else in_words(str(sentence))


@register.filter
def shown_joined(names: Iterable[str], between: str) -> str:
    """Write names from outside in a row."""
    return between.join(map(write, names))


@register.simple_tag
def ident(name: str | None, most: int = 64) -> SafeString:
    """Write a name from outside as one; whoever points at a cut one sees the whole. None is a dash."""
    if not name:
        return format_html('<span class="dim">{}</span>', "–")
    if not is_cut(name, most):
        return format_html('<bdi class="id">{}</bdi>', write(name))
    return format_html('<bdi class="id" title="{}">{}</bdi>', write(name), write(name, most))


@register.simple_tag
def whole_ident(name: str, most: int = 64) -> SafeString:
    """Write a name from outside as one; a cut one opens to the whole, also without a pointer."""
    if not is_cut(name, most):
        return ident(name, most)
    return format_html(
        '<details class="whole"><summary><bdi class="id">{}</bdi></summary><bdi class="id">{}</bdi></details>',
        write(name, most),
        write(name),
    )


@register.filter
def until(since: int, ms: int) -> str:
    """Write how long it took."""
    return spans.span(ms - since)


@register.simple_tag
def lasts(since: int, now: int) -> SafeString:
    """Write for how long something is so by now; a page that lives counts on (``static/js/views/as-of.js``)."""
    words = _("for %(span)s") % {"span": spans.age(now - since)}
    return format_html('<span class="lasts" data-lasts="{}">{}</span>', since, words)


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
def dated(ms: int | None) -> SafeString:
    """Write an instant with its day. None is a dash."""
    return moment(None) if ms is None else format_html('<span class="dim">{}</span> {}', spans.day(ms), moment(ms))


@register.simple_tag
def instant(at: int | None, low: int | None, high: int | None) -> SafeString:
    """Write an instant with what is known of it: exact, at the latest, at the earliest, or between two."""
    if at is None or (low == at and high == at):
        return format_html(
            '<span class="fig" data-mark="{}">{}</span>', "unknown" if at is None else "exact", moment(at)
        )
    if low is None and high is None:
        return format_html("~\u202f{}", moment(at))
    if low is None:
        return format_html("≤\u202f{}", moment(high))
    if high is None:
        return format_html("≥\u202f{}", moment(low))
    return format_html('<span title="{}">{} – {}</span>', _("between the two"), moment(low), moment(high))


@register.simple_tag
def seen_by(at: int | None, low: int | None, high: int | None) -> SafeString:
    """Write an instant in one figure, for a table: bare where it is exact, else by when it was so at the latest.

    Since when it may have been so is its title. ``high`` None: who had a queue was lost then, and may have it still.
    """
    if at is None or low == at == high:
        return moment(at)
    if high is None and (low is None or low == at):
        return format_html("{}\u202f{}", "~" if low is None else "≥", moment(at))
    if low is None:
        return format_html("≤\u202f{}", moment(high))
    words = (
        _("since %(low)s UTC at the earliest") if high else _("since %(low)s UTC at the earliest; or it lasts still")
    )
    title = words % {"low": spans.clock(low)}
    return format_html('<span title="{}">≤\u202f{}</span>', title, moment(at if high is None else high))


@register.simple_tag
def figure(value: object, mark: str = "exact", note: str = "") -> SafeString:
    """Write a figure with its mark: exact, bound, estimate, unknown or none (does not apply). ``None`` is unknown."""
    if isinstance(value, str):
        value = spans.together(value)
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


@register.simple_tag
def estimate(low: int, high: int | None, note: str = "") -> SafeString:
    """Write a duration that earlier ones let expect."""
    return figure(spans.estimate(low, high), "estimate", note)


@register.filter
def as_sentence(why: str) -> str:
    """Say in a sentence of its own why a server does not answer; of what the system says of it the known part."""
    found = OF_SYSTEM.fullmatch(why)
    words = in_words(why if found is None else found["what"])
    known = {"111": _("connection refused"), "113": _("no route to the host"), "101": _("network unreachable")}
    if found is not None and found["number"] in known:
        words = _("%(what)s (%(why)s)") % {"what": words, "why": known[found["number"]]}
    return _("%(sentence)s.") % {"sentence": words[:1].upper() + words[1:].rstrip(".。")}
