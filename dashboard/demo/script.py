"""What happens in the demo, and when. Pure: the time is an argument, and luck comes from a seed.

The first minute is written out, so that a newcomer sees a rebalance of every kind, pauses and backoff. After that
something happens every ten to twenty-five seconds. Where a person has ordered something, the script leaves the group
alone for a while, so that the person sees what came of it; what was written out for that time happens after it.
"""

from __future__ import annotations

import heapq
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from itertools import count
from random import Random

from dashboard.demo.shop import BROKERS, CASTS, Cast

PACE_MS = (10_000, 25_000)
OPENING_MS = 70_000  # until then everything is written out
RESPECT_MS = 60_000  # how long a group is left alone after an order
RESTARTS_AFTER_MS = 180_000  # newcomers first see brokers that are only slow
BROKER_PAUSE_MS = 75_000  # from the end of one broker's trouble to the next one's beginning
SLOW_MS, SLOW_FOR_MS = 900, 25_000
STALL_FOR_MS = 25_000
DOWN_FOR_MS = 12_000


class Going(Enum):
    """How a member goes."""

    LEAVES = "leave"  # in order: brokers are told
    CRASHES = "crash"  # its connections break: brokers notice at once
    FALLS_SILENT = "silent"  # its connections stand: brokers notice after two minutes


@dataclass(frozen=True, slots=True)
class Join:
    """A new member comes."""

    group: str


@dataclass(frozen=True, slots=True)
class Go:
    """A member goes; without a name, the one that came last."""

    group: str
    how: Going
    member: str | None = None


@dataclass(frozen=True, slots=True)
class Disband:
    """All members leave, for good."""

    group: str


@dataclass(frozen=True, slots=True)
class Stall:
    """A member's listener hangs; without a name, that of the member that came first."""

    group: str
    for_ms: int = STALL_FOR_MS
    member: str | None = None


@dataclass(frozen=True, slots=True)
class Resume:
    """A member's listener hangs no more."""

    group: str
    member: str


@dataclass(frozen=True, slots=True)
class Slow:
    """A broker lets every request wait."""

    broker: str
    delay_ms: int = SLOW_MS
    for_ms: int = SLOW_FOR_MS


@dataclass(frozen=True, slots=True)
class Down:
    """A broker breaks off, and comes back."""

    broker: str
    for_ms: int = DOWN_FOR_MS


@dataclass(frozen=True, slots=True)
class Recover:
    """A broker is up and quick again."""

    broker: str


Act = Join | Go | Disband | Stall | Resume | Slow | Down | Recover

OPENING: Sequence[tuple[int, Act]] = (
    (4_000, Join("billing")),
    (10_000, Slow("broker-b")),
    (18_000, Go("recommendations", Going.CRASHES)),
    (26_000, Join("payment-ledger")),
    (34_000, Stall("warehouse")),
    (41_000, Go("search-index", Going.LEAVES)),
    (48_000, Join("recommendations")),
    (56_000, Go("billing", Going.FALLS_SILENT)),
)


def opening(casts: Sequence[Cast] = CASTS) -> list[tuple[int, Act]]:
    """Give what is written out: ms after the beginning, and the act."""
    goings = [(cast.leaves_after_s * 1_000, Disband(cast.group)) for cast in casts if cast.leaves_after_s is not None]
    return sorted([*OPENING, *goings], key=lambda each: each[0])


@dataclass(slots=True)
class Script:
    """Gives the acts that are due.

    Args:
        began_at: when the curtain rises; ms, as all times here.
        luck: decides what happens after the opening.
        casts: the groups that play.
    """

    began_at: int
    luck: Random
    casts: Sequence[Cast] = CASTS
    _due: list[tuple[int, int, Act]] = field(default_factory=list)
    _numbers: count[int] = field(default_factory=count)
    _improvises_at: int = 0
    _left_alone: dict[str, int] = field(default_factory=dict)
    _brokers_well_at: int = 0

    def __post_init__(self) -> None:
        """Write the opening down."""
        for after, act in opening(self.casts):
            self.add(self.began_at + after, act)
        self._improvises_at = self.began_at + OPENING_MS

    def add(self, at: int, act: Act) -> None:
        """Let something happen then."""
        heapq.heappush(self._due, (at, next(self._numbers), act))

    def leave_alone(self, group: str, at: int) -> None:
        """Let nothing happen to a group for a while: somebody looks what came of an order."""
        self._left_alone[group] = at + RESPECT_MS

    def note_trouble(self, until: int) -> None:
        """Hear that a broker is slow or down until then: one trouble at a time is enough to follow."""
        self._brokers_well_at = max(self._brokers_well_at, until)

    @property
    def next_at(self) -> int:
        """When something happens next."""
        return min(self._improvises_at, self._due[0][0]) if self._due else self._improvises_at

    def due(self, at: int, members: Mapping[str, Sequence[str]]) -> list[Act]:
        """Take what is to happen by now; ``members`` are those of each group that live."""
        acts = []
        for act in self._take_due(at):
            until = self._left_alone.get(act.group, 0) if isinstance(act, Join | Go | Disband | Stall) else 0
            if until > at:
                self.add(until, act)
            else:
                acts.append(act)
        if at >= self._improvises_at:
            acts += self._improvise(at, members)
            self._improvises_at = at + self.luck.randint(*PACE_MS)
        for act in acts:
            if isinstance(act, Slow | Down):
                self.note_trouble(at + act.for_ms)
        return acts

    def _take_due(self, at: int) -> list[Act]:
        acts = []
        while self._due and self._due[0][0] <= at:
            acts.append(heapq.heappop(self._due)[2])
        return acts

    def _improvise(self, at: int, members: Mapping[str, Sequence[str]]) -> list[Act]:
        may_trouble = at >= self._brokers_well_at + BROKER_PAUSE_MS
        if may_trouble and self.luck.random() < 0.35:
            broker = self.luck.choice(BROKERS)
            if at >= self.began_at + RESTARTS_AFTER_MS and self.luck.random() < 0.3:
                return [Down(broker)]
            return [Slow(broker, self.luck.choice((600, 900, 1_500)))]
        free = [cast for cast in self.casts if cast.is_lively and self._left_alone.get(cast.group, 0) <= at]
        return [self._change(self.luck.choice(free), members)] if free else []

    def _change(self, cast: Cast, members: Mapping[str, Sequence[str]]) -> Act:
        there = len(members.get(cast.group, ()))
        if there <= cast.least:
            return Join(cast.group)
        if there < cast.most and self.luck.random() < 0.4:
            return Join(cast.group)
        if self.luck.random() < 0.2:
            return Stall(cast.group, member=self.luck.choice(list(members[cast.group])))
        how = self.luck.choices(list(Going), weights=(5, 4, 2))[0]
        return Go(cast.group, how, self.luck.choice(list(members[cast.group])))
