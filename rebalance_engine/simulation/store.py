"""The messages of one broker: what is in each queue, what waits for its delay, and where every message is.

It is what is on disk, so it outlives the broker's process.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from rebalance_engine.consumer.messages import Message
from rebalance_engine.model import RETRY_TOPIC_PREFIX, MessageQueue

DEAD_LETTER_PREFIX = "%DLQ%"
DELAYS_MS = tuple(  # ``MessageStoreConfig.messageDelayLevel``; level 1 is the first
    1_000 * seconds
    for seconds in (1, 5, 10, 30, 60, 120, 180, 240, 300, 360, 420, 480, 540, 600, 1200, 1800, 3600, 7200)
)
FIRST_RETRY_LEVEL = 3
NO_LIMIT = 16


@dataclass(frozen=True, slots=True)
class Returned:
    """A message that came back: where it was, and where and when it is to be seen again.

    Attributes:
        name: of this return; the message that is seen again has it as its content.
    """

    name: str
    place: MessageQueue
    offset: int
    topic: str
    due: int
    message: Message


@dataclass(slots=True)
class Store:
    """All messages of a broker.

    Attributes:
        stored_at: when each message was stored, in ms; by its place in the commit log.
    """

    broker: str
    stored_at: list[int] = field(default_factory=list)
    delayed: dict[int, Returned] = field(default_factory=dict)
    _queues: dict[tuple[str, int], list[Message]] = field(default_factory=dict)
    _log: list[tuple[MessageQueue, Message]] = field(default_factory=list)
    _returned: int = 0

    def append(
        self, place: MessageQueue, at: int, *, topic: str | None = None, reconsumed: int = 0, content: object = None
    ) -> Message:
        """Store a message at the end of a queue."""
        queue = self._queues.setdefault((place.topic, place.queue_id), [])
        message = Message(
            offset=len(queue),
            topic=topic or place.topic,
            size=100,
            commit_log_offset=len(self._log),
            message_id=f"{self.broker}-{len(self._log)}",
            reconsume_times=reconsumed,
            content=content,
        )
        queue.append(message)
        self._log.append((place, message))
        self.stored_at.append(at)
        return message

    def end(self, topic: str, queue_id: int) -> int:
        """Give the offset that the next message of a queue will get."""
        return len(self._queues.get((topic, queue_id), ()))

    def read(self, topic: str, queue_id: int, offset: int, count: int) -> tuple[Message, ...]:
        """Give messages of a queue from an offset on."""
        return tuple(self._queues.get((topic, queue_id), ())[offset : offset + count])

    # ---- messages that come back ----

    def take_back(self, group: str, commit_log_offset: int, level: int, limit: int, at: int) -> tuple[int, Returned]:
        """Keep a message that failed for its delay; beyond its last try it goes to the dead letters at once."""
        place, message = self._log[commit_log_offset]
        is_dead = level < 0 or message.reconsume_times >= limit
        chosen = level or FIRST_RETRY_LEVEL + message.reconsume_times
        delay = 0 if is_dead else DELAYS_MS[min(chosen, len(DELAYS_MS)) - 1]
        topic = f"{DEAD_LETTER_PREFIX if is_dead else RETRY_TOPIC_PREFIX}{group}"
        self._returned += 1
        returned = self.delayed[self._returned] = Returned(
            str(self._returned), place, message.offset, topic, at + delay, message
        )
        return self._returned, returned

    def release(self, number: int, at: int) -> MessageQueue:
        """Let a message be seen again; give the queue that it is in now."""
        returned = self.delayed.pop(number)
        place = MessageQueue(returned.topic, self.broker, 0)
        original = returned.message
        reconsumed = original.reconsume_times + 1
        self.append(place, at, topic=original.topic, reconsumed=reconsumed, content=returned.name)
        return place
