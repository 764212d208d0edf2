"""How a group fared lately, as plain fields of its row in the API, and why some are unknown. Pure."""

from __future__ import annotations

from collections.abc import Mapping

from dashboard.api.unknown import NO_LAG, NO_OFFSETS, NOT_KEPT, NOT_YET, SHARED
from dashboard.groups.lately import Lately
from dashboard.groups.shares import Lasted

TIMES = ("unowned_ms_low", "unowned_ms_high", "overlap_ms_low", "overlap_ms_high")
LAG = ("lag", "lag_low", "lag_at", "waits_since")
FIELDS = (*LAG, "duplicate_messages", "lately_since", "lately_until", *TIMES)
TOO_MUCH = "too much changed hands to be added up; each round tells it"
MORE = "not everybody answers, and the queues are not counted: it may be more"
SINCE_EVER = "since when a queue may have had two owners is unknown"
NOT_ALL_LAG = "not known of every queue"
NOT_LATELY = "it was not looked at in the last 10 min"
NO_AGE = "since when they wait is unknown"
Fared = dict[str, int | None]


def fared(each: Lately | None) -> Fared:
    """Give the fields by name: times in ms, added up over queues. Who does not answer is in their upper bounds."""
    if each is None:
        return dict.fromkeys(FIELDS)
    waiting = each.waiting
    return {
        "lag": waiting.lag if waiting is not None and waiting.is_whole else None,
        "lag_low": waiting.lag if waiting is not None else None,
        "lag_at": waiting.observed_at if waiting is not None else None,
        "waits_since": waiting.waits_since if waiting is not None else None,
        "duplicate_messages": each.twice,
        "lately_since": each.known_since if each.unowned is not None else None,
        "lately_until": each.known_until if each.unowned is not None else None,
        **_bounds("unowned_ms", each.unowned, has_most=each.has_most),
        **_bounds("overlap_ms", each.overlap, has_most=each.has_most and not each.is_since_ever),
    }


def _bounds(name: str, lasted: Lasted | None, *, has_most: bool) -> Fared:
    if lasted is None:
        return {f"{name}_low": None, f"{name}_high": None}
    return {f"{name}_low": lasted.low, f"{name}_high": lasted.high if has_most else None}


def why_not_fared(each: Lately | None, told: Mapping[str, int | None]) -> dict[str, str]:
    """Say why fields are null; no message waits is no reason, and since when none waits is nothing unknown."""
    reasons = {name: _why(each, name) for name, figure in told.items() if figure is None}
    if told["lag"] == 0 or told["lag_low"] == 0:
        reasons.pop("waits_since", None)
    return reasons


def why_no_lag(name: str, least: int | None, none_known: str) -> str:
    """Say why a field of the lag is null, of now or of a past instant.

    Args:
        name: of the field, one of ``LAG``.
        least: how far the group is behind at least; None: of no queue it is known.
        none_known: why not.
    """
    if least is None:
        return none_known
    return NOT_ALL_LAG if name == "lag" else NO_AGE


def _why(each: Lately | None, name: str) -> str:
    if each is None:
        return NOT_KEPT
    if name == "duplicate_messages":
        return NO_OFFSETS
    if name in LAG:
        return why_no_lag(name, None if each.waiting is None else each.waiting.lag, NO_LAG)
    return _why_no_time(each)


def _why_no_time(each: Lately) -> str:
    if each.is_shared:
        return SHARED
    if each.is_too_much:
        return TOO_MUCH
    if not each.has_most:
        return MORE
    if each.is_since_ever:
        return SINCE_EVER
    return NOT_YET if each.looked_at is None else NOT_LATELY
