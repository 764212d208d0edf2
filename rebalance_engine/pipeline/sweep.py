"""One queue's holds in time: who had it when, and how it went from one member to the next. Plain Python.

The rule of a handoff is the one by which truth is told of recorded runs: from one single owner to the next, other
one; what lies between them without owner is unowned time, what lies between them with two is overlap.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from operator import itemgetter
from typing import TypeVar

from rebalance_engine.model import MessageQueue
from rebalance_engine.pipeline.layouts import HISTORY

T = TypeVar("T")
PERSISTS_WITHIN_MS = 7_500  # a Java member that holds something says so every 5 s, and may be late


@dataclass(frozen=True, slots=True)
class Hold:
    """One client held the queue from ``from_ms`` until ``until_ms``; ``process`` wrote the lines that say so.

    ``from_after_ms`` is given where nobody told the beginning and a look at ``from_ms``, or the first line behind a
    hole in its log, showed it: it lies between; ``until_after_ms`` likewise, and where its client was stopped: it said
    good-bye then, and its shutdown ended at ``until_ms``; or where a broker, which tells seconds only, saw it die.
    ``seen_ms`` is given where ``from_ms`` is as early as may be: since when it lasted for sure. ``late_ms``: by so much
    ``until_ms`` is later than its line tells, which has the second only.
    """

    from_ms: int
    until_ms: int
    client: str
    ended: str = "released"
    process: str = ""
    layout: str = "java5"
    from_after_ms: int | None = None
    until_after_ms: int | None = None
    seen_ms: int | None = None
    late_ms: int = 0

    @property
    def stays_ms(self) -> int:
        """Until when its client was there to stay: it was not shutting down yet."""
        if self.until_after_ms is None or self.ended != "stopped":
            return self.until_ms
        return min(self.until_ms, self.until_after_ms + self.late_ms)

    @property
    def early_ms(self) -> int:
        """When its client may have let it go, at the earliest."""
        return self.until_ms if self.until_after_ms is None else self.until_after_ms

    @property
    def may_begin_ms(self) -> int:
        """Since when it may have lasted; what a look shows began when it shows it."""
        is_bounded = self.from_after_ms is not None and self.layout != HISTORY.name
        return min(self.from_ms, self.from_after_ms or 0) if is_bounded else self.from_ms

    @property
    def surely_from_ms(self) -> int:
        """Since when it lasted at the least."""
        return self.from_ms if self.seen_ms is None else self.seen_ms

    @property
    def surely_until_ms(self) -> int:
        """Until when it lasted at the least; whose client shuts down has it until the shutdown's end."""
        if self.ended == "stopped" or self.layout == HISTORY.name:
            return max(self.from_ms, self.until_ms - self.late_ms)
        return max(self.from_ms, min(self.until_ms, self.early_ms))


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
    """The queue went from ``giver``'s hold to ``taker``'s.

    Attributes:
        unowned_ms, overlap_ms: if both edges were where they are told: as early, or as late, as can be.
    """

    giver: Hold
    taker: Hold
    unowned_ms: int
    overlap_ms: int

    @property
    def unowned_least_ms(self) -> int:
        """How long nobody had it even if the taker took it as early as can be."""
        early = self.taker.from_ms - max(self.taker.may_begin_ms, self.giver.until_ms)
        return max(0, self.unowned_ms - max(0, early))

    @property
    def unowned_most_ms(self) -> int:
        """How long nobody had it if the giver let it go as early as can be."""
        early = self.giver.early_ms
        return self.unowned_ms + max(0, min(self.giver.until_ms, self.taker.from_ms) - early)

    @property
    def overlap_least_ms(self) -> int:
        """How long several had it, even if the giver let it go as early as can be."""
        late = self.giver.until_ms - max(self.giver.early_ms, self.taker.from_ms)
        return max(0, self.overlap_ms - max(0, late))

    @property
    def overlap_most_ms(self) -> int:
        """How long several had it if the taker took it as early as can be."""
        early = min(self.giver.until_ms, self.taker.from_ms) - max(self.taker.may_begin_ms, self.giver.from_ms)
        return self.overlap_ms + max(0, early)


def stretches(holds: Sequence[Hold]) -> Iterator[Stretch]:
    """Cut the time from the first take to the last release where the owners change; no gaps, no empty pieces.

    A client that holds the queue in two processes at once is named twice: both consume it.
    """
    edges = sorted({hold.from_ms for hold in holds} | {hold.until_ms for hold in holds})
    comes: dict[int, list[tuple[str, str]]] = {}
    goes: dict[int, list[tuple[str, str]]] = {}
    for hold, process in zip(holds, _processes(holds), strict=True):
        comes.setdefault(hold.from_ms, []).append((hold.client, process))
        goes.setdefault(hold.until_ms, []).append((hold.client, process))
    there: dict[tuple[str, str], int] = {}
    for begin, end in pairwise(edges):
        for names, step in ((comes.get(begin, ()), 1), (goes.get(begin, ()), -1)):
            for name in names:
                count_in(there, name, step)
        yield Stretch(begin, end, tuple(sorted(client for (client, _), count in there.items() if count > 0)))


