"""A message as an application gets it, and what it may answer."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from rebalance_engine.consumer import Message
from rebalance_engine.model import MessageQueue
from rebalance_engine.network.checking import check_retry
from rebalance_engine.remoting.message_ids import offset_id
from rebalance_engine.remoting.messages import Host, StoredMessage
from rebalance_engine.remoting.properties import KEYS, SHARDING_KEY

DEAD_LETTER = -1
BROKER_DECIDES = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Retry:
    """What a listener answers when a message could not be consumed; an exception means the same.

    Attributes:
        delay_level: when it comes again: -1 never, it becomes a dead letter at once; 0 the broker decides, later each
            time; from 1 on a level of the broker's ``messageDelayLevel`` (1 s, 5 s, 10 s, 30 s, 1 min ...). An orderly
            consumer has no levels.
        done: of a batch, how many messages from the first on succeeded all the same. Concurrent consumers only.
        suspend_ms: how long an orderly consumer leaves the queue alone; None: as configured.

    Raises:
        TypeError: a field is of another kind. In a listener that is an exception like any other.
        ValueError: its value makes no sense.
    """

    delay_level: int = BROKER_DECIDES
    done: int = 0
    suspend_ms: int | None = None

    def __post_init__(self) -> None:
        given = (self.delay_level, self.done, self.suspend_ms)
        if (plain := check_retry(given)) is not given:
            for name, number in zip(("delay_level", "done", "suspend_ms"), plain, strict=True):
                object.__setattr__(self, name, number)


Settle = Callable[["Retry | None"], None]


class ReceivedMessage:
    """One message of a queue.

    Attributes:
        queue: where it was pulled; of a retried message a queue of ``%RETRY%group``.
        topic: where it was sent; of a retried message its original topic.
        offset: its place in its queue.
        reconsume_times: how often it was retried.
        tags: what it was tagged with.
        message_id: given by its producer, the same across retries; of a producer that gives none, the offset id.
    """

    __slots__ = (
        "__weakref__",
        "_settle",
        "_stored",
        "message_id",
        "offset",
        "queue",
        "reconsume_times",
        "tags",
        "topic",
    )

    def __init__(self, queue: MessageQueue, message: Message, settle: Settle | None = None) -> None:
        assert isinstance(message.content, StoredMessage), f"{message} was not read from a broker's answer"
        self._stored: StoredMessage = message.content
        self._settle = settle
        self.queue = queue
        self.topic = message.topic
        self.offset = message.offset
        self.reconsume_times = message.reconsume_times
        self.tags = message.tags
        self.message_id = message.message_id or ""

    def __repr__(self) -> str:
        place = f"{self.queue.topic}/{self.queue.broker}/{self.queue.queue_id}"
        return f"<message {self.message_id} of {self.topic!r} at {place} {self.offset}, {len(self.body)} bytes>"

    def ack(self) -> None:
        """Say that it is consumed, in a loop over messages, before the loop asks for the next one.

        Raises:
            RuntimeError: it came another way; then the listener's answer says it, or a commit.
        """
        self._answer(None)

    def retry(self, delay_level: int = BROKER_DECIDES, *, suspend_ms: int | None = None) -> None:
        """Say that it is to come again, in a loop over messages; see :class:`Retry`.

        Raises:
            RuntimeError: it came another way; then the listener answers with a Retry.
            TypeError, ValueError: as of :class:`Retry`.
        """
        self._answer(Retry(delay_level=delay_level, suspend_ms=suspend_ms))

    def _answer(self, answer: Retry | None) -> None:
        if self._settle is None:
            raise RuntimeError(f"{self!r} did not come from a loop over messages; only those are settled one by one")
        self._settle(answer)

    @property
    def body(self) -> bytes:
        """What was sent, unpacked."""
        return self._stored.body

    @property
    def properties(self) -> dict[str, str]:
        """All its properties by name, RocketMQ's own included."""
        return self._stored.properties

    @property
    def keys(self) -> tuple[str, ...]:
        """What it can be looked up by."""
        return tuple(self._stored.properties.get(KEYS, "").split())

    @property
    def sharding_key(self) -> str | None:
        """What its queue was chosen by, if its producer said so."""
        return self._stored.properties.get(SHARDING_KEY)

    @property
    def offset_message_id(self) -> str:
        """Where its broker stored it, as an id."""
        return offset_id(self._stored.store_host, self._stored.commit_log_offset)

    @property
    def born_at(self) -> int:
        """When its producer made it, in ms by the producer's clock."""
        return self._stored.born_timestamp

    @property
    def stored_at(self) -> int:
        """When its broker stored it, in ms by the broker's clock."""
        return self._stored.store_timestamp

    @property
    def born_host(self) -> Host:
        """Whence it was sent."""
        return self._stored.born_host

    @property
    def store_host(self) -> Host:
        """Where it is stored."""
        return self._stored.store_host

    @property
    def flag(self) -> int:
        """The application's own number."""
        return self._stored.flag
