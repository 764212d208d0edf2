"""Orderly queues: who consumes which, under which lock, and what becomes of the lock."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from rebalance_engine.consumer.profiles import LockTime, OrderlyRemoval, OrderlyRun
from rebalance_engine.events import DropReason
from rebalance_engine.model import MessageQueue
from rebalance_engine.simulation.bounds import unlocks_within
from rebalance_engine.simulation.breach import Breach, Rule, Weather, hold
from rebalance_engine.simulation.clients import ConsumerProcess
from rebalance_engine.simulation.clock import Clock
from rebalance_engine.simulation.locking import Lock, LockBook, Loss, Lost
from rebalance_engine.simulation.sessions import QueueBook, Session
from rebalance_engine.simulation.timers import BELIEVED, LOCK_ANSWERED, ON_THE_WAY, ROUND, UNLOCK_DELAY

LET_GO = {DropReason.NOT_IN_TARGET, DropReason.PULL_EXPIRED}  # by a rebalance, which unlocks
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
        """Hold a listener that gets messages to its lock, and to being the only one.

        Within a run C++ looks at nothing: what is held against a listener counts when the run begins.
        """
        session = book.last_session_of(process)
        goes_on = session is not None and session.goes_on(self._clock.now)
        objection = None if goes_on else self._objection(process, book)
        self._hold_alone(process, book, objection)
        if objection is not None:
            raise Breach(Rule.LOCKED, f"{process.name} consumes {book}{objection}")
        if not goes_on or self._has_lock(process, book.queue):
            self._hold_renewed(process, book)

    def session_let_go(self, process: ConsumerProcess, book: QueueBook) -> Session | None:
        """Give the hold that a process dropped and still consumes: C++ does so until its unlock is answered."""
        session, now = book.last_session_of(process), self._clock.now
        if session is None or session.ended_at is None or session.reason not in LET_GO or not session.goes_on(now):
            return None
        is_answered = now - session.ended_at > LOCK_ANSWERED
        return None if is_answered and self._weather.was_awake(session.ended_at, now, process.name) else session

    def _hold_alone(self, process: ConsumerProcess, book: QueueBook, objection: str | None) -> None:
        """Hold to one listener at a time, unless the rules say why one of two consumes without the lock.

        One of them has no lock. If it is the one that gets messages, what is held against that is held against it here;
        if it is the other one, it must have a reason to have messages still.
        """
        for (other, _), session in book.in_hand.items():
            if other is process:
                if process.profile.orderly_run is OrderlyRun.ONE_LOOK and session is not book.last_session_of(process):
                    continue  # its holds do not wait for each other
                raise Breach(Rule.ALONE, f"{process.name} consumes {book} twice at a time")
            if other.client_id == process.client_id:
                continue  # locks do not tell two processes of one client id apart
            is_excused, what = objection is None, "has the lock"
            if not self._has_lock(other, book.queue):
                is_excused, what = self._may_finish(other, session, book), "gave its lock back too soon"
            if not is_excused:
                raise Breach(
                    Rule.ALONE, f"{process.name} and {other.name} both consume {book}, and {other.name} {what}"
                )

    def _objection(self, process: ConsumerProcess, book: QueueBook) -> str | None:
        """Say what is held against its consuming: a lock that it never had, gave back, or renewed too long ago.

        It may believe for half a minute in a lock that is gone without its knowing. While a process stands still,
        answers grow old in its inbox without its knowing, too.
        """
        now = self._clock.now
        renewed_at = self._renewed_at(process, book.queue)
        if renewed_at is None:
            return " without ever having had its lock"
        lost, session = self._lost(process, book.queue), book.session_of(process)
        if lost is not None and not self._is_unaware(process, session, book, lost):
            return f", and gave its lock back {now - lost.at} ms ago"
        age = now - renewed_at
        if age > BELIEVED + ON_THE_WAY and self._weather.was_awake(renewed_at, now, process.name):
            return f", and last renewed its lock {age} ms ago"
        return None

    def _hold_renewed(self, process: ConsumerProcess, book: QueueBook) -> None:
        """Insist on renewals; who lost a lock without knowing it learns it from the next one."""
        now, renewed_at, session = self._clock.now, self._renewed_at(process, book.queue), book.session_of(process)
        since = max(renewed_at or 0, session.began_at if session else now)
        most = RENEWED
        if not process.profile.refused_renewal_unlocks and self._lost(process, book.queue) is not None:
            most = BELIEVED + ON_THE_WAY  # it does not hear of it
        if now - since > most and self._weather.was_fair(since, now, process.name, book.queue.broker):
            raise Breach(Rule.RENEWED, f"{process.name} has held {book} for {now - since} ms without renewing its lock")

    # ---- reasons to consume without the lock ----

    def _is_unaware(self, process: ConsumerProcess, session: Session | None, book: QueueBook, lost: Lost) -> bool:
        """Say whether a lock went without the hold that a process has of the queue, or had, giving it back.

        A broker that was started again forgot it, or gave it to another one when it had run out: a process that stood
        still may not know that. A twin gave it back: locks are those of a client id. The unlock was that of an earlier
        hold (``_is_of_earlier``), or it crossed an answer (``_has_crossed``). Or it shuts down, and consumes what it
        has cached until the last of its queues is dropped; C++ waits for its listeners first.
        """
        if lost.how is not Loss.RELEASED or lost.by != process.name:
            return True
        if process.is_stopping and not process.profile.awaits_listeners:
            return True
        ends = [
            each.ended_at
            for each in book.sessions
            if each.holder is process and each is not session and each.ended_at is not None
        ]
        return self._is_of_earlier(process, book, ends, lost) or _has_crossed(process, session, ends, lost)

    def _is_of_earlier(self, process: ConsumerProcess, book: QueueBook, ends: list[int], lost: Lost) -> bool:
        """Say whether an unlock belongs to a hold that ended before: to 5.1 it comes 20 s later, whatever came then.

        It comes later still if its process stood still meanwhile, or was cut off.
        """
        if process.profile.removal is not OrderlyRemoval.DELAYS_UNLOCK:
            return False
        most = unlocks_within(process.profile, process.listener.high)
        return any(
            UNLOCK_DELAY <= lost.at - ended_at <= most
            or (lost.at - ended_at > most and not self._weather.was_fair(ended_at, lost.at, *_names(process, book)))
            for ended_at in ends
        )

    def _may_finish(self, process: ConsumerProcess, session: Session, book: QueueBook) -> bool:
        """Say why a process without the lock may have messages of a hold in hand still, besides not being aware of it.

        C++ unlocks whoever consumes. From 5.2 on an unlock is forced 20 s after the last renewal of which the client
        heard; of one in foul weather it may not have. And if it has taken the queue again since, as a topic was given
        up and wanted again, the unlock waited for the listener of that hold only.
        """
        lost = self._lost(process, book.queue)
        if lost is None:
            return False
        removal, renewed_at = process.profile.removal, lost.at - lost.by_unrenewed_ms
        is_forced = removal is OrderlyRemoval.FORCES_UNLOCK and (
            lost.by_unrenewed_ms > UNLOCK_DELAY
            or not self._weather.was_fair(renewed_at, renewed_at + ON_THE_WAY, *_names(process, book))
        )
        has_taken_again = book.last_session_of(process) is not session
        is_unaware = self._is_unaware(process, session, book, lost)
        return is_unaware or removal is OrderlyRemoval.UNLOCKS or is_forced or has_taken_again

    def _has_lock(self, process: ConsumerProcess, queue: MessageQueue) -> bool:
        lock = self.locks.lock(queue)
        return lock is not None and lock.client == process.client_id

    def _lost(self, process: ConsumerProcess, queue: MessageQueue) -> Lost | None:
        return None if self._has_lock(process, queue) else self.locks.lost(process.client_id, queue)

    def _renewed_at(self, process: ConsumerProcess, queue: MessageQueue) -> int | None:
        """Give when a lock that a process has, or had, was last renewed; None if it never had it."""
        lock, lost = self.locks.lock(queue), self._lost(process, queue)
        if lock is not None and lock.client == process.client_id:
            return lock.renewed_at
        return None if lost is None else lost.at - lost.unrenewed_ms

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
        """Insist that who shut down gave back the locks of all that it held to its end, as its client does.

        What it had dropped before is another matter: of that 5.2 forgets the locks, and the broker lets them expire.
        """
        now = self._clock.now
        if any(twin.client_id == process.client_id for twin in twins):
            return
        for queue, lock in self.locks.all():
            if lock.client != process.client_id or not self._had_to_its_end(process, queue):
                continue
            is_fair = self._weather.was_fair(now - ON_THE_WAY, now, process.name, queue.broker)
            if is_fair and not self._is_forgotten(process, queue) and not _was_asked_for_again(process, lock):
                raise Breach(
                    Rule.LOCK_KEPT, f"{process.name} has shut down and still has the lock of {self._book(queue)}"
                )

    def _had_to_its_end(self, process: ConsumerProcess, queue: MessageQueue) -> bool:
        session = self._book(queue).last_session_of(process)
        if session is None or session.ended_at is None or session.ended_at < self._clock.now - ON_THE_WAY:
            return False
        return session.reason in {DropReason.STOPPED, DropReason.LOST}

    def _is_forgotten(self, process: ConsumerProcess, queue: MessageQueue) -> bool:
        """Say whether C++ forgets the lock of a queue: that is the least one of its broker."""
        if process.profile.unlocks_all:
            return False
        return not any(
            other < queue and other.broker == queue.broker and self._had_to_its_end(process, other)
            for other in self.locks.queues_of(process.client_id)
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


def _was_asked_for_again(process: ConsumerProcess, lock: Lock) -> bool:
    """Say whether a process got a lock anew while it shut down, of which it then knows nothing.

    In Go the thread of a queue that was taken just before asks for it, and does not look whether there is still
    something to do; those that had their locks by then do not notice that they are gone. C++ may have asked before.
    """
    if process.stopping_since is None or lock.granted_at <= process.stopping_since:
        return False
    had_asked = lock.granted_at - process.stopping_since <= LOCK_ANSWERED
    asks_to_pull = process.profile.lock_time is LockTime.BEFORE_PULL
    return process.profile.orderly_run is OrderlyRun.UNBROKEN or (asks_to_pull and had_asked)


def _has_crossed(process: ConsumerProcess, session: Session | None, ends: list[int], lost: Lost) -> bool:
    """Say whether an unlock crossed the answer to a request before it, which then counts for the next hold.

    C++ takes a queue before it has its lock: the answer that comes then says that it has it, and it has given it back.
    """
    if process.profile.lock_time is not LockTime.BEFORE_PULL or session is None:
        return False
    is_of_earlier = any(0 <= lost.at - ended_at <= ON_THE_WAY for ended_at in ends)
    return is_of_earlier and session.began_at <= lost.at - lost.unrenewed_ms + ON_THE_WAY


def _names(process: ConsumerProcess, book: QueueBook) -> tuple[str, str]:
    return process.name, book.queue.broker
