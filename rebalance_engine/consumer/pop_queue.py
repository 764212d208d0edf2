"""One queue, or all queues of a broker, that a member pops: several members may have the same.

Source: ``client/.../impl/consumer/PopProcessQueue.java``.
"""

from __future__ import annotations

from rebalance_engine.consumer.process_queue import PULL_MAX_IDLE
from rebalance_engine.model import MessageQueue


class PopQueue:
    """From the round in which it is taken on. Nothing is cached of it, and nobody notes how far it is.

    Attributes:
        mq: of queue id -1 it is all queues of its broker.
        is_dropped: it was given up; what was popped of it is not consumed any more, and others get it again.
        last_pop: when, in ms.
        waiting: how many messages are neither acknowledged nor given up (``waitAckCounter``).
    """

    __slots__ = ("is_dropped", "last_pop", "mq", "waiting")

    def __init__(self, mq: MessageQueue, at: int) -> None:
        self.mq = mq
        self.is_dropped = False
        self.last_pop = at
        self.waiting = 0

    def has_expired(self, at: int, max_idle: int = PULL_MAX_IDLE) -> bool:
        """Whether it was not popped for more than two minutes, so that its loop must be broken."""
        return at - self.last_pop > max_idle
