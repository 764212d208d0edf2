"""The fault table: how slow each broker was, until when it is left alone, and whether it can be reached.

One table a producer, keyed by broker name, for all its topics and threads: one refusal because of one topic takes the
broker away from every topic. It is kept only while fault avoidance is on.

Sources: ``client/.../latency/MQFaultStrategy.java`` (``updateFaultItem``, ``computeNotAvailableDuration``),
``client/.../latency/LatencyFaultToleranceImpl.java``.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum

from rebalance_engine.producer.index import Index, Thread
from rebalance_engine.producer.java_numbers import map_order, remainder
from rebalance_engine.producer.profiles import Profile
from rebalance_engine.producer.settings import Settings

_BUCKETS = 32  # of ``new ConcurrentHashMap<>(16)``


class Lesson(Enum):
    """What an attempt taught about its broker."""

    RETURNED = "the call returned"
    CLIENT_ERROR = "nothing could be sent"
    REMOTING_ERROR = "the transport failed"
    BROKER_ERROR = "the broker refused"
    INTERRUPTED = "the thread was interrupted"
    ASYNC_REFUSED = "the broker refused an asynchronous request"
    ASYNC_FAILED = "the transport failed under an asynchronous request"
    ASYNC_NOT_ISSUED = "an asynchronous request could not be issued"


_ISOLATES = {
    Lesson.REMOTING_ERROR,
    Lesson.BROKER_ERROR,
    Lesson.ASYNC_REFUSED,
    Lesson.ASYNC_FAILED,
    Lesson.ASYNC_NOT_ISSUED,
}
_UNREACHABLE = {Lesson.BROKER_ERROR, Lesson.ASYNC_NOT_ISSUED}


@dataclass(slots=True)
class FaultItem:
    """What is remembered of one broker; times in ms.

    Attributes:
        latency_ms: ``currentLatency``: of the last attempt, as measured.
        available_from: ``startTimestamp``: when the back-off ends.
        check_at: ``checkStamp``: the detector's next look.
        is_reachable: ``reachableFlag``.
        is_isolated: whether the back-off was for a failure, not for the latency.
    """

    broker: str
    latency_ms: int = 0
    available_from: int = 0
    check_at: int = 0
    is_reachable: bool = True
    is_isolated: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """What an update or a removal did to one broker; times in ms.

    Attributes:
        backoff_ms: the back-off that began or was made longer; 0 where neither.
        is_isolated: for a failure, not for the latency.
        has_ended: a back-off was cut short.
        reachable: what the broker became, None where it stayed what it was.
    """

    broker: str
    backoff_ms: int = 0
    is_isolated: bool = False
    has_ended: bool = False
    reachable: bool | None = None


class FaultTable:
    """``LatencyFaultToleranceImpl`` of one producer.

    Attributes:
        classes: lower bound of a latency and time to back off, in ms, in the order in which Java tries them.

    Raises:
        ValueError: the settings have more or fewer latencies than durations.
    """

    def __init__(self, profile: Profile, settings: Settings, luck: random.Random) -> None:
        self._profile = profile
        self.classes = _classes(profile, settings)
        self._detects = settings.detects
        self._luck = luck
        self._counter = Index(profile.index, luck)
        self._items: dict[str, FaultItem] = {}

    def duration_ms(self, latency_ms: int) -> int:
        """Say how long a broker of this latency is left alone; each class begins at its bound."""
        return next((duration for bound, duration in self.classes if latency_ms >= bound), 0)

    def learn(self, broker: str, lesson: Lesson, latency_ms: int, at: int) -> Change:
        """Take in what an attempt taught (section 5.3 of the rules)."""
        is_isolated = lesson in _ISOLATES or (lesson is Lesson.CLIENT_ERROR and self._profile.isolates_client_errors)
        return self.update(broker, latency_ms, at, is_isolated=is_isolated, is_reachable=self._leaves_reachable(lesson))

    def _leaves_reachable(self, lesson: Lesson) -> bool:
        if not self._profile.knows_reachability:
            return True
        return lesson not in _UNREACHABLE and not (lesson is Lesson.REMOTING_ERROR and self._detects)

    def update(self, broker: str, latency_ms: int, at: int, *, is_isolated: bool, is_reachable: bool) -> Change:
        """Do ``updateFaultItem``: 4.x overwrites the end of a back-off, 5.1.4 and later only move it out."""
        item = self._items.setdefault(broker, FaultItem(broker))
        was_available_from, was_reachable = item.available_from, item.is_reachable
        backoff_ms = self.duration_ms(self._profile.isolation_ms if is_isolated else latency_ms)
        if self._profile.only_extends and (backoff_ms == 0 or at + backoff_ms <= item.available_from):
            backoff_ms = 0
        else:
            item.available_from, item.is_isolated = at + backoff_ms, is_isolated
        item.latency_ms, item.is_reachable = latency_ms, is_reachable
        return Change(
            broker=broker,
            backoff_ms=backoff_ms,
            is_isolated=is_isolated,
            has_ended=was_available_from > at >= item.available_from,
            reachable=is_reachable if is_reachable != was_reachable else None,
        )

    def found_reachable(self, broker: str) -> Change:
        """Take in a probe that succeeded; an item that is gone or was reachable stays so."""
        item = self._items.get(broker)
        if item is None or item.is_reachable:
            return Change(broker=broker)
        item.is_reachable = True
        return Change(broker=broker, reachable=True)

    def remove(self, broker: str, at: int) -> Change:
        """Forget a broker: what is not in the table is available and reachable."""
        item = self._items.pop(broker, None) or FaultItem(broker)
        return Change(broker=broker, has_ended=item.available_from > at, reachable=None if item.is_reachable else True)

    def is_available(self, broker: str, at: int) -> bool:
        """Ask whether no back-off is running."""
        item = self._items.get(broker)
        if item is None:
            return True
        return at >= item.available_from and (item.is_reachable or not self._profile.available_needs_reachable)

    def is_reachable(self, broker: str) -> bool:
        """Ask whether the broker may be used although it backs off."""
        item = self._items.get(broker)
        return item is None or item.is_reachable

    def item(self, broker: str) -> FaultItem | None:
        """Give what is remembered of a broker, if anything."""
        return self._items.get(broker)

    def __iter__(self) -> Iterator[FaultItem]:
        """Walk the items in the order of Java's map."""
        return (self._items[name] for name in map_order(self._items, buckets=_BUCKETS))

    def __len__(self) -> int:
        """Count the items."""
        return len(self._items)

    def pick_one_at_least(self, thread: Thread, at: int) -> str | None:
        """Do ``pickOneAtLeast``: up to 5.1.3 one of the better half in turn, later any that is reachable.

        Raises:
            IndexError: the counter of 4.8 to 4.9.3 has wrapped; Java throws and catches the same.
        """
        items = list(self)
        if not items:
            return None
        if self._profile.knows_reachability:
            self._luck.shuffle(items)
            return next((item.broker for item in items if item.is_reachable), None)
        return self._one_of_the_better_half(items, thread, at)

    def _one_of_the_better_half(self, items: list[FaultItem], thread: Thread, at: int) -> str:
        if self._profile.shuffles_fault_items:
            self._luck.shuffle(items)
        items.sort(key=lambda item: (item.available_from > at, item.latency_ms, item.available_from))
        half = len(items) // 2
        if half == 0:
            return items[0].broker
        place = remainder(self._counter.advance(thread), half)
        if place < 0:
            raise IndexError(f"place {place} of {half}; needed is 0 or more")
        return items[place].broker


def _classes(profile: Profile, settings: Settings) -> list[tuple[int, int]]:
    bounds = profile.latency_max_ms if settings.latency_max_ms is None else settings.latency_max_ms
    durations = profile.not_available_ms if settings.not_available_ms is None else settings.not_available_ms
    if len(bounds) != len(durations):
        raise ValueError(f"{len(bounds)} latencies and {len(durations)} durations; needed is one for each")
    return list(zip(bounds, durations, strict=True))[::-1]
