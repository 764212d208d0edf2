"""Orderly queues: who consumes which, under which lock, and what becomes of the lock."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from rebalance_engine.consumer.profiles import OrderlyRemoval
from rebalance_engine.events import DropReason
from rebalance_engine.model import MessageQueue
from rebalance_engine.simulation.bounds import unlocks_within
from rebalance_engine.simulation.breach import Breach, Rule, Weather, hold
from rebalance_engine.simulation.clients import ConsumerProcess
from rebalance_engine.simulation.clock import Clock
from rebalance_engine.simulation.locking import Lock, LockBook, Loss, Lost
from rebalance_engine.simulation.sessions import QueueBook, Session
from rebalance_engine.simulation.timers import BELIEVED, ON_THE_WAY, ROUND, UNLOCK_DELAY

RENEWED = ROUND + ON_THE_WAY  # ``rocketmq.client.rebalance.lockInterval``


class Ordering:
    """The locks of an orderly group, and the listeners that consume under them.

    Attributes:
        locks: who has which.
    """

    def __init__(self, book: Callable[[MessageQueue], QueueBook], clock: Clock, weather: Weather) -> None:
        self.locks = LockBook()
        self._book = book
        self._clock = clock
        self._weather = weather

    # ---- listeners ----

    def delivered(self, process: ConsumerProcess, book: QueueBook) -> None:
        """Hold a listener that gets messages to its lock, and to being the only one."""
        self._hold_alone(process, book)
        self._hold_lock(process, book)

    def _hold_alone(self, process: ConsumerProcess, book: QueueBook) -> None:
        """Hold to one listener at a time, unless the rules say why another one still has something."""
        for other, _ in book.in_hand:
            if other is process:
                raise Breach(Rule.ALONE, f"{process.name} consumes {book} twice at a time")
            if other.client_id == process.client_id:
                continue  # locks do not tell two processes of one client id apart
            if not self._has_lost_lock(other, book.queue) and not self._believes_in_vain(process, book.queue):
                raise Breach(
                    Rule.ALONE,
                    f"{process.name} and {other.name} both consume {book}, and {other.name} has the lock",
                )

    def _believes_in_vain(self, process: ConsumerProcess, queue: MessageQueue) -> bool:
        """Say whether its lock is gone without its doing; it learns that with its next renewal.

        A broker that was started again forgot it, or a twin gave it back: locks are those of a client id.
        """
        lost = self.locks.lost(process.client_id, queue)
        return lost is not None and (lost.how is Loss.FORGOTTEN or _was_given_back_by_twin(process, lost))

    def _has_lost_lock(self, process: ConsumerProcess, queue: MessageQueue) -> bool:
        lost = self.locks.lost(process.client_id, queue)
        if lost is None:
            return False
        if lost.how is not Loss.RELEASED or _was_given_back_by_twin(process, lost):
            return True
        removal = process.profile.removal
        is_forced = removal is OrderlyRemoval.FORCES_UNLOCK and lost.unrenewed_ms > UNLOCK_DELAY
        is_of_earlier = self._was_released_late(process, self._book(queue), lost.at, least=UNLOCK_DELAY)
        return is_forced or removal is OrderlyRemoval.UNLOCKS or is_of_earlier

    def _hold_lock(self, process: ConsumerProcess, book: QueueBook) -> None:
        """Insist on a lock that was renewed no longer ago than a client believes in it.

        While a process stands still, answers grow old in its inbox without its knowing.
        """
        now, name = self._clock.now, process.name
        lock = self.locks.lock(book.queue)
        if lock is not None and lock.client == process.client_id:
            age = now - lock.renewed_at
            self._hold_renewed(process, book, lock)
        else:
            lost = self.locks.lost(process.client_id, book.queue)
            if lost is None:
                raise Breach(Rule.LOCKED, f"{name} consumes {book} without ever having had its lock")
            if lost.how is Loss.RELEASED and not _was_given_back_by_twin(process, lost):
                if self._was_released_late(process, book, lost.at):
                    return
                raise Breach(Rule.LOCKED, f"{name} consumes {book}, and gave its lock back {now - lost.at} ms ago")
            age = now - lost.at + lost.unrenewed_ms
        if age > BELIEVED + ON_THE_WAY and self._weather.was_awake(now - age, now, name):
            raise Breach(Rule.LOCKED, f"{name} consumes {book}, and last renewed its lock {age} ms ago")

    def _was_released_late(self, process: ConsumerProcess, book: QueueBook, at: int, least: int = 0) -> bool:
        """Say whether the unlock was that of an earlier hold: to 5.1 it comes 20 s after the drop, whatever came then.

        ``least`` is how long after the drop it came at least, where one that came at once excuses nothing.
        A process that shuts down consumes on what it has cached, until the last of its queues is dropped.
        """
        earlier = (
            each.ended_at
            for each in book.sessions
            if each.holder is process and each.ended_at is not None and each.ended_at <= at
        )
        is_delayed = process.profile.removal is OrderlyRemoval.DELAYS_UNLOCK
        most = unlocks_within(process.profile, process.listener.high)
        return process.is_stopping or (is_delayed and any(least <= at - ended_at <= most for ended_at in earlier))

    def _hold_renewed(self, process: ConsumerProcess, book: QueueBook, lock: Lock) -> None:
        now = self._clock.now
        session = book.session_of(process)
        since = max(lock.renewed_at, session.began_at if session else now)
        if now - since > RENEWED and self._weather.was_fair(since, now, process.name, book.queue.broker):
            raise Breach(Rule.RENEWED, f"{process.name} has held {book} for {now - since} ms without renewing its lock")

    def locked_since(self, process: ConsumerProcess, queue: MessageQueue) -> int:
        """Give since when a process has a lock without a break; now, if it has none."""
        lock = self.locks.lock(queue)
        return lock.granted_at if lock is not None and lock.client == process.client_id else self._clock.now

    # ---- locks ----

    def refused(self, queue: MessageQueue) -> None:
        """Note that a lock was refused; whoever dropped the queue may not keep it for longer than the rules let him."""
        lock, session = self.locks.lock(queue), self._session_of_holder(queue)
        if lock is None or session is None or session.reason is not DropReason.NOT_IN_TARGET:
            return
        process, now, ended_at = session.holder, self._clock.now, session.ended_at or 0
        if process.is_gone or lock.renewed_at > ended_at:  # it asked again, to take the queue again
            return
        if now - ended_at > unlocks_within(process.profile, process.listener.high):
            fair = self._weather.was_fair(ended_at, now, process.name, queue.broker)
            hold(
                not fair,
                Rule.LOCK_KEPT,
                f"{process.name} dropped {self._book(queue)} {now - ended_at} ms ago and still has its lock",
            )

    def check_stopped(self, process: ConsumerProcess, twins: Iterable[ConsumerProcess]) -> None:
        """Insist that who shut down gave back the locks of all that it held to its end, if its client does that.

        What it had dropped before is another matter: of that 5.2 forgets the locks, and the broker lets them expire.
        """
        now = self._clock.now
        if not process.profile.unlocks_all or any(twin.client_id == process.client_id for twin in twins):
            return
        for queue, lock in self.locks.all():
            session = self._book(queue).last_session_of(process) if lock.client == process.client_id else None
            if session is None or session.ended_at is None or session.ended_at < now - ON_THE_WAY:
                continue
            is_of_end = session.reason in {DropReason.STOPPED, DropReason.LOST}
            if is_of_end and self._weather.was_fair(now - ON_THE_WAY, now, process.name, queue.broker):
                raise Breach(
                    Rule.LOCK_KEPT, f"{process.name} has shut down and still has the lock of {self._book(queue)}"
                )

    def _session_of_holder(self, queue: MessageQueue) -> Session | None:
        """Give the session in which the lock's holder last held the queue."""
        lock = self.locks.lock(queue)
        sessions = (
            each for each in reversed(self._book(queue).sessions) if lock and each.holder.client_id == lock.client
        )
        return next(sessions, None)

    def has_leaked_locks(self) -> bool:
        """Say whether anybody was granted a lock after he had dropped the queue: it must run out by itself.

        Renewals are sent broker by broker from a list that was made before the first (``RebalanceImpl.lockAll``). So
        whoever gives a queue back meanwhile is granted its lock once more, and never knows.
        """
        for queue, lock in self.locks.all():
            session = self._session_of_holder(queue)
            if session is not None and session.ended_at is not None and session.ended_at < lock.granted_at:
                return True
        return False


def _was_given_back_by_twin(process: ConsumerProcess, lost: Lost) -> bool:
    """Say whether another process of its client id gave its lock back; nobody tells it."""
    return lost.how is Loss.RELEASED and lost.by != process.name
