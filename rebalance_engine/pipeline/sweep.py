"""One queue's holds in time: who had it when, and how it went from one member to the next. Plain Python.

The rule of a handoff is the one by which truth is told of recorded runs: from one single owner to the next, other
one; what lies between them without owner is unowned time, what lies between them with two is overlap.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise


@dataclass(frozen=True, slots=True)
class Hold:
    """One client held the queue from ``from_ms`` until ``until_ms``; ``process`` wrote the lines that say so.

    ``from_after_ms`` is given where nobody told the beginning and a look at ``from_ms`` showed it: it lies between;
    ``until_after_ms`` likewise, and where its client was stopped: it said good-bye then, and its shutdown ended at
    ``until_ms``; or where a broker, which tells seconds only, saw it die.
    """

    from_ms: int
    until_ms: int
    client: str
    ended: str = "released"
    process: str = ""
    layout: str = "java5"
    from_after_ms: int | None = None
    until_after_ms: int | None = None

    @property
    def stays_ms(self) -> int:
        """Until when its client was there to stay: it was not shutting down yet."""
        return self.until_ms if self.until_after_ms is None or self.ended != "stopped" else self.until_after_ms


@dataclass(frozen=True, slots=True)
class Stretch:
    """Between ``from_ms`` and ``until_ms`` just these clients held the queue."""

    from_ms: int
    until_ms: int
    clients: tuple[str, ...]

    @property
    def lasts_ms(self) -> int:
        """How long."""
        return self.until_ms - self.from_ms


@dataclass(frozen=True, slots=True)
class Change:
    """The queue went from ``giver``'s hold to ``taker``'s."""

    giver: Hold
    taker: Hold
    unowned_ms: int
    overlap_ms: int

    @property
    def unowned_most_ms(self) -> int:
        """How long nobody had it if the giver let it go as early as can be."""
        early = self._early_ms
        return self.unowned_ms + max(0, min(self.giver.until_ms, self.taker.from_ms) - early)

    @property
    def overlap_least_ms(self) -> int:
        """How long several had it, even if the giver let it go as early as can be."""
        late = self.giver.until_ms - max(self._early_ms, self.taker.from_ms)
        return max(0, self.overlap_ms - max(0, late))

    @property
    def _early_ms(self) -> int:
        return self.giver.until_ms if self.giver.until_after_ms is None else self.giver.until_after_ms


def stretches(holds: Sequence[Hold]) -> Iterator[Stretch]:
    """Cut the time from the first take to the last release where the owners change; no gaps, no empty pieces."""
    edges = sorted({hold.from_ms for hold in holds} | {hold.until_ms for hold in holds})
    comes: dict[int, list[str]] = {}
    goes: dict[int, list[str]] = {}
    for hold in holds:
        comes.setdefault(hold.from_ms, []).append(hold.client)
        goes.setdefault(hold.until_ms, []).append(hold.client)
    there: Counter[str] = Counter()
    for begin, end in pairwise(edges):
        there.update(comes.get(begin, ()))
        there.subtract(goes.get(begin, ()))
        yield Stretch(begin, end, tuple(sorted(name for name, count in there.items() if count > 0)))


def left_alone(holds: Sequence[Hold], gone: Sequence[tuple[int, int]], end_ms: int) -> Iterator[Stretch]:
    """Tell when nobody held the queue from its last release on: until the input's end, but while it was gone.

    Args:
        gone: from when until when there was no such queue, in order.
    """
    begin = max((hold.until_ms for hold in holds), default=end_ms)
    for from_ms, until_ms in gone:
        if until_ms > begin:
            if min(from_ms, end_ms) > begin:
                yield Stretch(begin, min(from_ms, end_ms), ())
            begin = until_ms
    if begin < end_ms:
        yield Stretch(begin, end_ms, ())


def stopping_ms(stretch: Stretch, holds: Sequence[Hold]) -> int:
    """Tell how much of a stretch passed while all its clients but one, at most, were shutting down."""
    stays: dict[str, int] = {}
    for hold in holds:
        if hold.from_ms <= stretch.from_ms and stretch.until_ms <= hold.until_ms:
            stays[hold.client] = max(stays.get(hold.client, 0), hold.stays_ms)
    if len(stays) < 2:
        return 0
    several_until_ms = sorted(stays.values())[-2]
    return stretch.until_ms - min(max(several_until_ms, stretch.from_ms), stretch.until_ms)


def changes(holds: Sequence[Hold]) -> Iterator[Change]:
    """Tell every handoff of one queue, in order."""
    before, unowned_ms, overlap_ms = "", 0, 0
    for stretch in stretches(holds):
        if len(stretch.clients) != 1:
            unowned_ms += stretch.lasts_ms * (not stretch.clients)
            overlap_ms += stretch.lasts_ms * (len(stretch.clients) > 1)
            continue
        (owner,) = stretch.clients
        if before and before != owner:
            giver = max((h for h in holds if h.client == before and h.until_ms <= stretch.from_ms), key=_until)
            taker = min((h for h in holds if h.client == owner and h.until_ms >= stretch.until_ms), key=_begin)
            yield Change(giver, taker, unowned_ms, overlap_ms)
        before, unowned_ms, overlap_ms = owner, 0, 0


def returns(holds: Sequence[Hold]) -> Iterator[Change]:
    """Tell every time the queue was let go by its single owner, stayed without one, and went back to it."""
    before, unowned_ms = None, 0
    for stretch in stretches(holds):
        if not stretch.clients:
            unowned_ms += stretch.lasts_ms
            continue
        if unowned_ms and before == stretch.clients and len(stretch.clients) == 1:
            (owner,) = stretch.clients
            giver = max((h for h in holds if h.client == owner and h.until_ms <= stretch.from_ms), key=_until)
            taker = min((h for h in holds if h.client == owner and h.until_ms >= stretch.until_ms), key=_begin)
            yield Change(giver, taker, unowned_ms, 0)
        before, unowned_ms = stretch.clients, 0


def _until(hold: Hold) -> int:
    return hold.until_ms


def _begin(hold: Hold) -> int:
    return hold.from_ms


def owners_at(holds: Sequence[Hold], at_ms: int) -> tuple[str, ...]:
    """Name who holds the queue at a moment; what ends then is over."""
    return tuple(sorted({hold.client for hold in holds if hold.from_ms <= at_ms < hold.until_ms}))