def _processes(holds: Sequence[Hold]) -> Iterator[str]:
    """Tell of which process each hold is; one that begins or ends just as its client's in another is that one's copy.

    Logs are copied under other hosts' names, whole or in part. What is open ends with the input, as all does.
    """
    first: dict[tuple[str, str, int], str] = {}
    for hold in holds:
        begins, ends = ("begins", hold.client, hold.from_ms), ("ends", hold.client, hold.until_ms)
        known = first.get(begins) or (first.get(ends) if hold.ended != "open" else None)
        process = hold.process if known is None else known
        first.setdefault(begins, process)
        first.setdefault(ends, process)
        yield process


def count_in(there: dict[T, int], name: T, step: int) -> None:
    """Add to how many times somebody is there; who is not is not named: who ever was may be many."""
    times = there.pop(name, 0) + step
    if times:
        there[name] = times


def with_holds(cut: Iterable[Stretch], holds: Sequence[Hold]) -> Iterator[tuple[Stretch, list[Hold]]]:
    """Give with each stretch, in order, the holds that last all through it."""
    coming = iter(sorted(holds, key=_begin))
    following = next(coming, None)
    there: list[Hold] = []
    for stretch in cut:
        while following is not None and following.from_ms <= stretch.from_ms:
            there.append(following)
            following = next(coming, None)
        there = [hold for hold in there if stretch.until_ms <= hold.until_ms]
        yield stretch, there


def left_alone(holds: Sequence[Hold], end_ms: int) -> Iterator[Stretch]:
    """Tell when nobody held the queue from its last release on, until the input's end."""
    begin = max((hold.until_ms for hold in holds), default=end_ms)
    if begin < end_ms:
        yield Stretch(begin, end_ms, ())


def while_there(cut: Iterable[Stretch], gone: Sequence[tuple[int, int]]) -> Iterator[Stretch]:
    """Take out of stretches without an owner what of them passed while there was no such queue.

    Args:
        gone: from when until when there was none, in order.
    """
    for stretch in cut:
        begin, nth = stretch.from_ms, bisect_right(gone, stretch.from_ms, key=itemgetter(1))
        while not stretch.clients and nth < len(gone) and gone[nth][0] < stretch.until_ms:
            from_ms, until_ms = gone[nth]
            if begin < from_ms:
                yield replace(stretch, from_ms=begin, until_ms=from_ms)
            begin, nth = until_ms, nth + 1
        if begin < stretch.until_ms:
            yield replace(stretch, from_ms=begin)


def cut_at(stretch: Stretch, at_ms: int) -> Iterator[Stretch]:
    """Cut a stretch in two at a moment within it."""
    if stretch.from_ms < at_ms < stretch.until_ms:
        yield replace(stretch, until_ms=at_ms)
        yield replace(stretch, from_ms=at_ms)
    else:
        yield stretch


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


def surely_ms(stretch: Stretch, holds: Sequence[Hold]) -> int:
    """Tell how much of a stretch passed while several surely held: as if each had taken late, and let go early.

    Args:
        stretch: of :func:`sure_stretches`.
        holds: those that last all through it, as long as may be.
    """
    ends: dict[tuple[str, str], int] = {}
    is_twice = len(set(stretch.clients)) < len(stretch.clients)
    for hold, process in zip(holds, _processes(holds), strict=True):
        if hold.surely_from_ms <= stretch.from_ms:
            key = hold.client, process if is_twice else ""
            ends[key] = max(ends.get(key, 0), hold.early_ms)
    if len(ends) < 2:
        return 0
    return max(0, min(sorted(ends.values())[-2], stretch.until_ms) - stretch.from_ms)


def sure_stretches(holds: Sequence[Hold]) -> Iterator[Stretch]:
    """Cut the time as :func:`stretches` do, and where it becomes sure, or unsure, that a hold lasts.

    Of a stretch in which nobody held the queue for sure nobody is named; of others all who may have held it.
    """
    whole = as_long_as_may_be(holds)
    edges = sorted({edge for hold in holds for edge in (hold.from_ms, hold.surely_until_ms)})
    for stretch, there in with_holds(_cut(stretches(whole), edges), whole):
        yield stretch if any(_is_sure(hold, stretch) for hold in there) else replace(stretch, clients=())


def as_long_as_may_be(holds: Iterable[Hold]) -> list[Hold]:
    """Let holds whose beginning is bounded begin as early as can be; ``seen_ms`` says when they did for sure."""
    return [
        hold if hold.may_begin_ms == hold.from_ms else replace(hold, from_ms=hold.may_begin_ms, seen_ms=hold.from_ms)
        for hold in holds
    ]


def unsure_of(stretch: Stretch, holds: Iterable[Hold]) -> int:
    """Count the holds that may have lasted all through a stretch or not: none where several did for sure.

    Args:
        holds: those that last through it, as long as may be.
    """
    there = list(holds)
    sure = sum(_is_sure(hold, stretch) for hold in there)
    return 0 if sure > 1 else len(there) - sure


