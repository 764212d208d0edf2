"""One queue in a consumer's process-queue table: what is cached of it, how far it is, and whether it is still ours.

Source: ``client/.../impl/consumer/ProcessQueue.java``. It knows neither brokers nor threads.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Sequence

from rebalance_engine.consumer.messages import Message
from rebalance_engine.consumer.threads import Lock
from rebalance_engine.model import MessageQueue

PULL_MAX_IDLE = 120_000  # ms; ``rocketmq.client.pull.pullMaxIdleTime``
LOCK_MAX_LIVE = 30_000  # ms; ``rocketmq.client.rebalance.lockMaxLiveTime``
MIB = 1024 * 1024


class ProcessQueue:
    """One queue, from the round in which it is taken on. Times are in ms.

    Attributes:
        is_dropped: it was given up; what was begun with it counts no more.
        is_locked: the broker granted its lock; of a concurrent consumer it says nothing.
        last_lock, last_pull, last_consume: when.
        consume_lock: held while the listener has messages of it, in order to let go only between two batches.
        unlock_tries: how often the listener was waited for in vain (``tryUnlockTimes``).
        first_pull_seen: whether the handoff's end was stated.
    """

    __slots__ = (
        "_cached",
        "_in_hand",
        "_order",
        "bytes",
        "consume_lock",
        "first_pull_seen",
        "is_consuming",
        "is_dropped",
        "is_locked",
        "last_consume",
        "last_lock",
        "last_pull",
        "max_offset",
        "mq",
        "started",
        "unlock_tries",
    )

    def __init__(self, mq: MessageQueue, at: int, *, is_locked: bool) -> None:
        self.mq = mq
        self.is_dropped = False
        self.is_locked = is_locked
        self.last_lock = at
        self.last_pull = at
        self.last_consume = at
        self.consume_lock = Lock()
        self.unlock_tries = 0
        self.first_pull_seen = False
        self.is_consuming = False
        self.max_offset = 0
        self.bytes = 0
        self.started: dict[int, int] = {}
        self._cached: dict[int, Message] = {}
        self._order: deque[int] = deque()
        self._in_hand: dict[int, Message] = {}

    # ---- what it can tell ----

    @property
    def count(self) -> int:
        """How many messages are cached, those in the listener's hand included."""
        return len(self._cached) + len(self._in_hand)

    @property
    def mib(self) -> int:
        """How large they are, rounded down."""
        return self.bytes // MIB

    @property
    def first(self) -> int | None:
        """The smallest cached offset, not counting what is in hand."""
        order, cached = self._order, self._cached
        while order and order[0] not in cached:
            order.popleft()
        return order[0] if order else None

    @property
    def last(self) -> int | None:
        """The largest cached offset, not counting what is in hand."""
        order, cached = self._order, self._cached
        while order and order[-1] not in cached:
            order.pop()
        return order[-1] if order else None

    @property
    def span(self) -> int:
        """From the smallest to the largest cached offset."""
        first, last = self.first, self.last
        return 0 if first is None or last is None else last - first

    @property
    def unfinished(self) -> int | None:
        """The smallest offset that nobody has finished, in hand or cached."""
        in_hand = min(self._in_hand, default=None)
        return in_hand if in_hand is not None else self.first

    @property
    def in_hand(self) -> tuple[int, ...]:
        """The offsets that an orderly listener has."""
        return tuple(self._in_hand)

    def __contains__(self, offset: object) -> bool:
        return offset in self._cached

    def has_pull_expired(self, at: int, max_idle: int = PULL_MAX_IDLE) -> bool:
        """Whether it was not pulled for more than two minutes, so that its pull loop must be broken."""
        return at - self.last_pull > max_idle

    def has_lock_expired(self, at: int) -> bool:
        """Whether its lock was not renewed for half a minute, as far as we know."""
        return at - self.last_lock > LOCK_MAX_LIVE

    # ---- both kinds of listeners ----

    def put(self, messages: Sequence[Message]) -> bool:
        """Cache what was pulled (``putMessage``); say whether an orderly listener must be started."""
        cached = self._cached
        for message in messages:
            offset = message.offset
            if offset not in cached:
                cached[offset] = message
                self._enter(offset)
                self.bytes += message.size
                self.max_offset = offset
        if cached and not self.is_consuming:
            self.is_consuming = True
            return True
        return False

    def _enter(self, offset: int) -> None:
        last = self.last
        if last is None or last < offset:
            self._order.append(offset)
        else:
            self._order = deque(sorted({*(each for each in self._order if each in self._cached), offset}))

    # ---- concurrent listeners ----

    def remove(self, messages: Iterable[Message], at: int) -> int:
        """Forget finished messages (``removeMessage``): the offset up to which all are finished, -1 if none was cached.

        Other threads may still have later ones, and one of an earlier one holds the offset back.
        """
        self.last_consume = at
        if not self._cached:
            return -1
        for message in messages:
            self.started.pop(message.offset, None)
            if self._cached.pop(message.offset, None) is not None:
                self.bytes -= message.size
        first = self.first
        return self.max_offset + 1 if first is None else first

    def start(self, messages: Iterable[Message], at: int) -> None:
        """Note when the listener got messages; they time out from then on."""
        for message in messages:
            self.started[message.offset] = at

    def oldest_since(self, at: int) -> Message | None:
        """The first cached message, if the listener got it before ``at``."""
        first = self.first
        if first is None or self.started.get(first, at) >= at:
            return None
        return self._cached[first]

    # ---- orderly listeners ----

    def take(self, count: int, at: int) -> tuple[Message, ...]:
        """Take the next messages into the listener's hand (``takeMessages``); none: the listener stops."""
        self.last_consume = at
        taken: list[Message] = []
        while len(taken) < count and (first := self.first) is not None:
            message = self._cached.pop(first)
            self._in_hand[first] = message
            taken.append(message)
        if not taken:
            self.is_consuming = False
        return tuple(taken)

    def commit(self) -> int:
        """Forget what is in hand (``commit``): the offset after it, -1 if nothing was."""
        if not self._in_hand:
            return -1
        offset = max(self._in_hand)
        self.bytes -= sum(message.size for message in self._in_hand.values())
        self._in_hand.clear()
        return offset + 1

    def put_back(self, messages: Sequence[Message]) -> None:
        """Let messages be consumed again (``makeMessageToConsumeAgain``)."""
        while self._order and self._order[0] not in self._cached:
            self._order.popleft()
        for message in reversed(messages):
            self._in_hand.pop(message.offset, None)
            self._cached[message.offset] = message
            self._order.appendleft(message.offset)

    def clear(self) -> None:
        """Forget all that is cached."""
        self._cached.clear()
        self._order.clear()
        self._in_hand.clear()
        self.started.clear()
        self.bytes = 0
        self.max_offset = 0

    def check(self) -> None:
        """Assert what always holds."""
        live = [offset for offset in self._order if offset in self._cached]
        assert live == sorted(self._cached), f"{self.mq}: the order {live} is not that of {sorted(self._cached)}"
        assert not self._cached.keys() & self._in_hand.keys(), f"{self.mq}: cached and in hand"
        size = sum(message.size for held in (self._cached, self._in_hand) for message in held.values())
        assert self.bytes == size, f"{self.mq}: {self.bytes} bytes counted, {size} there"
