"""Which queue a message goes to, as each Java version chooses, and what was looked at on the way.

``select`` moves the index on and, up to 5.1.3, may rewrite an element of the shared list; whoever only wants to know
hands in copies (``explain``). Every look is a :class:`Step`, so that a choice can be explained in words.

Sources: ``client/.../latency/MQFaultStrategy.java`` and ``client/.../impl/producer/TopicPublishInfo.java``
(``selectOneMessageQueue`` in all its forms).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from enum import Enum

from rebalance_engine.model import MessageQueue
from rebalance_engine.producer.index import Thread
from rebalance_engine.producer.java_numbers import absolute, remainder, wrap
from rebalance_engine.producer.latency import FaultTable
from rebalance_engine.producer.profiles import FaultForm, Profile
from rebalance_engine.producer.publish_info import PublishInfo


class Why(Enum):
    """Why a queue was taken."""

    IN_TURN = "next in turn"
    OTHER_BROKER = "next in turn on another broker than the one that failed"
    AVAILABLE = "next in turn on a broker that does not back off"
    REACHABLE = "none is available; this one can be reached"
    SAME_BROKER = "next in turn on the broker that failed, to which this version sticks"
    BETTER_HALF = "none fits; one of the better half of the fault table, written over a queue of the list"
    LAST_RESORT = "none fits; next in turn whatever it is"
    PARKED = "none in service fits; a parked queue of another broker"
    SELECTOR = "chosen by the application"
    NOTHING = "there is no queue to choose"


class Skip(Enum):
    """Why a queue was passed over."""

    LAST_BROKER = "its broker just failed"
    OTHER_THAN_LAST = "its broker is not the one that failed, which this version insists on"
    BACKS_OFF = "its broker backs off"
    UNREACHABLE = "its broker cannot be reached"
    PARKED = "it is parked"


@dataclass(frozen=True, slots=True)
class Step:
    """One queue that was looked at; ``skipped`` is None for the one that was taken.

    Attributes:
        position: its place in the list.
        available_from: when its broker's back-off ends, in ms, where that is why it was skipped.
    """

    position: int
    queue: MessageQueue
    skipped: Skip | None = None
    available_from: int | None = None

    def __str__(self) -> str:
        """Say it in words."""
        name = f"{self.queue.broker}/{self.queue.queue_id}"
        if self.skipped is None:
            return f"took {name}"
        until = "" if self.available_from is None else f" until {self.available_from}"
        return f"skipped {name}: {self.skipped.value}{until}"


@dataclass(frozen=True, slots=True)
class Choice:
    """What was chosen, why, and every look before it.

    Attributes:
        queue: None where nothing could be chosen.
        position: its place in the list, None where it comes from elsewhere.
        forgot: a broker that was removed from the fault table, because the topic has no queues there.
        cursor: where C++ goes on with its next attempt.
    """

    queue: MessageQueue | None
    why: Why
    steps: tuple[Step, ...] = ()
    position: int | None = None
    forgot: str | None = None
    cursor: int = 0


@dataclass(slots=True)
class Search:
    """One search for a queue: who asks, and what it saw so far. ``last_broker`` failed in the attempt before."""

    info: PublishInfo
    faults: FaultTable
    profile: Profile
    thread: Thread
    at: int
    last_broker: str | None = None
    is_retry: bool = False
    steps: list[Step] = field(default_factory=list)

    def take(self, position: int, why: Why, *, forgot: str | None = None) -> Choice:
        """End with the queue of a position."""
        queue = self.info.queues[position]
        self.steps.append(Step(position, queue))
        return Choice(queue, why, tuple(self.steps), position, forgot)

    def in_turn(self, why: Why = Why.IN_TURN, *, forgot: str | None = None) -> Choice:
        """End with the next position, whatever is there."""
        return self.take(self.next_position(), why, forgot=forgot)

    def next_position(self) -> int:
        """Move the index on."""
        return _position(self.info.index.advance(self.thread), len(self.info.queues))

    def first(self, positions: Iterator[int], passes_over: Callable[[MessageQueue], Skip | None]) -> int | None:
        """Give the first position whose queue is not passed over, noting the others."""
        for position in positions:
            queue = self.info.queues[position]
            skipped = passes_over(queue)
            if skipped is None:
                return position
            item = self.faults.item(queue.broker) if skipped is Skip.BACKS_OFF else None
            self.steps.append(Step(position, queue, skipped, item.available_from if item else None))
        return None

    def step_by_step(self) -> Iterator[int]:
        """Walk once round the list, moving the index on for each look."""
        return (self.next_position() for _ in range(len(self.info.queues)))

    def in_a_row(self) -> Iterator[int]:
        """Walk once round the list from one step of the index.

        Raises:
            IndexError: the number wraps on the way; 5.1.0 to 5.1.3 throw and catch the same.
        """
        start, count = self.info.index.advance(self.thread), len(self.info.queues)
        return (self._look(wrap(start + looks), count) for looks in range(count))

    def _look(self, value: int, count: int) -> int:
        if value < 0 and self.profile.throws_when_negative:
            raise IndexError(f"the index is {value}; needed is 0 or more")
        return _position(value, count)


def select(search: Search, *, avoids_faults: bool) -> Choice:
    """Choose a queue as the Java client of this version does."""
    if not search.info.has_queues:
        return Choice(None, Why.NOTHING)
    if avoids_faults and search.profile.fault_form is not None:
        return _FORMS[search.profile.fault_form](search)
    return _without_faults(search)


def _without_faults(search: Search) -> Choice:
    if search.last_broker is None:
        return search.in_turn()
    walk = search.in_a_row() if search.profile.steps_once_a_scan else search.step_by_step()
    position = search.first(walk, lambda queue: _on_last_broker(search, queue))
    return search.in_turn(Why.LAST_RESORT) if position is None else search.take(position, Why.OTHER_BROKER)


def _filtering(search: Search) -> Choice:
    """Do J5 (5.1.4 and later): available, else reachable, else anything."""
    if search.is_retry:
        search.info.index.reset(search.thread)
    position = search.first(
        search.step_by_step(), lambda queue: _backs_off(search, queue) or _on_last_broker(search, queue)
    )
    if position is not None:
        return search.take(position, Why.AVAILABLE)
    position = search.first(
        search.step_by_step(), lambda queue: _is_unreachable(search, queue) or _on_last_broker(search, queue)
    )
    return search.in_turn(Why.LAST_RESORT) if position is None else search.take(position, Why.REACHABLE)


def _scanning(search: Search, passes_over: Callable[[Search, MessageQueue], Skip | None], why: Why) -> Choice:
    """Do 4.2 to 5.1.3: the first that fits in one scan, else one of the better half, else anything."""
    forgot: str | None = None
    try:
        position = search.first(search.in_a_row(), lambda queue: passes_over(search, queue))
        if position is not None:
            return search.take(position, why)
        broker = search.faults.pick_one_at_least(search.thread, search.at)
        if broker is not None and search.info.write_queues(broker) > 0:
            return _rewrite(search, broker)
        forgot = broker
    except IndexError:  # Java's own, at the wrap of an index: logged there, then the last resort
        pass
    return search.in_turn(Why.LAST_RESORT, forgot=forgot)


def _rewrite(search: Search, broker: str) -> Choice:
    """Take the next element of the shared list and make it a queue of ``broker``, for everybody and for good."""
    position = search.next_position()
    number = remainder(search.info.index.advance(search.thread), search.info.write_queues(broker))
    search.info.queues[position] = MessageQueue(search.info.topic, broker, number)
    return search.take(position, Why.BETTER_HALF)


def _sticking(search: Search) -> Choice:
    why = Why.AVAILABLE if search.last_broker is None else Why.SAME_BROKER
    return _scanning(search, lambda s, queue: _backs_off(s, queue) or _on_another_broker(s, queue), why)


def _ignoring(search: Search) -> Choice:
    return _scanning(search, _backs_off, Why.AVAILABLE)


def _avoiding(search: Search) -> Choice:
    return _scanning(search, lambda s, queue: _on_last_broker(s, queue) or _backs_off(s, queue), Why.AVAILABLE)


def _on_last_broker(search: Search, queue: MessageQueue) -> Skip | None:
    return Skip.LAST_BROKER if queue.broker == search.last_broker else None


def _on_another_broker(search: Search, queue: MessageQueue) -> Skip | None:
    return Skip.OTHER_THAN_LAST if search.last_broker not in (None, queue.broker) else None


def _backs_off(search: Search, queue: MessageQueue) -> Skip | None:
    if search.faults.is_available(queue.broker, search.at):
        return None
    item = search.faults.item(queue.broker)
    return Skip.BACKS_OFF if item and item.available_from > search.at else Skip.UNREACHABLE


def _is_unreachable(search: Search, queue: MessageQueue) -> Skip | None:
    return None if search.faults.is_reachable(queue.broker) else Skip.UNREACHABLE


def _position(value: int, count: int) -> int:
    return max(remainder(absolute(value), count), 0)


_FORMS: dict[FaultForm, Callable[[Search], Choice]] = {
    FaultForm.STICKS: _sticking,
    FaultForm.IGNORES: _ignoring,
    FaultForm.AVOIDS: _avoiding,
    FaultForm.FILTERS: _filtering,
}
