"""Times of pages as people read them. ``static/js/lib/time.js`` writes the same.

A number, its sign and its units stay in one line; between two bounds a line may end.
"""

from __future__ import annotations

import re
from datetime import UTC, datetime

from django.utils.translation import gettext as _

HARD = "\u00a0"  # a space at which no line ends
UNIT = r"(?:ms|s|min|h|d|%)(?![A-Za-z])"
INSIDE = re.compile(rf"(?<=[≥≤≈~]) (?=[~\d])|(?<=\d) (?={UNIT})|(?<=\d min) (?=\d\d s)|(?<=\d [hd]) (?=\d\d (?:min|h))")


def together(words: str) -> str:
    """Keep each number in one line with its sign and its units: for people alone, not for what a machine reads."""
    return INSIDE.sub(HARD, words)


def plain(words: str) -> str:
    """Give words with ordinary spaces, for what a machine reads, or what is written out for people later."""
    return words.replace(HARD, " ")


def plain_span(ms: int | None) -> str:
    """Write a duration with ordinary spaces."""
    return plain(span(ms))


def plain_between(low: int | None, high: int | None) -> tuple[str, str]:
    """Write a duration between two bounds with ordinary spaces, and its mark."""
    words, mark = between(low, high)
    return plain(words), mark


def span(ms: int | None) -> str:
    """Write a duration: ``235 ms``, ``4.2 s``, ``44.7 s``, ``1 min 09 s``, ``2 h 05 min``, ``3 d 04 h``."""
    return _("unknown") if ms is None else _in_units(max(0, ms)).replace(" ", HARD)


def _in_units(ms: int) -> str:
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
    return f"{max(0, ms // 1_000)}{HARD}s" if ms < 60_000 else span(ms)


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
        return f"≥{HARD}{span(low)}", "bound"
    if not low:
        return f"≤{HARD}{span(high)}", "bound"
    least, most = span(low), span(high)
    return (f"≈{HARD}{most}" if least == most else f"{least}{HARD}– {most}"), "bound"


def estimate(low: int, high: int | None) -> str:
    """Write a duration that is expected, by what earlier ones took: between two bounds, or about so long."""
    if high is None:
        return f"≥{HARD}~{HARD}{span(low)}" if low else _("unknown")
    least, most = span(low), span(high)
    if least == most:
        return f"~{HARD}{most}"
    return f"~{HARD}{least}{HARD}– {most}" if low else f"≤{HARD}~{HARD}{most}"
