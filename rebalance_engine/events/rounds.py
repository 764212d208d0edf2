"""Rounds, moves and handoffs, and what they cost: intervals and duplicates, each with its bounds."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import ClassVar

from rebalance_engine.events.fact import Bound, GroupFact
from rebalance_engine.events.shapes import At, Count, Milliseconds, Number, Offset, Text, refusal, shorten
from rebalance_engine.model import MessageQueue


class Cause(Enum):
    """What made a round open. Never a guess: what is not proven is unknown."""

    MEMBER_JOINED = "member joined"
    MEMBER_LEFT = "member left"
    HEARTBEAT_EXPIRED = "heartbeat expired"
    SUBSCRIPTION_CHANGED = "subscription changed"
    ROUTE_CHANGED = "route changed"
    BROKER_GONE = "broker gone"
    BROKER_BACK = "broker back"
    STRATEGY_CHANGED = "strategy changed"
    CONFIG_CHANGED = "config changed"
    PLAN_CHANGED = "plan changed"
    HELD_CHANGED = "held changed"
    MANUAL = "manual"
    MANY_AT_ONCE = "many at once"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True, kw_only=True)
class RoundFact(GroupFact):
    """What every fact about a round carries; ``round`` is the group's running number, from 1."""

    round: Number


@dataclass(frozen=True, slots=True, kw_only=True)
class RoundOpened(RoundFact):
    """A round opened; ``evidence`` are the lines, answers or commands that prove the cause.

    Told again when that is seen later.
    """

    cause: Cause
    evidence: tuple[Text, ...]
    members_before: tuple[Text, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class RoundClosed(RoundFact):
    """Held equals target: the round is over; ``moves`` are the queues that changed owner, without it: unknown.

    Told again when it is known closer.
    """

    members_after: tuple[Text, ...]
    moves: Count | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class RoundSuperseded(RoundFact):
    """A further change more than 3 s after the last cause closed the round, and opened round ``by``."""

    by: Number

    def _check_together(self) -> None:
        if self.by <= self.round:
            raise refusal(self, f"round {self.round} superseded by {self.by}; it needs a later one")


@dataclass(frozen=True, slots=True, kw_only=True)
class RoundNotConverged(RoundFact):
    """120 s have passed and held is not target, or one of them is unknown; the round stays open."""

    unsettled: tuple[MessageQueue, ...]
    unknown_members: tuple[Text, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class QueueMoved(GroupFact):
    """A move: one queue's owner changed. No ``from_client``: it had no owner; no ``to_client``: it has none now.

    ``cause`` is in the words of the room that compared the owners; the round's cause is the round's.
    """

    queue: MessageQueue
    cause: Text
    from_client: Text | None = None
    to_client: Text | None = None
    round: Number | None = None

    def _check_together(self) -> None:
        if self.from_client == self.to_client:
            raise refusal(self, f"from {self.from_client!r} to the same; a move needs two different owners")


@dataclass(frozen=True, slots=True, kw_only=True)
class Handoff(GroupFact):
    """One moved queue's story: dropped at A, added at B, first pull at B. None is what is not known."""

    queue: MessageQueue
    from_client: Text
    to_client: Text
    dropped_at: At | None = None
    added_at: At | None = None
    first_pull_at: At | None = None
    round: Number | None = None

    def _check_together(self) -> None:
        if self.from_client == self.to_client:
            raise refusal(self, f"from {self.from_client!r} to the same; a handoff needs two members")
        if self.added_at is not None and self.first_pull_at is not None and self.added_at > self.first_pull_at:
            seen = f"first pull at {self.first_pull_at}, added at {self.added_at}"
            raise refusal(self, f"{seen}; nobody pulls before adding")


# Intervals and duplicates: figures with bounds.


@dataclass(frozen=True, slots=True, kw_only=True)
class Interval(GroupFact):
    """What every interval of one queue carries: it began ``at``, and lasted ``duration_ms`` within the exactness.

    One that still lasts is a lower bound.
    """

    FIGURE: ClassVar[str] = "duration_ms"

    queue: MessageQueue
    duration_ms: Milliseconds
    has_ended: bool
    round: Number | None = None

    def _check_together(self) -> None:
        bound = self.exactness.bound
        if not self.has_ended and bound is not Bound.AT_LEAST:
            raise refusal(self, f"still lasts, and is {bound.value!r}; it needs 'at least'")


@dataclass(frozen=True, slots=True, kw_only=True)
class Unowned(Interval):
    """No member held the queue."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Overlap(Interval):
    """Two members or more held the queue; whether they also pulled may be unknown."""

    clients: tuple[Text, ...]
    have_both_pulled: bool | None = None

    def _check_together(self) -> None:
        Interval._check_together(self)
        if len(set(self.clients)) < 2:
            raise refusal(self, f"of {shorten(self.clients)}; it needs two members or more")


@dataclass(frozen=True, slots=True, kw_only=True)
class Pause(Interval):
    """Nobody pulled the queue: from the drop at A to the first pull at B."""

    from_client: Text | None = None
    to_client: Text | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Silence(Interval):
    """No message of the queue was consumed although messages waited."""

    from_client: Text | None = None
    to_client: Text | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Duplicates(GroupFact):
    """Messages of one queue that were consumed more than once; ``count`` is how many, within the exactness."""

    FIGURE: ClassVar[str] = "count"

    queue: MessageQueue
    count: Count
    clients: tuple[Text, ...]
    first_offset: Offset | None = None
    last_offset: Offset | None = None
    round: Number | None = None

    def _check_together(self) -> None:
        if self.first_offset is None or self.last_offset is None:
            return
        if self.first_offset > self.last_offset:
            seen = f"offsets {self.first_offset} to {self.last_offset}"
            raise refusal(self, f"{seen}; the first must not be above the last")
