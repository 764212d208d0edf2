"""What happened to every queue of a group, held at every step to what must always be so.

- No offset is committed past a message that nobody finished, nobody commits or pulls a queue that he gave up, and what
  is finished is stored: when the queue is dropped, and within the time of the timer before (by Go what it still knows).
- A listener is only given messages of a queue that its client holds, and none twice, unless it asked for that.
- Whoever starts behind where another one was had no way to know: then its duplicates are explained.
- Where nothing is wrong, nothing waits for long.

What is said of order and locks besides is in ``ordering.py``; how far who must have stored a queue, in ``dues.py``.
"""

from __future__ import annotations

from collections.abc import Callable

from rebalance_engine.consumer.application import Deliver, Result
from rebalance_engine.consumer.messages import Message
from rebalance_engine.events import DropReason, Fact, PullRefused, QueueDropped, QueueTaken
from rebalance_engine.model import MessageQueue
from rebalance_engine.simulation.breach import Breach, Rule, Weather, hold
from rebalance_engine.simulation.clients import ConsumerProcess
from rebalance_engine.simulation.clock import Clock
from rebalance_engine.simulation.dues import Dues
from rebalance_engine.simulation.figures import Figures, Span
from rebalance_engine.simulation.ordering import Ordering
from rebalance_engine.simulation.returning import Returns
from rebalance_engine.simulation.sessions import QueueBook, Session
from rebalance_engine.simulation.store import Returned
from rebalance_engine.simulation.timers import (
    FLUSHED_EVERY,
    ON_THE_WAY,
    PULLED,
    ROUND,
    STORED_LATE,
    WAITS,
)

KEPT = 180_000  # ms; how long an ended session is remembered


