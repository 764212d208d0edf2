"""How far each hold of a queue must be stored, and since when: what its client had finished in time for its timer."""

from __future__ import annotations

from collections.abc import Iterable

from rebalance_engine.events import DropReason
from rebalance_engine.simulation.breach import Breach, Rule, Weather
from rebalance_engine.simulation.clients import ConsumerProcess
from rebalance_engine.simulation.clock import Clock
from rebalance_engine.simulation.sessions import QueueBook, Session
from rebalance_engine.simulation.timers import FIRST_PERSISTED, ON_THE_WAY, PERSISTED_EVERY, STORED_LATE

FIRST_STORED = FIRST_PERSISTED + PERSISTED_EVERY  # from a client's start on its timer has stored all
LATE = {  # what was finished so long before the end had to be stored
    DropReason.NOT_IN_TARGET: 0,
    DropReason.PULL_EXPIRED: 0,
    DropReason.STOPPED: ON_THE_WAY,  # the last message in hand is finished after all was stored
}


class Dues:
    """What the holds of one group's queues must have stored."""

    def __init__(self, clock: Clock, weather: Weather, *, is_orderly: bool) -> None:
        self._clock = clock
        self._weather = weather
        self._is_orderly = is_orderly
        self._gone_at: dict[ConsumerProcess, int] = {}

    def gone(self, process: ConsumerProcess) -> None:
        """Note that a process is gone."""
        self._gone_at[process] = self._clock.now

    def had_to_store(self, session: Session) -> tuple[int, int]:
        """Give how far a session must have stored its queue by now, and when it could last do so."""
        now, ended_at = self._clock.now, session.ended_at
        if ended_at is None or now - ended_at <= ON_THE_WAY:
            by = now if ended_at is None else ended_at
            late = STORED_LATE
        else:
            by, late = ended_at, LATE.get(session.reason or DropReason.LOST, STORED_LATE)
            if self._is_orderly and 0 <= self._gone_at.get(session.holder, 0) - ended_at <= STORED_LATE:
                late = STORED_LATE  # all are marked first, then each waits for its listener before it is stored
        if late == STORED_LATE and by - session.holder.started_at < FIRST_STORED:
            return 0, by
        return session.due_at(by - late, by), by

    def check_stored(self, book: QueueBook, session: Session) -> None:
        """Insist that what was finished a while ago is stored.

        Raises:
            Breach: it is not, and nothing kept it from being stored.
        """
        now, holder = self._clock.now, session.holder
        since = now - STORED_LATE
        if since - holder.started_at < FIRST_STORED:
            return
        due = session.due_at(since, now)
        if session.stored < due and self._weather.was_fair(since, now, holder.name, book.queue.broker):
            raise Breach(
                Rule.STORED,
                f"{holder.name} had finished {book} up to {due} {STORED_LATE} ms ago; it stored {session.stored}",
            )

    def forget_others(self, process: ConsumerProcess, reason: DropReason, books: Iterable[QueueBook]) -> None:
        """Note that a queue is stored by itself now, or once it is repaired: a Go client then forgets all others."""
        now = self._clock.now
        repair = process.profile.repair_delay or 0 if reason is DropReason.OFFSET_ILLEGAL else 0
        for book in books:
            session = book.session_of(process)
            if session is not None:
                session.forget(now, now + repair + ON_THE_WAY)
