"""How far a group is, as one broker answers it: where queues end, what is committed, how much was given up."""

from __future__ import annotations

from dataclasses import dataclass

from rebalance_engine.events.fact import GroupFact
from rebalance_engine.events.shapes import At, Offset, Text, check, refusal, repeated
from rebalance_engine.model import MessageQueue


@dataclass(frozen=True, slots=True, kw_only=True)
class QueueProgress:
    """One queue: its end at the broker, what is committed, and when the last consumed message had been stored.

    ``committed`` is None where it is unknown: a broker answers 0 also for a queue of which nothing ever was.
    """

    queue: MessageQueue
    end: Offset
    committed: Offset | None = None
    consumed_up_to: At | None = None

    def __post_init__(self) -> None:
        """Refuse what no queue can be."""
        check(self)


@dataclass(frozen=True, slots=True, kw_only=True)
class ProgressSeen(GroupFact):
    """How far a group is on one broker, all at one look."""

    broker: Text
    queues: tuple[QueueProgress, ...]

    def _check_together(self) -> None:
        again = repeated(each.queue for each in self.queues)
        if again:
            raise refusal(self, f"has {again} more than once; each queue may be there once")


@dataclass(frozen=True, slots=True, kw_only=True)
class DeadLettersSeen(GroupFact):
    """How many messages of a group one broker has put into its dead-letter topic so far, and ``kept`` of them still.

    0 where the broker has no such topic: it comes with the first message that is given up.
    """

    broker: Text
    put: Offset
    kept: Offset

    def _check_together(self) -> None:
        if self.kept > self.put:
            raise refusal(self, f"has kept = {self.kept}; no more can be kept than the {self.put} that were put there")
