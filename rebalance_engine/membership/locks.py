"""Queue locks of orderly groups: a lock belongs to a client id, and lives for a minute from its last renewal.

The broker never looks at a lock when messages are pulled; clients that hold to it are safe from each other, others are
not. Locks are lost with the broker. ``lockInStrictMode`` (5.0 and later, off by default) is not built: a lock is
granted there if most of ``totalReplicas`` grant it within 2 s, which is no difference for one replica, the default.

Source: ``broker/.../client/rebalance/RebalanceLockManager.java``.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import Enum

from rebalance_engine.model import MessageQueue


class Answer(Enum):
    """What became of the wish to lock or unlock one queue."""

    GRANTED = "granted"
    RENEWED = "renewed"
    TAKEN_OVER = "taken over from an expired holder"
    REFUSED = "refused"
    RELEASED = "released"
    NOT_HELD = "not held"


HOLDS = frozenset({Answer.GRANTED, Answer.RENEWED, Answer.TAKEN_OVER})


@dataclass(frozen=True, slots=True)
class Verdict:
    """One queue's answer; ``holder`` had the lock before, and last renewed it at ``renewed_at``, in ms."""

    queue: MessageQueue
    answer: Answer
    holder: str | None = None
    renewed_at: int | None = None


@dataclass(slots=True)
class _Lock:
    client: str
    renewed_at: int


class LockTable:
    """The locks of one broker: group -> queue -> holder and time of the last renewal, in ms."""

    def __init__(self, expires_after_ms: int = 60_000) -> None:
        self._expires_after_ms = expires_after_ms
        self._groups: dict[str, dict[MessageQueue, _Lock]] = {}

    def lock(self, group: str, client: str, queues: Iterable[MessageQueue], at: int) -> tuple[Verdict, ...]:
        """Lock or renew each queue that is free, expired, or the client's own."""
        locks = self._groups.setdefault(group, {})
        return tuple(self._lock_one(locks, client, queue, at) for queue in dict.fromkeys(queues))

    def _lock_one(self, locks: dict[MessageQueue, _Lock], client: str, queue: MessageQueue, at: int) -> Verdict:
        before = locks.get(queue)
        if before is None:
            locks[queue] = _Lock(client, at)
            return Verdict(queue, Answer.GRANTED)
        verdict = self._contend(before, client, queue, at)
        if verdict.answer is not Answer.REFUSED:
            before.client, before.renewed_at = client, at
        return verdict

    def _contend(self, lock: _Lock, client: str, queue: MessageQueue, at: int) -> Verdict:
        if self._is_expired(lock, at):  # even the client's own, which Java logs as taken over from itself
            return Verdict(queue, Answer.TAKEN_OVER, lock.client, lock.renewed_at)
        answer = Answer.RENEWED if lock.client == client else Answer.REFUSED
        return Verdict(queue, answer, lock.client, lock.renewed_at)

    def unlock(self, group: str, client: str, queues: Iterable[MessageQueue]) -> tuple[Verdict, ...]:
        """Release the locks that this client id has, expired or not; others stay as they are."""
        locks = self._groups.get(group, {})
        return tuple(_unlock_one(locks, client, queue) for queue in dict.fromkeys(queues))

    def holder(self, group: str, queue: MessageQueue, at: int) -> str | None:
        """Say whose lock is honoured at this time."""
        lock = self._groups.get(group, {}).get(queue)
        return None if lock is None or self._is_expired(lock, at) else lock.client

    def held(self, group: str, at: int) -> dict[MessageQueue, str]:
        """Give all locks of the group that are honoured at this time, with their holders."""
        locks = self._groups.get(group, {})
        return {queue: lock.client for queue, lock in locks.items() if not self._is_expired(lock, at)}

    def check(self, at: int) -> None:
        """Hold the table to its promises: none was renewed in the future, and none is honoured when it is too old."""
        for group, locks in self._groups.items():
            for queue, lock in locks.items():
                assert lock.renewed_at <= at, f"{group}: {queue} renewed at {lock.renewed_at}, it is {at}"
                is_young = at - lock.renewed_at <= self._expires_after_ms
                assert (self.holder(group, queue, at) == lock.client) is is_young, f"{group}: {queue} {lock} at {at}"

    def _is_expired(self, lock: _Lock, at: int) -> bool:
        return at - lock.renewed_at > self._expires_after_ms


def _unlock_one(locks: dict[MessageQueue, _Lock], client: str, queue: MessageQueue) -> Verdict:
    lock = locks.get(queue)
    if lock is None or lock.client != client:
        return Verdict(queue, Answer.NOT_HELD, lock.client if lock else None, lock.renewed_at if lock else None)
    del locks[queue]
    return Verdict(queue, Answer.RELEASED, client, lock.renewed_at)
