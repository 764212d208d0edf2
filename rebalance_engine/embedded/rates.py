"""How much went through in the last minute, hour and day: what brokers call stats.

Java samples each number every ten seconds, every ten minutes and every hour, and takes differences; so does this, with
the samples in rings. Only what moved takes up memory, and what did not move for a day is forgotten.

Sources: ``common/.../stats/StatsItem.java``, ``store/.../stats/BrokerStatsManager.java``.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field

SAMPLE_EVERY_MS = 10_000
DAY_MS = 86_400_000
_SPANS = ((10_000, 7), (600_000, 7), (3_600_000, 25))  # period in ms, samples: a minute, an hour, a day


@dataclass(frozen=True, slots=True)
class Snapshot:
    """What went through in a span: how much, how much a second, how much at a time."""

    total: int = 0
    per_second: float = 0.0
    per_time: float = 0.0


@dataclass(slots=True)
class _Item:
    value: int = 0
    times: int = 0
    mornings: tuple[int, int] = (0, 0)
    rings: tuple[deque[tuple[int, int, int]], ...] = field(
        default_factory=lambda: tuple(deque(maxlen=samples) for _, samples in _SPANS)
    )


class Rates:
    """Counters by name and key, for example ``("TOPIC_PUT_NUMS", "orders")``."""

    def __init__(self) -> None:
        self._items: dict[tuple[str, str], _Item] = {}
        self._day: int | None = None

    def add(self, name: str, key: str, value: int, at: int) -> None:
        """Count."""
        item = self._items.get((name, key))
        if item is None:
            item = self._items[name, key] = _Item()
            for ring in item.rings:
                ring.append((at, 0, 0))
        item.value += value
        item.times += 1

    def total(self, name: str, key: str) -> int:
        """Give all that was counted."""
        item = self._items.get((name, key))
        return item.value if item else 0

    def mornings(self, name: str, key: str) -> tuple[int, int]:
        """Give what the total was when yesterday began, and today (in UTC)."""
        item = self._items.get((name, key))
        return item.mornings if item else (0, 0)

    def recent(self, name: str, key: str, at: int) -> tuple[float, float, float]:
        """Give how much a second went through in the last 10 s, minute and 10 minutes, as far back as that is known."""
        item = self._items.get((name, key))
        if item is None:
            return 0.0, 0.0, 0.0
        minute, hour, _ = item.rings
        ten_seconds = minute[-1] if at - minute[-1][0] >= SAMPLE_EVERY_MS // 2 or len(minute) == 1 else minute[-2]
        samples = (ten_seconds, minute[0], hour[-1])
        ten, sixty, six_hundred = (_since(sample, item, at).per_second for sample in samples)
        return ten, sixty, six_hundred

    def sample(self, at: int) -> None:
        """Take samples where their time has come; call it every ten seconds."""
        day = at // DAY_MS
        if self._day not in {None, day}:
            for item in self._items.values():
                item.mornings = item.mornings[1], item.value
        self._day = day
        for item in self._items.values():
            for (period, _), ring in zip(_SPANS, item.rings, strict=True):
                if at - ring[-1][0] >= period:
                    ring.append((at, item.value, item.times))
        still = [key for key, item in self._items.items() if _is_still(item)]
        for key in still:
            del self._items[key]

    def spans(self, name: str, key: str, at: int) -> tuple[Snapshot, Snapshot, Snapshot] | None:
        """Give the last minute, hour and day; None where nothing was counted."""
        item = self._items.get((name, key))
        if item is None:
            return None
        minute, hour, day = (_since(ring[0], item, at) for ring in item.rings)
        return minute, hour, day

    def per_second(self, name: str, key: str, at: int) -> float:
        """Give how much a second went through in the last minute."""
        spans = self.spans(name, key, at)
        return spans[0].per_second if spans else 0.0


def _since(sample: tuple[int, int, int], item: _Item, at: int) -> Snapshot:
    since, value, times = sample
    total, count = item.value - value, item.times - times
    return Snapshot(
        total=total,
        per_second=round(total * 1000 / (at - since), 2) if at > since else 0.0,
        per_time=round(total / count, 2) if count else 0.0,
    )


def _is_still(item: _Item) -> bool:
    day = item.rings[-1]
    return len(day) == day.maxlen and day[0][1] == item.value
