"""How far a group is: where queues end, and what it has committed, as one broker answers it."""

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
