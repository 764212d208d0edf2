"""Who holds which queue lock, told from what brokers answered, without asking their own tables."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from enum import Enum

from rebalance_engine.model import MessageQueue
from rebalance_engine.simulation.breach import Rule, hold
from rebalance_engine.simulation.sessions import short
from rebalance_engine.simulation.timers import LOCK


class Loss(Enum):
    """How a client lost a lock."""

    RELEASED = "it gave it back"
    EXPIRED = "it did not renew it for a minute"
    FORGOTTEN = "the broker was started again"


@dataclass(frozen=True, slots=True)
class Lost:
    """A lock that a client lost.

    Attributes:
        at: when; ``unrenewed_ms`` is how long it had not been renewed then.
        by: the process that gave it back; ``by_unrenewed_ms`` is how long that one had not renewed it, where a twin of
            the same client id may have.
    """

    how: Loss
    at: int
    unrenewed_ms: int
    by: str = ""
    by_unrenewed_ms: int = 0


@dataclass(slots=True)
class Lock:
    """A lock that a client has, as far as anybody told; ``renewed_by`` is when each process of it last asked."""

    client: str
    granted_at: int
    renewed_at: int
    renewed_by: dict[str, int] = field(default_factory=dict)


@dataclass(slots=True)
class LockBook:
    """The locks of a group."""

    _held: dict[MessageQueue, Lock] = field(default_factory=dict)
    _lost: dict[tuple[str, MessageQueue], Lost] = field(default_factory=dict)

    def granted(self, client: str, queues: Iterable[MessageQueue], at: int, by: str = "") -> None:
        """Note that a broker said yes to a process; it must not, while another one's lock lives."""
        for queue in queues:
            lock = self._held.get(queue)
            if lock is not None and lock.client == client:
                lock.renewed_at = lock.renewed_by[by] = at
                continue
            if lock is not None:
                self._take_over(lock, client, queue, at)
            self._held[queue] = Lock(client, at, at, {by: at})
            self._lost.pop((client, queue), None)

    def _take_over(self, lock: Lock, client: str, queue: MessageQueue, at: int) -> None:
        age = at - lock.renewed_at
        hold(
            age > LOCK,
            Rule.LOCK_TWICE,
            f"{short(queue)} is locked for {client}, and for {lock.client} too, who renewed it {age} ms ago",
        )
        self._lost[lock.client, queue] = Lost(Loss.EXPIRED, at, age)

    def released(self, client: str, queues: Iterable[MessageQueue], at: int, by: str = "") -> None:
        """Note that a client gave locks back, and which process of it did."""
        for queue in queues:
            lock = self._held.get(queue)
            if lock is not None and lock.client == client:
                del self._held[queue]
                renewed_at = lock.renewed_by.get(by, lock.renewed_at)
                self._lost[client, queue] = Lost(Loss.RELEASED, at, at - lock.renewed_at, by, at - renewed_at)

    def forgotten(self, broker: str, at: int) -> None:
        """Note that a broker was started again and knows no lock."""
        for queue, lock in tuple(self._held.items()):
            if queue.broker == broker:
                del self._held[queue]
                self._lost[lock.client, queue] = Lost(Loss.FORGOTTEN, at, at - lock.renewed_at)

    def lock(self, queue: MessageQueue) -> Lock | None:
        """Give the lock that was last granted and has not been given back."""
        return self._held.get(queue)

    def all(self) -> tuple[tuple[MessageQueue, Lock], ...]:
        """Give all locks that were granted and have not been given back."""
        return tuple(self._held.items())

    def queues_of(self, client: str) -> set[MessageQueue]:
        """Give all queues of which a client has the lock, or had it."""
        has = {queue for queue, lock in self._held.items() if lock.client == client}
        return has | {queue for of, queue in self._lost if of == client}

    def lost(self, client: str, queue: MessageQueue) -> Lost | None:
        """Say how a client lost a lock, if it has."""
        return self._lost.get((client, queue))
