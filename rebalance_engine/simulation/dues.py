"""How far each hold of a queue must be stored, and since when: what its client had finished in time for its timer."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from rebalance_engine.events import DropReason
from rebalance_engine.simulation.breach import Breach, Rule, Weather
from rebalance_engine.simulation.clients import ConsumerProcess
from rebalance_engine.simulation.clock import Clock
from rebalance_engine.simulation.sessions import QueueBook, Session
from rebalance_engine.simulation.timers import FIRST_PERSISTED, ON_THE_WAY, PERSISTED_EVERY, REPAIR, RESET, STORED_LATE

FIRST_STORED = FIRST_PERSISTED + PERSISTED_EVERY  # from a client's start on its timer has stored all
LATE = {  # what was finished so long before the end had to be stored
    DropReason.NOT_IN_TARGET: 0,
    DropReason.PULL_EXPIRED: 0,
    DropReason.STOPPED: ON_THE_WAY,  # the last message in hand is finished after all was stored
}
PAUSES = {DropReason.OFFSET_ILLEGAL: REPAIR, DropReason.UNKNOWN: RESET}  # from the drop to when it is stored


@dataclass(frozen=True, slots=True)
class Due:
    """How far a hold must have stored its queue by a time.

    Attributes:
        since, until: where the weather was foul in between, nothing is due; nor where somebody else has stored less
            since then, or the broker forgot it.
    """

    offset: int
    by: int
    since: int
    until: int


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

    def had_to_store(self, book: QueueBook, session: Session) -> Due:
        """Give how far a hold must have stored its queue by now."""
        now, ended_at = self._clock.now, session.ended_at
        if ended_at is None or now - ended_at <= ON_THE_WAY:
            by = now if ended_at is None else ended_at
            late = STORED_LATE
        else:
            by, late = ended_at, LATE.get(session.reason or DropReason.LOST, STORED_LATE)
            if self._is_orderly and 0 <= self._gone_at.get(session.holder, 0) - ended_at <= STORED_LATE:
                late = STORED_LATE  # all are marked first, then each waits for its listener before it is stored
        if late == STORED_LATE and by - session.holder.started_at < FIRST_STORED:
            return _nothing(by)
        return self._due(book, session, by - late, by)

    def _due(self, book: QueueBook, session: Session, at: int, by: int) -> Due:
        """Give how far it must have stored by a time what it had finished at a time before.

        What its client may have forgotten since is due only if the timer had stored it before that: a broker that was
        away when it was to be stored, or that lost it, is not told again.
        """
        holder = session.holder
        for since, offset in session.finished_until(at):
            forgotten_at = session.forgotten_at(since, by)
            if forgotten_at is None:
                return Due(offset, by, by - STORED_LATE, by + ON_THE_WAY)
            stored = max(since, holder.started_at + FIRST_PERSISTED) + STORED_LATE
            if stored < forgotten_at and self._weather.was_fair(since, stored, holder.name, book.queue.broker):
                return Due(offset, by, since, stored)
        return _nothing(by)

    def check_stored(self, book: QueueBook, session: Session) -> None:
        """Insist that what was finished a while ago is stored.

        Raises:
            Breach: it is not, and nothing kept it from being stored.
        """
        now, holder = self._clock.now, session.holder
        if now - STORED_LATE - holder.started_at < FIRST_STORED:
            return
        due = self._due(book, session, now - STORED_LATE, now)
        if session.stored < due.offset and self._weather.was_fair(due.since, due.until, holder.name, book.queue.broker):
            raise Breach(
                Rule.STORED,
                f"{holder.name} had finished {book} up to {due.offset} {STORED_LATE} ms ago; "
                f"it stored {session.stored}",
            )

    def forget_others(self, process: ConsumerProcess, reason: DropReason, books: Iterable[QueueBook]) -> None:
        """Note that a Go client stores a queue by itself, now or after a pause: it then forgets all others.

        Who shuts down stores all together.
        """
        if reason is DropReason.STOPPED or not process.profile.storing_forgets_others:
            return
        since = self._clock.now + PAUSES.get(reason, 0)
        for book in books:
            session = book.session_of(process)
            if session is not None:
                session.forget(since, since + ON_THE_WAY)


def _nothing(by: int) -> Due:
    return Due(0, by, by, by)
