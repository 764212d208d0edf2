"""What an overview's row says of how its group fared lately: each figure in words, with its mark and a note.

Pages and browsers show the same words: they are made here alone.
"""

from __future__ import annotations

from collections.abc import Sequence

from django.utils.translation import gettext as _

from dashboard.common.spans import HARD, age, between, clock, span
from dashboard.groups.bands import Step
from dashboard.groups.lag import OLD_MS
from dashboard.groups.lately import Lately
from dashboard.groups.shares import Lasted

LEAST_MS = 1_000  # of answers that were under way for a while no less can be said
Cells = dict[str, dict[str, str]]  # by name: text, mark, note, and what stands below it


def cells_of(each: Lately) -> Cells:
    """Say how long queues had no owner, and two, what was consumed twice, and how far the group is behind."""
    return {
        "unowned": _unowned(each),
        "overlap": _overlap(each),
        "twice": _twice(each),
        "lag": _lag(each),
    }


def bands_of(each: Lately) -> dict[str, object]:
    """Give when queues had no owner, and two, as plain values, and until when that is known."""
    return {
        "none": _steps(each.nobody),
        "perhaps_none": _steps(each.perhaps_nobody),
        "two": _steps(each.two),
        "until": each.known_until,
    }


def _steps(steps: Sequence[Step]) -> list[list[int]]:
    return [[step.since, step.until, step.queues] for step in steps]


def _cell(text: str, mark: str, note: str, below: str = "") -> dict[str, str]:
    return {"text": text, "mark": mark, "note": note, "below": below}


def _unowned(each: Lately) -> dict[str, str]:
    note = _("time without owner, of all queues together, in the last 10 min")
    if each.is_gap_unseen:
        note = _unseen(note)
    return _time(each, each.unowned, note, has_most=not each.is_gap_unseen)


def _unseen(note: str) -> str:
    unseen = _("of much of it nothing is known")
    return f"{note}; {unseen}"


def _overlap(each: Lately) -> dict[str, str]:
    """Give no upper bound where somebody did not answer: that is the time of all queues, and says nothing."""
    note = _("time with two owners, of all queues together, in the last 10 min")
    if each.is_since_ever:
        since = _("since when a queue may have had two is unknown")
        note = f"{note}; {since}"
    if each.is_overlap_unseen:
        note = _unseen(note)
    is_in_doubt = (each.is_open or each.was_open) and each.overlap is not None and each.overlap.high > 0
    return _time(each, each.overlap, note, has_most=not (each.is_since_ever or each.is_overlap_unseen or is_in_doubt))


def _time(each: Lately, lasted: Lasted | None, note: str, *, has_most: bool = True) -> dict[str, str]:
    if each.is_shared:
        return _cell(_("n/a"), "none", _("broadcasting: every member has every queue"))
    if each.is_too_much:
        return _cell("–", "unknown", _("too much changed hands to be added up here: the group's page has it"))
    if lasted is None:
        is_old = each.looked_at is not None
        why = _("unknown: not looked at in the last 10 min") if is_old else _("unknown: not looked at yet")
        return _cell("–", "unknown", why)
    if each.is_open or each.was_open:
        doubt = _("not everybody answers") if each.is_open else _("not everybody answered all the time")
        note, has_most = f"{note}; {doubt}", has_most and each.has_most
    if not has_most and not lasted.low:
        return _cell("–", "unknown", note)
    words, mark = between(lasted.low, lasted.high if has_most else None)
    text = "0" if not lasted.low and lasted.high == 0 else words
    if each.first_at is None or each.known_since < each.first_at:
        return _cell(text, mark, note)
    first = clock(each.first_at, millis=False)
    note = _("%(note)s; known only since its first look at %(at)s UTC") % {"note": note, "at": first}
    return _cell(text, mark, note, _("since %(at)s") % {"at": first})


def _twice(each: Lately) -> dict[str, str]:
    if each.twice is None:
        return _cell("–", "unknown", _("unknown: only consumers that send reports can tell"))
    if not each.twice:
        return _cell("–", "unknown", _("none is known; what members consumed and did not commit is unknown"))
    note = _("messages consumed twice since the group is known, at least, in handoffs of which both members reported")
    return _cell(f"≥{HARD}{each.twice}", "bound", note)


def _lag(each: Lately) -> dict[str, str]:
    waiting = each.waiting
    if waiting is None or waiting.lag is None:
        return _cell("–", "unknown", _("unknown: no broker told how far the group is"))
    note = _("messages not consumed yet, all queues, as of %(at)s UTC") % {
        "at": clock(waiting.observed_at, millis=False)
    }
    text, mark = (str(waiting.lag), "exact") if waiting.is_whole else (f"≥{HARD}{waiting.lag}", "bound")
    if not waiting.is_whole:
        note = _("%(note)s; not known of every queue") % {"note": note}
        if not waiting.lag:
            return _cell("–", "unknown", note)
    if (old := each.known_until - waiting.observed_at) > OLD_MS:
        return _cell(text, "old" if waiting.is_whole else mark, note, _("as of %(age)s ago") % {"age": age(old)})
    if not waiting.lag:
        return _cell(text, mark, note)
    if waiting.waits_since is None:
        return _cell(text, mark, note, _("age unknown"))
    return _cell(text, mark, note, f"≤{HARD}{span(max(LEAST_MS, waiting.observed_at - waiting.waits_since))}")
