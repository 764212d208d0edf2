"""Held: what a consumer really has; and the queue locks of orderly groups, as the broker grants them."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from rebalance_engine.events.fact import MemberFact, MemberQueueFact
from rebalance_engine.events.shapes import Code, Offset, Text, refusal, repeated
from rebalance_engine.model import MessageQueue


class DropReason(Enum):
    """Why a consumer let go of a queue (the removal lines of ``RebalanceImpl.java``)."""

    NOT_IN_TARGET = "not in target"
    PULL_EXPIRED = "pull expired"
    NOT_SUBSCRIBED = "not subscribed"
    OFFSET_ILLEGAL = "offset illegal"
    STOPPED = "stopped"
    LOST = "lost"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True, kw_only=True)
class QueueTaken(MemberQueueFact):
    """A consumer took a queue into its process-queue table, to go on at ``start_offset``.

    Where ``is_shared``, it pops the queue: others may pop it too, and nobody owns it. Unknown is as good as no.
    """

    start_offset: Offset | None = None
    is_shared: bool | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class QueueDropped(MemberQueueFact):
    """A consumer dropped a queue, having committed up to ``committed_offset``."""

    reason: DropReason
    committed_offset: Offset | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class QueuePulled(MemberQueueFact):
    """The first pull of a queue that was taken: a handoff's pause ends here."""

    offset: Offset | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class PullRefused(MemberQueueFact):
    """A broker refused a pull, with RocketMQ's response code; refused pulls count as paused."""

    code: Code


@dataclass(frozen=True, slots=True, kw_only=True)
class HeldSeen(MemberFact):
    """All that a consumer held at one look; ``dropped`` are the entries still in its table that it gave up."""

    queues: tuple[MessageQueue, ...]
    dropped: tuple[MessageQueue, ...]

    def _check_together(self) -> None:
        again = repeated(self.queues + self.dropped)
        if again:
            raise refusal(self, f"has {again} more than once; each queue is either held or dropped")


# Queue locks of orderly groups, as the broker grants them.


@dataclass(frozen=True, slots=True, kw_only=True)
class LockGranted(MemberQueueFact):
    """A broker granted the lock of a queue; ``expired_holder`` had let its own expire."""

    expired_holder: Text | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class LockRefused(MemberQueueFact):
    """A broker refused the lock, because ``holder`` has it; a client's log does not say who."""

    holder: Text | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class LockReleased(MemberQueueFact):
    """A member gave its lock back."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LockExpired(MemberQueueFact):
    """A member's lock ran out, 60 s after its last renewal."""
