"""Times of pages as people read them. ``static/js/lib/time.js`` writes the same."""

from __future__ import annotations

from datetime import UTC, datetime

from django.utils.translation import gettext as _


def span(ms: int | None) -> str:
    """Write a duration: ``235 ms``, ``4.2 s``, ``44.7 s``, ``1 min 09 s``, ``2 h 05 min``, ``3 d 04 h``."""
    if ms is None:
        return _("unknown")
    ms = max(0, ms)
    if ms < 1_000:
        return f"{ms} ms"
    if ms < 59_950:
        return f"{ms / 1_000:.1f} s"
    seconds = round(ms / 1_000)
    if seconds < 3_600:
        return f"{seconds // 60} min {seconds % 60:02} s"
    if seconds < 86_400:
        return f"{seconds // 3_600} h {seconds % 3_600 // 60:02} min"
    return f"{seconds // 86_400} d {seconds % 86_400 // 3_600:02} h"


def age(ms: int) -> str:
    """Write an age that does not flicker: whole seconds below a minute."""
    return f"{max(0, ms // 1_000)} s" if ms < 60_000 else span(ms)


def clock(ms: int | None, *, millis: bool = True) -> str:
    """Write an instant's time of day in UTC."""
    if ms is None:
        return "–"
    when = datetime.fromtimestamp(ms / 1_000, UTC)
    return when.strftime("%H:%M:%S") + (f".{ms % 1_000:03}" if millis else "")


def day(ms: int) -> str:
    """Write an instant's date in UTC."""
    return datetime.fromtimestamp(ms / 1_000, UTC).strftime("%Y-%m-%d")


def between(low: int | None, high: int | None) -> tuple[str, str]:
    """Write a duration that is known between two bounds (ms), and its mark: exact, bound or unknown.

    Two bounds that read alike are one figure, ``≈ 3 min 56 s``. At least 0, and no upper bound, is no figure.
    """
    if not low and high is None:
        return _("unknown"), "unknown"
    if low == high:
        return span(low), "exact"
    if high is None:
        return f"≥ {span(low)}", "bound"
    if not low:
        return f"≤ {span(high)}", "bound"
    least, most = span(low), span(high)
    return (f"≈ {most}" if least == most else f"{least} – {most}"), "bound"


def estimate(low: int, high: int | None) -> str:
    """Write a duration that is expected, by what earlier ones took: between two bounds, or about so long."""
    if high is None:
        return f"≥ ~ {span(low)}" if low else _("unknown")
    least, most = span(low), span(high)
    if least == most:
        return f"~ {most}"
    return f"~ {least} – {most}" if low else f"≤ ~ {most}"
