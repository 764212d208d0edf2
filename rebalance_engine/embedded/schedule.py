"""Messages that are to be seen later: by level, or (5.x) at a time.

A delayed message is stored under a topic of RocketMQ's own with its real topic and queue among its properties, and
stored again under these when it is due; so it survives a restart. A message that becomes due while the broker is down
is delivered when it is back; one that was delivered right before a crash may be delivered twice.

Sources: ``broker/.../schedule/ScheduleMessageService.java``, ``broker/.../util/HookUtils.java``
(``handleScheduleMessage``), ``store/.../timer/TimerMessageStore.java``.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Mapping
from dataclasses import replace

from rebalance_engine.embedded.settings import delays_ms
from rebalance_engine.embedded.store import Draft, Kept, MessageStore, draft_of, properties_of, tag_code
from rebalance_engine.embedded.topics import SCHEDULE_TOPIC, TIMER_TOPIC
from rebalance_engine.remoting.messages import StoredMessage, decode_messages
from rebalance_engine.remoting.properties import DELAY, REAL_QUEUE_ID, REAL_TOPIC

TIMER_DELAY_SEC, TIMER_DELAY_MS, TIMER_DELIVER_MS = "TIMER_DELAY_SEC", "TIMER_DELAY_MS", "TIMER_DELIVER_MS"
TIMER_OUT_MS = "TIMER_OUT_MS"
PRECISION_MS = 1_000  # ``timerPrecisionMs``
LONGEST_MS = 3 * 24 * 3_600_000  # ``timerMaxDelaySec``
Delivered = tuple[str, int, int, int]  # topic, queue id, hash of the tag, time


class IllegalTimer(ValueError):
    """A message asks for a time that it cannot have."""


class Schedule:
    """What waits on one broker.

    Args:
        store: keeps the messages.
        levels: ``messageDelayLevel``.
        delivered: level -> offset of the first message that was not delivered before; the timer is level 0.
        has_timer: whether messages may name a time (5.0 and later).
    """

    def __init__(self, store: MessageStore, levels: str, delivered: Mapping[int, int], *, has_timer: bool) -> None:
        self._store = store
        self._delays = delays_ms(levels)
        self._has_timer = has_timer
        self._waiting: list[tuple[int, int, int]] = []  # due, level, offset
        self._pending: dict[int, set[int]] = {}  # level -> offsets
        for level in range(len(self._delays) + 1):
            self._find_waiting(level, delivered.get(level, 0))

    def _find_waiting(self, level: int, first: int) -> None:
        topic, queue_id = _queue_of(level)
        begin, end = self._store.begin(topic, queue_id), self._store.end(topic, queue_id)
        for offset in range(max(first, begin), end):
            self._wait(self._due(level, offset), level, offset)

    def _due(self, level: int, offset: int) -> int:
        topic, queue_id = _queue_of(level)
        if level:
            return self._store.stored_at(topic, queue_id, offset) + self._delays[level - 1]
        return int(self._message(level, offset).properties.get(TIMER_OUT_MS, 0))

    def _wait(self, due: int, level: int, offset: int) -> None:
        heapq.heappush(self._waiting, (due, level, offset))
        self._pending.setdefault(level, set()).add(offset)

    # ---- coming ----

    def divert(self, draft: Draft, at: int) -> Draft:
        """Give the draft that is to be stored now: the same, or one that waits.

        Raises:
            IllegalTimer: the message asks for a time that it cannot have.
        """
        level = _level(draft.properties)
        if level > 0:
            level = min(level, len(self._delays))
            kept = {name: value for name, value in draft.properties.items() if not name.startswith("TIMER_D")}
            return _waiting(draft, {**kept, DELAY: str(level)}, SCHEDULE_TOPIC, level - 1)
        due = self._time_of(draft.properties, at)
        if due is None or due <= at:
            return draft
        if due - at > LONGEST_MS:
            raise IllegalTimer
        rounded = (due - 1) // PRECISION_MS * PRECISION_MS
        return _waiting(draft, {**draft.properties, TIMER_OUT_MS: str(rounded)}, TIMER_TOPIC, 0)

    def _time_of(self, properties: Mapping[str, str], at: int) -> int | None:
        if not self._has_timer or TIMER_OUT_MS in properties:
            return None
        try:
            if TIMER_DELAY_SEC in properties:
                return at + int(properties[TIMER_DELAY_SEC]) * 1_000
            if TIMER_DELAY_MS in properties:
                return at + int(properties[TIMER_DELAY_MS])
            return int(properties[TIMER_DELIVER_MS]) if TIMER_DELIVER_MS in properties else None
        except ValueError:
            raise IllegalTimer from None

    def entered(self, draft: Draft, kept: Kept, at: int) -> bool:
        """Note that a draft was stored; say whether it is one that waits."""
        if draft.topic == TIMER_TOPIC and TIMER_OUT_MS in draft.properties:
            self._wait(int(draft.properties[TIMER_OUT_MS]), 0, kept.offset)
        elif draft.topic == SCHEDULE_TOPIC:
            level = draft.queue_id + 1
            self._wait(at + self._delays[level - 1], level, kept.offset)
        else:
            return False
        return True

    # ---- going ----

    @property
    def next_due(self) -> int | None:
        """When the next message is due, in ms; None while nothing waits."""
        return self._waiting[0][0] if self._waiting else None

    def deliver(self, at: int) -> tuple[Delivered, ...]:
        """Store what is due under its real topic, and say where."""
        delivered: list[Delivered] = []
        while self._waiting and self._waiting[0][0] <= at:
            _, level, offset = heapq.heappop(self._waiting)
            self._pending[level].discard(offset)
            if offset >= self._store.begin(*_queue_of(level)):
                draft = _seen_again(self._message(level, offset))
                self._store.append(draft, at)
                delivered.append((draft.topic, draft.queue_id, tag_code(draft.properties), at))
        return tuple(delivered)

    def _message(self, level: int, offset: int) -> StoredMessage:
        topic, queue_id = _queue_of(level)
        (data,) = self._store.messages(topic, queue_id, offset, 1)
        return decode_messages(data)[0]

    def offsets(self) -> dict[int, int]:
        """Give level -> offset of the first message that was not delivered, which is to be kept."""
        levels: Iterable[int] = range(len(self._delays) + 1)
        ends = {level: self._store.end(*_queue_of(level)) for level in levels}
        return {level: min(self._pending.get(level) or {end}) for level, end in ends.items() if end}


def _queue_of(level: int) -> tuple[str, int]:
    return (SCHEDULE_TOPIC, level - 1) if level else (TIMER_TOPIC, 0)


def _level(properties: Mapping[str, str]) -> int:
    text = properties.get(DELAY, "0")
    return int(text) if text.isascii() and text.isdigit() and len(text) < 10 else 0


def _waiting(draft: Draft, properties: Mapping[str, str], topic: str, queue_id: int) -> Draft:
    real = {REAL_TOPIC: draft.topic, REAL_QUEUE_ID: str(draft.queue_id)}
    return replace(draft, topic=topic, queue_id=queue_id, properties={**properties, **real})


def _seen_again(message: StoredMessage) -> Draft:
    properties = properties_of(message)
    properties.pop(DELAY, None)
    topic, queue_id = properties[REAL_TOPIC], int(properties[REAL_QUEUE_ID])
    return replace(draft_of(message), topic=topic, queue_id=queue_id, properties=properties)
