"""What happened to every queue of a group, held at every step to what must always be so.

- No offset is committed past a message that nobody finished, and nobody commits a queue that he gave up.
- A listener is only given messages of a queue that its client holds, and none twice, unless it asked for that.
- Whoever starts behind where the last holder was finds an excuse in the faults: then its duplicates are explained.
- An orderly queue's messages are finished in order, and no two listeners have messages of one at a time, unless the
  rules say how the first lost the lock.
"""

from __future__ import annotations

from collections.abc import Callable

from rebalance_engine.consumer.application import Deliver, Result
from rebalance_engine.consumer.messages import Message
from rebalance_engine.consumer.profiles import OrderlyRemoval
from rebalance_engine.events import DropReason, Fact, QueueDropped, QueueTaken
from rebalance_engine.model import MessageQueue
from rebalance_engine.simulation.bounds import unlocks_within
from rebalance_engine.simulation.breach import Breach, Weather, hold
from rebalance_engine.simulation.clients import ConsumerProcess
from rebalance_engine.simulation.clock import Clock
from rebalance_engine.simulation.figures import Figures, Span
from rebalance_engine.simulation.locking import LockBook, Loss
from rebalance_engine.simulation.sessions import QueueBook, Session
from rebalance_engine.simulation.store import Returned

ON_THE_WAY = 3_000  # ms; no one-way request is longer under way, unless a fault holds it up
FORCED_AFTER = 20_000  # ms; ``rocketmq.client.unlockDelayTimeMills``
KEPT = 180_000  # ms; how long an ended session is remembered


