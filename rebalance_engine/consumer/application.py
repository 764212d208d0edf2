"""What passes between a client and the application around it.

The application's listener is no part of the machine: messages go out as :class:`Deliver`, an effect, and what became of
them comes back as :class:`Consumed`, which the machine hears. In between any time may pass. The orders are what the
application calls on Java's ``DefaultMQPushConsumer`` and ``DefaultLitePullConsumer``; the machine hears them too.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum

from rebalance_engine.consumer.messages import Message
from rebalance_engine.consumer.settings import GroupSettings
from rebalance_engine.effects import Effect
from rebalance_engine.model import MessageQueue
from rebalance_engine.remoting.bodies.clients import SUBSCRIBE_ALL


@dataclass(frozen=True, slots=True, kw_only=True)
class Deliver:
    """An effect: let the application consume these messages, and say Consumed with this token when it has."""

    group: str
    queue: MessageQueue
    messages: tuple[Message, ...]
    token: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Polled:
    """An effect: what a poll gives; nothing of no queue when its time is over."""

    group: str
    queue: MessageQueue | None
    messages: tuple[Message, ...]


class Result(Enum):
    """What the application's listener returned; an exception and null count as LATER."""

    SUCCESS = "success"
    LATER = "again later; orderly: suspend the queue a moment"


@dataclass(frozen=True, slots=True, kw_only=True)
class Consumed:
    """The application has done with what was delivered.

    Attributes:
        done: how many messages of the batch, from its first on, succeeded; None: all (``ackIndex`` + 1).
        delay_level: for failed messages, -1 dead letter at once, 0 the broker decides, above: a level.
        suspend_ms: how long an orderly queue waits after LATER; None: the group's setting.
    """

    token: int
    result: Result = Result.SUCCESS
    done: int | None = None
    delay_level: int = 0
    suspend_ms: int | None = None


# ---- what the application orders ----


@dataclass(frozen=True, slots=True, kw_only=True)
class Start:
    """Start a consumer of a group; the first one starts the client with it.

    Attributes:
        saved: what was last saved under each name (:class:`~rebalance_engine.effects.Save`).
    """

    settings: GroupSettings
    saved: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Drain:
    """Let nothing new begin, and keep all queues and locks: what the listener has in hand still counts.

    A Stop comes after it, once the listener is done or has had its time (``awaitTerminationMillisWhenShutdown``).
    """

    group: str


@dataclass(frozen=True, slots=True)
class Stop:
    """Shut a consumer down; the last one shuts the client down with it."""

    group: str


@dataclass(frozen=True, slots=True)
class Suspend:
    """Stop pulling; what was pulled is consumed."""

    group: str


@dataclass(frozen=True, slots=True)
class Resume:
    """Pull again, after a rebalance at once."""

    group: str


@dataclass(frozen=True, slots=True)
class Subscribe:
    """Subscribe to one more topic."""

    group: str
    topic: str
    expression: str = SUBSCRIBE_ALL


@dataclass(frozen=True, slots=True)
class Unsubscribe:
    """Give a topic up; its queues go with the next rebalance."""

    group: str
    topic: str


@dataclass(frozen=True, slots=True)
class Assign:
    """Lite pull: take these queues, whoever else has them; go on at their offsets in those that have one."""

    group: str
    queues: tuple[MessageQueue, ...]
    offsets: tuple[tuple[MessageQueue, int], ...] = ()


@dataclass(frozen=True, slots=True)
class Poll:
    """Lite pull: ask for the next messages; they come as one Polled, an empty one when the time is over."""

    group: str
    timeout_ms: int = 5_000


@dataclass(frozen=True, slots=True)
class Seek:
    """Lite pull: go on at this offset."""

    group: str
    queue: MessageQueue
    offset: int


@dataclass(frozen=True, slots=True)
class Commit:
    """Lite pull: what was polled counts as consumed from here on; or only if it is time for that again.

    A poll does the latter itself (``maybeAutoCommit``); who waits for the end of an earlier poll orders it.
    """

    group: str
    only_if_due: bool = False


@dataclass(frozen=True, slots=True)
class Note:
    """Pull by hand: note how far a queue is (``updateConsumeOffset``); the timer stores it."""

    group: str
    queue: MessageQueue
    offset: int


Order = Start | Drain | Stop | Suspend | Resume | Subscribe | Unsubscribe | Assign | Poll | Seek | Commit | Note
Asked = Effect | Deliver | Polled  # what a client asks for
