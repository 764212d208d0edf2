"""Pictures of sends as plain figures for a template: latency on a log scale, backoffs as bars. Pure."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from dashboard.producers.standing import Backoff, Send

TOP_MS = 20_000
SLOW_MS = 550


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


def _kind(send: Send) -> str:
    if not send.is_fine:
        return "failed"
    return "slow" if send.latency_ms >= SLOW_MS else "fine"