def _cut(cut: Iterable[Stretch], edges: Sequence[int]) -> Iterator[Stretch]:
    for stretch in cut:
        rest = stretch
        for at_ms in edges[bisect_right(edges, stretch.from_ms) : bisect_left(edges, stretch.until_ms)]:
            before, rest = cut_at(rest, at_ms)
            yield before
        yield rest


def _is_sure(hold: Hold, stretch: Stretch) -> bool:
    return hold.surely_from_ms <= stretch.from_ms and stretch.until_ms <= hold.surely_until_ms


class _Ends:
    """One queue's holds, client by client, sorted by their ends: which ended last, which goes on."""

    def __init__(self, holds: Sequence[Hold]) -> None:
        self._holds: dict[str, list[Hold]] = {}
        for hold in sorted(holds, key=_until):
            self._holds.setdefault(hold.client, []).append(hold)
        self._ends = {client: [hold.until_ms for hold in those] for client, those in self._holds.items()}
        self._firsts = {client: _first_from_each_on(those) for client, those in self._holds.items()}

    def giver(self, client: str, before: Stretch) -> Hold:
        """Give the client's last hold that ended by when a stretch began."""
        ends = self._ends[client]
        last = ends[bisect_right(ends, before.from_ms) - 1]
        return self._holds[client][bisect_left(ends, last)]

    def taker(self, client: str, during: Stretch) -> Hold:
        """Give the client's first hold that goes on as long as a stretch."""
        return self._firsts[client][bisect_left(self._ends[client], during.until_ms)]


def _first_from_each_on(holds: Sequence[Hold]) -> list[Hold]:
    """Give for each hold the one that began first of it and those after it."""
    firsts = list(holds)
    for at in range(len(holds) - 2, -1, -1):
        if firsts[at + 1].from_ms < firsts[at].from_ms:
            firsts[at] = firsts[at + 1]
    return firsts


def changes(holds: Sequence[Hold]) -> Iterator[Change]:
    """Tell every handoff of one queue, in order."""
    before, unowned_ms, overlap_ms = "", 0, 0
    ends = _Ends(holds)
    for stretch in stretches(holds):
        owners = set(stretch.clients)
        if len(owners) != 1:
            unowned_ms += stretch.lasts_ms * (not owners)
            overlap_ms += stretch.lasts_ms * (len(owners) > 1)
            continue
        (owner,) = owners
        if before and before != owner:
            yield Change(ends.giver(before, stretch), ends.taker(owner, stretch), unowned_ms, overlap_ms)
        before, unowned_ms, overlap_ms = owner, 0, 0


def returns(holds: Sequence[Hold]) -> Iterator[Change]:
    """Tell every time the queue was let go by its single owner, stayed without one, and went back to it."""
    before: set[str] = set()
    unowned_ms = 0
    ends = _Ends(holds)
    for stretch in stretches(holds):
        if not stretch.clients:
            unowned_ms += stretch.lasts_ms
            continue
        owners = set(stretch.clients)
        if unowned_ms and before == owners and len(owners) == 1:
            (owner,) = owners
            yield Change(ends.giver(owner, stretch), ends.taker(owner, stretch), unowned_ms, 0)
        before, unowned_ms = owners, 0


def _until(hold: Hold) -> int:
    return hold.until_ms


def _begin(hold: Hold) -> int:
    return hold.from_ms


class Owners:
    """Who holds each queue at moments that are asked for in order: every beginning and end is met once.

    What ends at a moment is over then; what is open goes on, for nobody saw an end of it.
    """

    def __init__(self, holds: Mapping[MessageQueue, Sequence[Hold]]) -> None:
        steps = [
            (at, queue, hold.client, step)
            for queue, those in holds.items()
            for hold in those
            for at, step in ((hold.from_ms, 1), (hold.until_ms, -1))
            if step > 0 or hold.ended != "open"
        ]
        self._steps = iter(sorted(steps, key=lambda step: step[0]))
        self._next = next(self._steps, None)
        self._times: dict[MessageQueue, dict[str, int]] = {queue: {} for queue in holds}
        self._queues: dict[str, int] = {}

    def reach(self, at_ms: int) -> None:
        """Go on to a moment."""
        while self._next is not None and self._next[0] <= at_ms:
            _, queue, client, step = self._next
            had = self._times[queue].get(client, 0) > 0
            count_in(self._times[queue], client, step)
            count_in(self._queues, client, (self._times[queue].get(client, 0) > 0) - had)
            self._next = next(self._steps, None)

    @property
    def of_queues(self) -> Iterator[tuple[MessageQueue, list[str]]]:
        """Name each queue's owners; none of some, several of others."""
        return ((queue, [name for name, times in those.items() if times > 0]) for queue, those in self._times.items())

    @property
    def clients(self) -> Iterable[str]:
        """Everybody who holds something."""
        return self._queues.keys()