class Ledger:
    """The books of one group.

    Attributes:
        figures: what it amounts to so far.
        ordering: of an orderly group, who has which lock.
        returns: failed messages on their way back.
    """

    def __init__(self, clock: Clock, weather: Weather, *, is_orderly: bool) -> None:
        self.figures = Figures(seeds=1)
        self.ordering = Ordering(self.book, clock, weather)
        self.returns = Returns(clock, weather)
        self._dues = Dues(clock, weather, is_orderly=is_orderly)
        self._clock = clock
        self._weather = weather
        self._is_orderly = is_orderly
        self._books: dict[MessageQueue, QueueBook] = {}
        self._by_fact: dict[type, Callable[[ConsumerProcess, Fact], None]] = {
            QueueTaken: self._took,  # type: ignore[dict-item]  # each gets the fact that it stands beside
            QueueDropped: self._dropped,  # type: ignore[dict-item]
            PullRefused: self._was_refused,  # type: ignore[dict-item]
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
            Rule.SKIP,
            f"{process.name} begins {book} at {start}; nobody finished {book.watermark}",
        )
        session = Session(process, now, start)
        book.sessions = [each for each in book.sessions if each.ended_at is None or now - each.ended_at < KEPT]
        self._explain_start(session, book, start)
        book.sessions.append(session)
        book.live.append(session)
        self._count_holders(book)
        if book.last_holder is not None and book.last_holder is not process:
            self.figures.moves += 1
        book.last_holder = process

    def _explain_start(self, session: Session, book: QueueBook, start: int) -> None:
        """A start behind what others did repeats their messages: each of those needs an explanation.

        It may lie behind what is stored only if the answer was held up, and behind what another one had finished only
        if he had no time to store that, could not, or somebody with a handoff of his own set the offset back.
        """
        now, name, broker = self._clock.now, session.holder.name, book.queue.broker
        if not self._weather.was_awake(now - ON_THE_WAY, now, name):
            return  # where to begin it was told before it stood still
        least = book.least_stored_since(now - ON_THE_WAY)
        if start < least and self._weather.was_fair(now - ON_THE_WAY, now, name):
            raise Breach(Rule.START, f"{name} begins {book} at {start}; {least} is stored")
        for other in book.sessions:
            due = self._dues.had_to_store(book, other)
            if other is session or start >= due.offset or book.was_set_back(start, due.since, other):
                continue
            if self._weather.was_fair(due.since, due.until, other.holder.name, broker):
                raise Breach(
                    Rule.EXPLAINED,
                    f"{name} begins {book} at {start}; {other.holder.name} had finished it up to {due.offset} "
                    f"{now - due.by} ms ago, and nothing explains that {due.offset - start} messages come again",
                )

    def _dropped(self, process: ConsumerProcess, fact: QueueDropped) -> None:
        book = self.book(fact.queue)
        session = book.session_of(process)
        if session is None:
            raise Breach(Rule.HOLDING, f"{process.name} drops {book}, which it does not hold")
        claim = session.start_offset if fact.committed_offset is None else fact.committed_offset
        if session.given and not (fact.reason is DropReason.OFFSET_ILLEGAL and book.is_being_repaired(process)):
            fair = self._weather.was_fair(self._clock.now - STORED_LATE, self._clock.now, process.name)
            is_forgotten = fact.committed_offset is None and session.is_forgotten(self._clock.now)
            hold(
                (session.finished <= claim or is_forgotten or not fair) and _may_be_at(book, session, claim),
                Rule.CLAIM,
                f"{process.name} drops {book} at {claim}; it has finished it up to {session.finished}",
            )
        self._dues.check_stored(book, session)
        self._end(book, session, fact.reason)
        self._dues.forget_others(process, fact.reason, self._books.values())

    def _was_refused(self, process: ConsumerProcess, fact: PullRefused) -> None:
        session = self.book(fact.queue).session_of(process)
        if session is not None:
            session.refused_at = self._clock.now

    def subscribed_again(self, topic: str) -> None:
        """Note that members subscribe to a topic from now on: who kept its queues, as C++ does, pulled in vain."""
        for book in self._books.values():
            for session in book.live if book.queue.topic == topic else ():
                session.refused_at = self._clock.now

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
        self._dues.gone(process)
        lost = []
        for book in self._books.values():
            for key in [key for key in book.in_hand if key[0] is process]:
                del book.in_hand[key]
            session = book.session_of(process)
            if session is not None:
                self._dues.check_stored(book, session)
                self._end(book, session, DropReason.LOST)
                lost.append(book.queue)
        return tuple(lost)

    def held(self, process: ConsumerProcess) -> frozenset[MessageQueue]:
        """Give what a process holds, by its own statements."""
        return frozenset(book.queue for book in self._books.values() if book.session_of(process) is not None)

    # ---- listeners ----

    def delivered(self, process: ConsumerProcess, deliver: Deliver) -> None:
        """Note that a listener got messages."""
        book = self.book(deliver.queue)
        session = book.session_of(process)
        if session is None and self._is_orderly:
            session = self.ordering.session_let_go(process, book)
        if session is None:
            raise Breach(Rule.HOLDING, f"{process.name} consumes {book}, which it does not hold")
        if self._is_orderly:
            self.ordering.delivered(process, book)
        for message in deliver.messages:
            self._given(session, book, message)
        session.note_given(self._clock.now)
        book.in_hand[process, deliver.token] = session

    def _given(self, session: Session, book: QueueBook, message: Message) -> None:
        offset, name, now = message.offset, session.holder.name, self._clock.now
        is_repeated = offset in session.given
        if is_repeated and session.given[offset] is not Result.LATER:
            raise Breach(Rule.REPEATED, f"{name} is given {book} {offset} again without any reason")
        if self._is_orderly and offset > book.watermark:
            raise Breach(Rule.ORDER, f"{name} is given {book} {offset}, and nobody finished {book.watermark}")
        if not session.given and offset != session.start_offset:
            self._begins_elsewhere(session, book, offset)
        if not is_repeated:
            self._check_prompt(session, book, offset)
        self.figures.consumed += 1
        if offset < book.reached and not is_repeated:
            self.figures.duplicates += 1
            self.figures.repeats.append((book.queue, now))
        silence = book.note_given(offset, now)
        if silence > 1_000:
            self.figures.silences.append(Span(book.queue, now - silence, silence))
        session.given[offset] = None
        session.last_given_at = now

    def _begins_elsewhere(self, session: Session, book: QueueBook, offset: int) -> None:
        name = session.holder.name
        hold(self._is_orderly, Rule.SKIP, f"{name} took {book} at {session.start_offset} and begins at {offset}")
        if offset < session.start_offset:
            self._explain_start(session, book, offset)
        session.begin_at(offset, self._clock.now)

    def _check_prompt(self, session: Session, book: QueueBook, offset: int) -> None:
        """Insist that a message did not wait for long while the queue was held and nothing was wrong.

        Up to 4.9.4 an orderly queue counts as locked only from the next renewal on (rebalance.md 4, 11.1).
        """
        now = self._clock.now
        since = max(book.stored_at[offset], session.began_at, session.last_given_at, session.refused_at)
        if self._is_orderly:
            since = max(since, self.ordering.locked_since(session.holder, book.queue))
        most = WAITS + 6 * session.holder.listener.high
        if self._is_orderly and not session.given and session.holder.profile.idles_until_renewal:
            most += ROUND
        if now - since > most and self._weather.was_fair(since, now, session.holder.name, book.queue.broker):
            raise Breach(
                Rule.PROMPT, f"{session.holder.name} is given {book} {offset} only now; it waited {now - since} ms"
            )

    def consumed(self, process: ConsumerProcess, deliver: Deliver, result: Result) -> None:
        """Note what a listener made of messages."""
        book = self.book(deliver.queue)
        session = book.in_hand.pop((process, deliver.token), None)
        if session is not None:
            session.note_returned(self._clock.now, result)
        for message in deliver.messages:
            offset = message.offset
            if session is not None:
                session.given[offset] = result
                if result is Result.LATER and self._sends_back(session):
                    session.asked_again.setdefault(offset, [0, 0])[0] += 1
                elif session.ended_at is None:
                    session.finish(offset, self._clock.now)
            if result is Result.SUCCESS:
                book.finish(offset)
        if session is not None and session.ended_at is None:
            self._dues.check_stored(book, session)

    def _sends_back(self, session: Session) -> bool:
        """Say whether what fails now goes back to its broker: not once the queue was dropped, but for C++."""
        return self._is_orderly or session.ended_at is None or session.holder.profile.sends_back_dropped

    # ---- brokers ----

    def stored(self, queue: MessageQueue, message: Message) -> None:
        """Note that there is one more message."""
        self.book(queue).stored_at.append(self._clock.now)
        self.returns.stored(queue, message)

    def returned(self, process: ConsumerProcess, returned: Returned) -> None:
        """Note that a failed message is the broker's again: here it is finished, it comes back elsewhere."""
        book, offset = self.book(returned.place), returned.offset
        book.finish(offset)
        session = book.session_to_return(process, offset)
        if session is None:
            raise Breach(Rule.HOLDING, f"{process.name} sends {book} {offset} back, which it never held")
        asked = session.asked_again.setdefault(offset, [0, 0])
        asked[1] += 1
        hold(
            asked[1] <= asked[0],
            Rule.RETURNED,
            f"{process.name} sends {book} {offset} back {asked[1]} times; its listener asked for it {asked[0]} times",
        )
        session.send_back(offset)
        self._clock.after(ON_THE_WAY, lambda: session.finish(offset, self._clock.now))
        self.returns.expect(returned)

    def pulled(self, process: ConsumerProcess, queue: MessageQueue) -> None:
        """Note that a broker serves a pull."""
        book, now = self.book(queue), self._clock.now
        session = book.last_session_of(process)
        if session is None:
            raise Breach(Rule.FOREIGN, f"{process.name} pulls {book}, which it never held")
        if session.ended_at is not None:
            late = now - session.ended_at
            if late > ON_THE_WAY and self._weather.was_fair(session.ended_at, now, process.name, queue.broker):
                raise Breach(Rule.FOREIGN, f"{process.name} pulls {book}, which it dropped {late} ms ago")
        elif not session.has_pulled:
            session.has_pulled = True
            pause = process.profile.dispatch_delay
            hold(
                now - session.began_at >= pause,
                Rule.PACE,
                f"{process.name} pulls {book} {now - session.began_at} ms after it took it, not after {pause} ms",
            )

    def committed(self, process: ConsumerProcess, queue: MessageQueue, offset: int) -> None:
        """Note that a broker was told how far a group is."""
        book, now = self.book(queue), self._clock.now
        if offset > book.watermark:
            raise Breach(Rule.COMMIT, f"{process.name} commits {offset} of {book}; nobody finished {book.watermark}")
        session = book.last_session_of(process)
        if session is None:
            raise Breach(Rule.FOREIGN, f"{process.name} commits {book}, which it never held")
        session.stored = max(session.stored, offset)
        book.note_commit(offset, now, session)
        names, ended_at = (process.name, queue.broker), session.ended_at
        if ended_at is not None and not self._is_orderly and now - ended_at > ON_THE_WAY:
            hold(
                not self._weather.was_fair(ended_at, now, *names),
                Rule.FOREIGN,
                f"{process.name} commits {book}, which it dropped {now - ended_at} ms ago",
            )
        due = session.finished_at(now - ON_THE_WAY)
        says_nothing = offset < 0 and process.profile.notes_nothing_stored  # as good as 0
        if (0 if says_nothing else offset) < due and self._weather.was_fair(now - STORED_LATE, now, *names):
            raise Breach(Rule.STALE, f"{process.name} commits {offset} of {book}; it had finished {due} long before")

    def restarted(self, broker: str, crashed_at: int) -> None:
        """Note that a broker was started again: it knows no locks, and of offsets only what it had flushed."""
        now = self._clock.now
        self.ordering.locks.forgotten(broker, now)
        for book in self._books.values():
            if book.queue.broker == broker:
                book.note_commit(book.least_stored_since(crashed_at - FLUSHED_EVERY), now)

    # ---- the end ----

    def check_finished(self, queue: MessageQueue) -> None:
        """Insist that every message of a queue was consumed."""
        book = self.book(queue)
        hold(
            book.watermark >= book.end,
            Rule.FINISHED,
            f"{book}: message {book.watermark} of {book.end} was never finished, "
            f"stored at {book.stored_at[book.watermark :][:1]}",
        )


def _may_be_at(book: QueueBook, session: Session, offset: int) -> bool:
    """Say whether a hold may think that it is so far: not further than it is, but for what it was told before.

    The answer to a pull of an earlier hold may have come in this one (``correctTagsOffset``). And Go keeps what it was
    told when it took the queue, where it is told less when it has the lock.
    """
    was_told_less = session.holder.profile.notes_nothing_stored and offset == session.start_offset
    was_left = book.was_left_at(offset, session.holder, session.began_at - PULLED)
    return offset <= session.at_most or was_told_less or was_left