class Ledger:
    """The books of one group.

    Attributes:
        figures: what it amounts to so far.
        locks: of an orderly group.
    """

    def __init__(self, clock: Clock, weather: Weather, *, is_orderly: bool) -> None:
        self.figures = Figures(seeds=1)
        self.locks = LockBook()
        self._clock = clock
        self._weather = weather
        self._is_orderly = is_orderly
        self._books: dict[MessageQueue, QueueBook] = {}
        self._by_fact: dict[type, Callable[[ConsumerProcess, Fact], None]] = {
            QueueTaken: self._took,  # type: ignore[dict-item]  # each gets the fact that it stands beside
            QueueDropped: self._dropped,  # type: ignore[dict-item]
        }

    def book(self, queue: MessageQueue) -> QueueBook:
        """Give the book of a queue."""
        book = self._books.get(queue)
        if book is None:
            book = self._books[queue] = QueueBook(queue)
        return book

    @property
    def books(self) -> tuple[QueueBook, ...]:
        """All books."""
        return tuple(self._books.values())

    # ---- who holds what ----

    def states(self, process: ConsumerProcess, fact: Fact) -> None:
        """Take in what a client states of itself."""
        take_in = self._by_fact.get(type(fact))
        if take_in is not None:
            take_in(process, fact)

    def _took(self, process: ConsumerProcess, fact: QueueTaken) -> None:
        book, now = self.book(fact.queue), self._clock.now
        start = fact.start_offset or 0
        hold(
            start <= book.watermark,
            f"{process.name} begins {fact.queue} at {start}; nobody finished {book.watermark}",
        )
        self._explain_start(process, book, start)
        least = book.least_stored_since(now - ON_THE_WAY)
        if start < least:
            fair = self._weather.was_fair(now - ON_THE_WAY, now, process.name, fact.queue.broker)
            hold(not fair, f"{process.name} begins {fact.queue} at {start}; {least} is stored")
        session = Session(process, now, start)
        book.sessions.append(session)
        book.live.append(session)
        self._count_holders(book)
        if book.last_holder is not None and book.last_holder is not process:
            self.figures.moves += 1
        book.last_holder = process

    def _explain_start(self, process: ConsumerProcess, book: QueueBook, start: int) -> None:
        """Whoever let go properly has stored how far he was; if not, something must have kept him from it."""
        now = self._clock.now
        book.sessions = [each for each in book.sessions if each.ended_at is None or now - each.ended_at < KEPT]
        for session in book.sessions:
            if session.ended_at is None or session.reason is not DropReason.NOT_IN_TARGET or session.committed is None:
                continue
            is_behind = start < session.committed and session.stored < session.committed
            if is_behind and session.ended_at + ON_THE_WAY < now:
                names = (session.holder.name, process.name, book.queue.broker)
                if self._weather.was_fair(session.ended_at - ON_THE_WAY, now, *names):
                    raise Breach(
                        f"{process.name} begins {book.queue} at {start}; {session.holder.name} had finished it up to "
                        f"{session.committed}, dropped it {now - session.ended_at} ms ago, and never stored that"
                    )

    def _dropped(self, process: ConsumerProcess, fact: QueueDropped) -> None:
        session = self.book(fact.queue).session_of(process)
        if session is None:
            raise Breach(f"{process.name} drops {fact.queue}, which it does not hold")
        session.committed = fact.committed_offset
        self._end(self.book(fact.queue), session, fact.reason)

    def _end(self, book: QueueBook, session: Session, reason: DropReason) -> None:
        session.ended_at, session.reason = self._clock.now, reason
        book.live.remove(session)
        self._count_holders(book)

    def _count_holders(self, book: QueueBook) -> None:
        """Note when a queue begins and ceases to have no owner, or two."""
        now, holders = self._clock.now, len(book.live)
        if holders and book.empty_since is not None:
            self.figures.unowned.append(Span(book.queue, book.empty_since, now - book.empty_since))
            book.empty_since = None
        elif not holders:
            book.empty_since = now
        if holders > 1 and book.shared_since is None:
            book.shared_since = now
        elif holders < 2 and book.shared_since is not None:
            self.figures.overlaps.append(Span(book.queue, book.shared_since, now - book.shared_since))
            book.shared_since = None

    def gone(self, process: ConsumerProcess) -> tuple[MessageQueue, ...]:
        """Note that a process is gone; give the queues that it held to its end."""
        lost = []
        for book in self._books.values():
            for key in [key for key in book.in_hand if key[0] is process]:
                del book.in_hand[key]
            session = book.session_of(process)
            if session is not None:
                self._end(book, session, DropReason.LOST)
                lost.append(book.queue)
        return tuple(lost)

    def held(self, process: ConsumerProcess) -> frozenset[MessageQueue]:
        """Give what a process holds, by its own statements."""
        return frozenset(book.queue for book in self._books.values() if book.session_of(process) is not None)

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
            hold(not fair, f"{process.name} dropped {queue} {now - ended_at} ms ago and still has its lock")

    def _session_of_holder(self, queue: MessageQueue) -> Session | None:
        """Give the session in which the lock's holder last held the queue."""
        lock = self.locks.lock(queue)
        sessions = (
            each for each in reversed(self.book(queue).sessions) if lock and each.holder.client_id == lock.client
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

    # ---- listeners ----

    def delivered(self, process: ConsumerProcess, deliver: Deliver) -> None:
        """Note that a listener got messages."""
        book = self.book(deliver.queue)
        session = book.session_of(process)
        if session is None:
            raise Breach(f"{process.name} consumes {deliver.queue}, which it does not hold")
        if self._is_orderly:
            self._hold_alone(process, book)
        for message in deliver.messages:
            self._given(session, book, message)
        book.in_hand[process, deliver.token] = session

    def _given(self, session: Session, book: QueueBook, message: Message) -> None:
        offset, name = message.offset, session.holder.name
        is_repeated = offset in session.given
        if is_repeated and session.given[offset] is not Result.LATER:
            raise Breach(f"{name} is given {book.queue} {offset} again without any reason")
        if self._is_orderly:
            hold(
                offset <= book.watermark,
                f"{name} is given {book.queue} {offset}, and nobody finished {book.watermark}",
            )
        self.figures.consumed += 1
        if offset < book.reached and not is_repeated:
            self.figures.duplicates += 1
        silence = book.note_given(offset, self._clock.now)
        if silence > 1_000:
            self.figures.silences.append(Span(book.queue, self._clock.now - silence, silence))
        session.given[offset] = None

    def _hold_alone(self, process: ConsumerProcess, book: QueueBook) -> None:
        """Hold to one listener at a time, unless the rules say why another one still has something."""
        for (other, _), session in book.in_hand.items():
            if other is process or other.client_id == process.client_id:
                hold(session.ended_at is not None or other is not process, f"{process.name} has two of {book.queue}")
                continue
            if not self._has_lost_lock(other, book.queue) and not self._was_forgotten(process, book.queue):
                raise Breach(
                    f"{process.name} and {other.name} both consume {book.queue}, and {other.name} has the lock"
                )

    def _was_forgotten(self, process: ConsumerProcess, queue: MessageQueue) -> bool:
        """Say whether a broker that was started again forgot its lock; it learns that with its next renewal."""
        lost = self.locks.lost(process.client_id, queue)
        return lost is not None and lost.how is Loss.FORGOTTEN

    def _has_lost_lock(self, process: ConsumerProcess, queue: MessageQueue) -> bool:
        lost = self.locks.lost(process.client_id, queue)
        if lost is None:
            return False
        if lost.how is not Loss.RELEASED:
            return True
        removal = process.profile.removal
        is_forced = removal is OrderlyRemoval.FORCES_UNLOCK and lost.unrenewed_ms > FORCED_AFTER
        return is_forced or removal is OrderlyRemoval.UNLOCKS or process.is_stopping

    def consumed(self, process: ConsumerProcess, deliver: Deliver, result: Result) -> None:
        """Note what a listener made of messages."""
        book = self.book(deliver.queue)
        session = book.in_hand.pop((process, deliver.token), None)
        for message in deliver.messages:
            if session is not None:
                session.given[message.offset] = result
            if result is Result.SUCCESS:
                book.finish(message.offset)

    # ---- brokers ----

    def stored(self, queue: MessageQueue) -> None:
        """Note that there is one more message."""
        self.book(queue).stored_at.append(self._clock.now)

    def returned(self, returned: Returned) -> None:
        """Note that a failed message is the broker's again: here it is finished, it comes back elsewhere."""
        self.book(returned.place).finish(returned.offset)

    def committed(self, process: ConsumerProcess, queue: MessageQueue, offset: int) -> None:
        """Note that a broker was told how far a group is."""
        book, now = self.book(queue), self._clock.now
        hold(
            offset <= book.watermark,
            f"{process.name} commits {offset} of {queue}; nobody finished {book.watermark}",
        )
        session = book.last_session_of(process)
        if session is None:
            raise Breach(f"{process.name} commits {queue}, which it never held")
        session.stored = max(session.stored, offset)
        book.note_commit(offset, now)
        ended_at = session.ended_at
        if ended_at is not None and not self._is_orderly and now - ended_at > ON_THE_WAY:
            hold(
                not self._weather.was_fair(ended_at, now, process.name, queue.broker),
                f"{process.name} commits {queue}, which it dropped {now - ended_at} ms ago",
            )

    def restarted(self, broker: str) -> None:
        """Note that a broker was started again: it knows no locks, and of offsets only what it had flushed."""
        self.locks.forgotten(broker, self._clock.now)
        for book in self._books.values():
            if book.queue.broker == broker:
                book.commits.clear()

    # ---- the end ----

    def check_finished(self, queue: MessageQueue) -> None:
        """Insist that every message of a queue was consumed."""
        book = self.book(queue)
        hold(
            book.watermark >= book.end,
            f"{queue}: message {book.watermark} of {book.end} was never finished, "
            f"stored at {book.stored_at[book.watermark :][:1]}",
        )
