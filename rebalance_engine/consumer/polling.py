"""What a polling consumer knows of the queues that are assigned to it, and what it has pulled ahead for its polls.

Source: ``client/.../impl/consumer/AssignedMessageQueue.java``.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field

from rebalance_engine.consumer.messages import Message
from rebalance_engine.consumer.process_queue import ProcessQueue
from rebalance_engine.consumer.threads import Bell
from rebalance_engine.effects import Address
from rebalance_engine.model import MessageQueue


@dataclass(slots=True, eq=False)
class Position:
    """Where a polling consumer is in one queue; None is not known.

    Attributes:
        pulled: where the next pull begins.
        consumed: after what was polled last.
        sought: where the application wants to go on, until the next pull does.
        is_over: nobody pulls it any more.
    """

    pq: ProcessQueue
    pulled: int | None = None
    consumed: int | None = None
    sought: int | None = None
    is_over: bool = False


@dataclass(slots=True, eq=False)
class Polling:
    """The queues of one polling consumer.

    Attributes:
        cache: what was pulled, in the order in which polls get it.
        bell: rings when the cache gets something.
        commit_due: when the next poll notes how far all queues are, in ms.
        old_brokers: those that know nothing of ``LITE_PULL_MESSAGE``.
    """

    positions: dict[MessageQueue, Position] = field(default_factory=dict)
    cache: deque[tuple[Position, tuple[Message, ...]]] = field(default_factory=deque)
    bell: Bell = field(default_factory=Bell)
    commit_due: int = 0
    old_brokers: set[Address] = field(default_factory=set)

    def release(self, mq: MessageQueue) -> Position | None:
        """Pull a queue no more."""
        position = self.positions.pop(mq, None)
        if position is not None:
            position.is_over = True
        return position

    def forget_cached(self, position: Position) -> None:
        """Throw away what was pulled of a queue."""
        self.cache = deque((each, messages) for each, messages in self.cache if each is not position)
        position.pq.clear()

    def next_batch(self) -> tuple[Position, tuple[Message, ...]] | None:
        """Take the next batch out of the cache, passing over queues that are dropped."""
        while self.cache:
            position, messages = self.cache.popleft()
            if not position.pq.is_dropped:
                return position, messages
        return None
