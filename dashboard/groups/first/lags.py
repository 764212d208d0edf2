"""How far a group is behind, as it stands below the map in the first paint; as ``static/js/lib/lag.js``. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.utils.translation import gettext as _

from dashboard.common.spans import HARD, age
from dashboard.groups.first.columns import Column
from dashboard.groups.first.marks import Text

PER_LETTER, PER_BOLD, APART = 6.4, 7.2, 2  # px
THOUSAND, MILLION = 1_000, 1_000_000


@dataclass(frozen=True, slots=True)
class Foot:
    """Figures below columns, what they add up to with its mark, and of when that is."""

    figures: Sequence[Text]
    total: str
    mark: str
    told: str


@dataclass(frozen=True, slots=True)
class Told:
    """How many messages wait in a queue; None is unknown. ``is_old``: its broker did not tell since ``at``."""

    lag: int | None
    at: int
    is_old: bool
    is_kept: bool


def foot_of(columns: Sequence[Column], cell: int, lag: Sequence[Mapping[str, Any]], *, now: int) -> Foot:
    """Say what stands below columns of so many px; ``lag`` is what brokers told, as ``lag.told_plainly`` gives it."""
    told = _by_queue(lag)
    mine = [told.get((each.row.topic, each.row.broker, each.row.queue_id)) for each in columns]
    figures = [_figure(column.x + cell / 2, each) for column, each in zip(columns, mine, strict=True)]
    all_of = mine or list(told.values())
    known = [each for each in all_of if each is not None and each.lag is not None and not each.is_old]
    has_room = [each for each in figures if _width(each) <= cell + APART]
    if not known:
        return Foot(has_room, "–", "unknown", "")
    total, is_whole = sum(each.lag or 0 for each in known), len(known) == len(all_of)
    is_kept = any(each.is_kept for each in known)
    words = "" if is_kept else _("told %(age)s ago") % {"age": age(now - min(each.at for each in known))}
    return Foot(has_room, str(total) if is_whole else f"≥{HARD}{total}", "exact" if is_whole else "bound", words)


def _by_queue(lag: Sequence[Mapping[str, Any]]) -> dict[tuple[str, str, int], Told]:
    found = {}
    for row in lag:
        is_old, is_kept = row["missing"] is not None, bool(row.get("is_kept"))
        for topic, number, waiting, *_rest in row["queues"]:
            found[topic, row["broker"], number] = Told(waiting, row["at"], is_old, is_kept)
        if is_old and not row["queues"]:
            found["", row["broker"], 0] = Told(None, row["at"], True, is_kept)
    return found


def _figure(x: float, each: Told | None) -> Text:
    if each is None or each.lag is None:
        return Text("lag-unknown", x, 11, "–")
    look = "lag-unknown" if each.is_old else "lag-waits" if each.lag else "lag-none"
    return Text(look, x, 11, in_short(each.lag))


def _width(figure: Text) -> float:
    return len(figure.words) * (PER_BOLD if figure.look == "lag-waits" else PER_LETTER)


def in_short(lag: int) -> str:
    """Write a number in the room of a cell.

    >>> in_short(999), in_short(1_234), in_short(35_000), in_short(4_100_000)
    ('999', '1.2k', '35k', '4.1M')
    """
    if lag < THOUSAND:
        return str(lag)
    value, unit = (lag / THOUSAND, "k") if lag < MILLION - THOUSAND / 2 else (lag / MILLION, "M")
    return f"{value:.1f}{unit}" if value < 9.95 else f"{value:.0f}{unit}"
