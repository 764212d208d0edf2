"""The time bar of the first paint: rounds, and when queues had no owner, or two, in parts of its width. Pure.

``static/js/views/time-bar.js`` draws it anew in its place, as high, with heads and words that need to know the width.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from dashboard.common.spans import clock

BASE, TWO, NONE = 50, 56, 70  # px from above
SECONDS = (60, 120, 300, 600, 900, 1_800, 3_600, 7_200, 10_800, 21_600, 43_200, 86_400)
MOST_TICKS = 3  # as many as a phone has room for
FEW_MS = 1_000  # since the last look


@dataclass(frozen=True, slots=True)
class Part:
    """A stretch of a band: its look, where it begins and how long it is, in percent of the scale."""

    look: str
    y: int
    x: float
    width: float
    opacity: float = 1


@dataclass(frozen=True, slots=True)
class Stem:
    """A round: its number and words, where it stands, and where its stem begins; None: how many moved is unknown."""

    number: int
    words: str
    x: float
    top: float
    is_known: bool


@dataclass(frozen=True, slots=True)
class FirstBar:
    """The bar. ``is_shared``: every member has every queue, so that it has no bands."""

    ticks: Sequence[tuple[float, str]]
    parts: Sequence[Part]
    stems: Sequence[Stem]
    is_shared: bool
    now: float


def first_bar(time: Mapping[str, Any], *, at: int, looked: int | None, is_shared: bool) -> FirstBar:
    """Draw the time bar; ``time`` is as ``story.time_bar`` gives it, ``looked`` when everybody had told last.

    ``at`` is the instant that the page is of.
    """
    since, until = int(time["since"]), int(time["until"])

    def place(ms: int) -> float:
        return 100 * (min(max(ms, since), until) - since) / max(1, until - since)

    def part(look: str, y: int, low: int, high: int, opacity: float = 1) -> Part:
        return Part(look, y, place(low), max(0.1, place(high) - place(low)), opacity)

    parts = [
        *(part("band-unknown", NONE, low, high) for low, high, *_ in time.get("doubts", ())),
        *(part("band-unknown", y, told, until) for told in _untold(time) for y in (TWO, NONE)),
        *(part("band-two", TWO, low, high, opacity) for low, high, opacity in _steps(time["two"])),
        *(part("band-none", NONE, low, high, opacity) for low, high, opacity in _steps(time["none"])),
        *(part("band-perhaps", NONE, low, high) for low, high, *_ in time.get("perhaps_none", ())),
    ]
    if looked is not None and not _untold(time) and until - looked >= FEW_MS:
        parts += [part("band-later", y, looked, until) for y in (TWO, NONE)]
    ticks = [(place(ms), clock(ms, millis=False)) for ms in _ticks(since, until)]
    return FirstBar(ticks, () if is_shared else parts, list(_stems(time["rounds"], place)), is_shared, place(at))


def _untold(time: Mapping[str, Any]) -> list[int]:
    """Say from when on not everybody answers, if that is so."""
    told = time.get("told_until")
    return [] if told is None or told >= time["until"] else [told]


def _steps(steps: Sequence[Sequence[int]]) -> Iterable[tuple[int, int, float]]:
    most = max((queues for _low, _high, queues in steps), default=1)
    return [(low, high, 0.4 + 0.6 * queues / max(1, most)) for low, high, queues in steps]


def _stems(rounds: Sequence[Mapping[str, Any]], place: Callable[[int], float]) -> Iterable[Stem]:
    most = max([1, *(each["moves"] or 0 for each in rounds)])
    for each in rounds:
        moves = most / 2 if each["moves"] is None else each["moves"]
        top = BASE - 12 - 22 * moves / most
        yield Stem(each["number"], each["words"], place(each["opened_at"]), top, each["moves"] is not None)


def _ticks(since: int, until: int) -> range:
    step = 1_000 * next((each for each in SECONDS if (until - since) / 1_000 / each <= MOST_TICKS), SECONDS[-1])
    return range(-(-since // step) * step, until + 1, step)
