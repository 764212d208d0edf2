"""What a run amounted to: counts, and how long queues were without an owner, with two, or silent."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from rebalance_engine.model import MessageQueue


@dataclass(frozen=True, slots=True)
class Span:
    """Something that lasted, of one queue; ``at`` is when it began, in ms on the virtual clock."""

    queue: MessageQueue
    at: int
    duration_ms: int


@dataclass(slots=True)
class Figures:
    """The figures of one run, or of many.

    Attributes:
        events: things that happened on the virtual clock.
        moves: queues that changed hands.
        duplicates: messages that a listener was given again, other than because it asked for that.
        consumed: messages that listeners were given.
        settled: times at which the whole group was found in order.
        overlaps, unowned, silences: when, and how long; a silence is a time in which messages waited.
        repeats: the queue of each duplicate, and when a listener was given it.
    """

    seeds: int = 0
    events: int = 0
    moves: int = 0
    duplicates: int = 0
    consumed: int = 0
    settled: int = 0
    overlaps: list[Span] = field(default_factory=list)
    unowned: list[Span] = field(default_factory=list)
    silences: list[Span] = field(default_factory=list)
    repeats: list[tuple[MessageQueue, int]] = field(default_factory=list)

    def add(self, other: Figures) -> None:
        """Add the figures of another run."""
        self.seeds += other.seeds
        self.events += other.events
        self.moves += other.moves
        self.duplicates += other.duplicates
        self.consumed += other.consumed
        self.settled += other.settled
        self.overlaps += other.overlaps
        self.unowned += other.unowned
        self.silences += other.silences
        self.repeats += other.repeats

    def __str__(self) -> str:
        """Say them in one line."""
        named = (
            (self.seeds, "seed"),
            (self.events, "event"),
            (self.moves, "move"),
            (len(self.overlaps), "overlap"),
            (self.duplicates, "duplicate"),
        )
        return ", ".join(f"{count:,} {word}{'' if count == 1 else 's'}" for count, word in named)


def longest(spans: Iterable[Span]) -> int:
    """Give the longest of some, in ms; 0 if there are none."""
    return max((span.duration_ms for span in spans), default=0)
