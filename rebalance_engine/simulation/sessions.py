"""One queue of one group, and the times in which processes held it: who was given what, and what is finished."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from rebalance_engine.consumer.application import Result
from rebalance_engine.consumer.profiles import OrderlyRun
from rebalance_engine.events import DropReason
from rebalance_engine.model import MessageQueue
from rebalance_engine.simulation.clients import ConsumerProcess
from rebalance_engine.simulation.timers import RUN

MOST_COMMITS = 200  # of one queue that are remembered: a minute and more
MOST_PROGRESS = 400  # steps of one session's progress that are remembered


@dataclass(slots=True, eq=False)
class Session:
    """From taking a queue to dropping it, by one process.

    Attributes:
        began_at, ended_at: when.
        start_offset: where it went on.
        reason: why it dropped it.
        given: offset -> what the listener made of it; None while it has it.
        asked_again: offset -> how often the listener asked for it again, and how often it was sent back.
        finished: every message below it, from where it began, is surely finished here; what is on its way back to the
            broker may count already, up to ``at_most``.
        stored: the highest offset that the broker has heard from it.
        last_given_at, refused_at: when its listener last got a message, and its last pull was refused.
        run_began_at, succeeded_at: since when its listener has got one message after the other without a break, and
            when it succeeded last.
        has_pulled: a pull of it came to the broker.
    """

    holder: ConsumerProcess
    began_at: int
    start_offset: int
    ended_at: int | None = None
    reason: DropReason | None = None
    given: dict[int, Result | None] = field(default_factory=dict)
    asked_again: dict[int, list[int]] = field(default_factory=dict)
    finished: int = 0
    stored: int = 0
    last_given_at: int = 0
    refused_at: int = 0
    run_began_at: int = 0
    succeeded_at: int | None = None
    has_pulled: bool = False
    _done: set[int] = field(default_factory=set)
    _sent_back: set[int] = field(default_factory=set)
    _progress: list[tuple[int, int]] = field(default_factory=list)
    _forgotten: list[tuple[int, int]] = field(default_factory=list)

    def __post_init__(self) -> None:
        """Begin where the queue was taken."""
        self.finished = self.stored = self.start_offset
        self._progress.append((self.began_at, self.start_offset))

    @property
    def at_most(self) -> int:
        """How far it may say that it is: what is on its way back to the broker counts."""
        offset = self.finished
        while offset in self._done or offset in self._sent_back:
            offset += 1
        return offset

    def begin_at(self, offset: int, at: int) -> None:
        """Note where it really began: an orderly consumer asks again once it has the lock."""
        self.finished = offset
        self._progress.append((at, offset))

    def goes_on(self, at: int) -> bool:
        """Whether a message that its listener gets now follows the last one at once, by who looks for no reason not to.

        That is C++, which begins a run with a look at its lock, and looks no more for a minute.
        """
        has_one_look = self.holder.profile.orderly_run is OrderlyRun.ONE_LOOK
        return has_one_look and self.succeeded_at == at and at - self.run_began_at <= RUN

    def note_given(self, at: int) -> None:
        """Note that its listener gets messages: a run begins, or goes on."""
        if self.succeeded_at != at:
            self.run_began_at = at
        self.succeeded_at = None

    def note_returned(self, at: int, result: Result) -> None:
        """Note that its listener is done with messages; those that failed end the run."""
        self.succeeded_at = at if result is Result.SUCCESS else None

    def finish(self, offset: int, at: int) -> None:
        """Note that a message is finished here."""
        self._done.add(offset)
        before = self.finished
        while self.finished in self._done:
            self._done.discard(self.finished)
            self._sent_back.discard(self.finished)
            self.finished += 1
        if self.finished > before:
            self._progress.append((at, self.finished))
            if len(self._progress) > MOST_PROGRESS:
                del self._progress[: MOST_PROGRESS // 2]

    def is_to_return(self, offset: int) -> bool:
        """Whether its listener asked for a message again more often than it was sent back."""
        asked, sent = self.asked_again.get(offset, (0, 0))
        return asked > sent

    def send_back(self, offset: int) -> None:
        """Note that the broker has a failed message back; the client will know it when it hears the answer."""
        self._sent_back.add(offset)

    def finished_at(self, at: int) -> int:
        """Give how far it surely was at a time, 0 before it began or when that is not remembered."""
        return next((offset for _, offset in self.finished_until(at)), 0)

    def finished_until(self, at: int) -> Iterator[tuple[int, int]]:
        """Give how far it was at a time and before that, each with since when: the latest first."""
        return ((since, offset) for since, offset in reversed(self._progress) if since <= at)

    def forget(self, since: int, until: int) -> None:
        """Note that some time from then to then its client forgets what it has noted of the queue and not stored."""
        finished_at = self._progress[0][0]  # what was finished before is not remembered here
        self._forgotten = [each for each in self._forgotten if each[1] >= finished_at]
        self._forgotten.append((since, until))

    def forgotten_at(self, since: int, until: int) -> int | None:
        """Give when in this time its client may first have forgotten the queue; None: at no time."""
        times = (max(first, since) for first, last in self._forgotten if first <= until and last >= since)
        return min(times, default=None)

    def is_forgotten(self, at: int) -> bool:
        """Whether its client may have forgotten by then how far it is, and has finished nothing since."""
        return self.forgotten_at(self._progress[-1][0], at) is not None


@dataclass(frozen=True, slots=True)
class Stored:
    """An offset that a broker keeps since a time; the session that committed it, or none after a restart."""

    at: int
    offset: int
    by: Session | None


@dataclass(slots=True, eq=False)
class QueueBook:
    """Everything that happened to one queue.

    Attributes:
        sessions: all, in the order in which they began; ``live`` are those that have not ended.
        watermark: all messages below it are finished; ``finished`` are those above it that are.
        in_hand: what listeners have right now, by process and token.
        stored_at: when each message was stored.
        commits: when which offset was stored; the oldest are forgotten.
        reached: the first offset that no listener was ever given.
        empty_since, shared_since: since when nobody, or more than one, holds it.
    """

    queue: MessageQueue
    sessions: list[Session] = field(default_factory=list)
    live: list[Session] = field(default_factory=list)
    watermark: int = 0
    finished: set[int] = field(default_factory=set)
    in_hand: dict[tuple[ConsumerProcess, int], Session] = field(default_factory=dict)
    stored_at: list[int] = field(default_factory=list)
    commits: list[Stored] = field(default_factory=list)
    reached: int = 0
    last_given_at: int = 0
    empty_since: int | None = None
    shared_since: int | None = None
    last_holder: ConsumerProcess | None = None

    def __str__(self) -> str:
        """Name the queue."""
        return short(self.queue)

    @property
    def end(self) -> int:
        """How many messages there are."""
        return len(self.stored_at)

    def session_of(self, process: ConsumerProcess) -> Session | None:
        """Give the session in which a process holds the queue now."""
        return next((session for session in self.live if session.holder is process), None)

    def last_session_of(self, process: ConsumerProcess) -> Session | None:
        """Give the session in which a process holds the queue, or last held it."""
        return next((session for session in reversed(self.sessions) if session.holder is process), None)

    def session_to_return(self, process: ConsumerProcess, offset: int) -> Session | None:
        """Give the session whose listener asked for a message again that has not come back yet; else the last one."""
        of_process = [session for session in reversed(self.sessions) if session.holder is process]
        asked = (each for each in of_process if each.is_to_return(offset))
        return next(asked, of_process[0] if of_process else None)

    def was_left_at(self, offset: int, by: ConsumerProcess, since: int) -> bool:
        """Say whether an earlier hold of a process, ended since then, had pulled up to this offset and no further."""
        return any(
            session.holder is by
            and session.ended_at is not None
            and session.ended_at >= since
            and offset == max(session.given, default=session.start_offset - 1) + 1
            for session in self.sessions
        )

    def is_being_repaired(self, by: ConsumerProcess) -> bool:
        """Say whether the present hold of a process came while an illegal offset of its last one was repaired.

        What that hold is dropped at is where the broker said to go on; how it was stored is judged then.
        """
        ended = (each for each in reversed(self.sessions) if each.holder is by and each.ended_at is not None)
        last = next(ended, None)
        return last is not None and last.reason is DropReason.OFFSET_ILLEGAL

    def note_commit(self, offset: int, at: int, by: Session | None = None) -> None:
        """Note that an offset was stored."""
        self.commits.append(Stored(at, offset, by))
        if len(self.commits) > MOST_COMMITS:
            del self.commits[: MOST_COMMITS // 2]

    def least_stored_since(self, at: int) -> int:
        """Give the least offset that was stored at any moment since then, as far as is known."""
        least = None
        for stored in reversed(self.commits):
            least = stored.offset if least is None else min(least, stored.offset)
            if stored.at < at:
                return least
        return 0

    def was_set_back(self, offset: int, since: int, not_by: Session) -> bool:
        """Say whether somebody else stored this offset or one before it since then: he had a handoff of his own."""
        return any(
            stored.offset <= offset and stored.at >= since and stored.by is not not_by
            for stored in reversed(self.commits)
        )

    def finish(self, offset: int) -> None:
        """Note that a message is finished."""
        if offset >= self.watermark:
            self.finished.add(offset)
        while self.watermark in self.finished:
            self.finished.discard(self.watermark)
            self.watermark += 1

    def note_given(self, offset: int, at: int) -> int:
        """Note that a message was given to a listener; say how long before none was although some waited."""
        is_waiting = self.reached < self.end
        silence = at - max(self.last_given_at, self.stored_at[self.reached]) if is_waiting else 0
        self.reached = max(self.reached, offset + 1)
        self.last_given_at = at
        return silence


def short(queue: MessageQueue) -> str:
    """Write a queue as ``orders/east/0``."""
    return f"{queue.topic}/{queue.broker}/{queue.queue_id}"
