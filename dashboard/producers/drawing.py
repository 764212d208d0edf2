"""Pictures of sends as plain figures for a template: latency on a log scale, backoffs as bars. Pure."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from dashboard.producers.standing import Backoff, Send

TOP_MS = 20_000
SLOW_MS = 550
TICKS_MS = (5_000, 10_000, 30_000, 60_000, 120_000, 300_000, 600_000, 1_800_000, 3_600_000)
MOST_TICKS = 8
LABEL = 14.0  # a band's words take so much of the width, in percent


@dataclass(frozen=True, slots=True)
class Box:
    """The size of a picture, and the time that it shows."""

    width: float
    height: float
    since: int
    until: int

    def x(self, at: int) -> float:
        """Place an instant; what lies outside stands at the edge."""
        part = (at - self.since) / max(1, self.until - self.since)
        return round(self.width * min(max(part, 0.0), 1.0), 1)

    def y(self, latency_ms: int) -> float:
        """Place a latency: 1 ms at the bottom, 20 s at the top."""
        part = math.log10(max(1, latency_ms)) / math.log10(TOP_MS)
        return round(self.height - 2 - min(part, 1.0) * (self.height - 6), 1)


def draw(box: Box, sends: Sequence[Send], backoffs: Sequence[Backoff], lines: Sequence[int]) -> dict[str, object]:
    """Place sends, backoffs and lines of latencies in a box."""
    shown = [each for each in backoffs if each.until > box.since and each.at < box.until]
    return {
        "width": box.width,
        "height": box.height,
        "bottom": box.height - 1,
        "lines": [{"y": box.y(latency), "ms": latency} for latency in lines],
        "sends": [
            {"x": box.x(each.at), "y": box.y(each.latency_ms), "kind": _kind(each)}
            for each in sends
            if box.since <= each.at <= box.until
        ],
        "backoffs": [
            {
                "x": box.x(each.at),
                "width": max(2.0, round(box.x(min(each.until, box.until)) - box.x(each.at), 1)),
                "ms": each.ms,
                "is_isolated": each.is_isolated,
            }
            for each in shown
        ],
    }


@dataclass(frozen=True, slots=True)
class Mark:
    """A text beside a picture: at ``x`` percent of its width, where it ends if ``is_end``, and begins otherwise."""

    x: float
    backoff: Backoff
    is_end: bool


def ticks(box: Box) -> list[dict[str, float]]:
    """Give the instants of an axis of time that are round, with their places in percent of the width."""
    length = max(1, box.until - box.since)
    step = next((each for each in TICKS_MS if length / each <= MOST_TICKS), TICKS_MS[-1])
    first = -(-box.since // step) * step
    instants = range(first, box.until + 1, max(step, step * (length // step // MOST_TICKS)))
    return [{"x": _percent(box, at), "at": at} for at in instants]


def steps(box: Box, lines: Sequence[int]) -> list[dict[str, object]]:
    """Give the lines of latencies with their places and the words beside them."""
    words = (f"{latency} ms" if latency < 1_000 else f"{latency // 1_000} s" for latency in lines)
    return [{"y": box.y(latency), "words": said} for latency, said in zip(lines, words, strict=True)]


def name_bands(box: Box, backoffs: Sequence[Backoff]) -> list[Mark]:
    """Say where the words of each backoff stand: after it, or before it where there is no room, or not at all.

    The latest comes first, and none stands on the words of another one, or on another band.
    """
    shown = [each for each in backoffs if each.until > box.since and each.at < box.until]
    bands = [(_percent(box, each.at), _percent(box, min(each.until, box.until))) for each in shown]
    marks: list[Mark] = []
    taken: list[tuple[float, float]] = []
    for number in sorted(range(len(shown)), key=lambda n: shown[n].at, reverse=True):
        at, end = bands[number]
        others = [*taken, (-math.inf, 0.0), (100.0, math.inf), *bands[:number], *bands[number + 1 :]]
        for x, is_end, span in ((end, False, (end, end + LABEL)), (at, True, (at - LABEL, at))):
            if all(span[1] <= low or high <= span[0] for low, high in others):
                taken.append(span)
                marks.append(Mark(x, shown[number], is_end))
                break
    return marks


def _percent(box: Box, at: int) -> float:
    return round(100 * box.x(at) / box.width, 2)


def _kind(send: Send) -> str:
    if not send.is_fine:
        return "failed"
    return "slow" if send.latency_ms >= SLOW_MS else "fine"
