"""One queue of one group, and the times in which processes held it: who was given what, and what is finished."""

from __future__ import annotations

from dataclasses import dataclass, field

from rebalance_engine.consumer.application import Result
from rebalance_engine.events import DropReason
from rebalance_engine.model import MessageQueue
from rebalance_engine.simulation.clients import ConsumerProcess

MOST_COMMITS = 200  # of one queue that are remembered: a minute and more


@dataclass(slots=True, eq=False)
class Session:
    """From taking a queue to dropping it, by one process.

    Attributes:
        began_at, ended_at: when.
        start_offset: where it went on.
        committed: how far it was when it dropped the queue, as far as it knew.
        reason: why it dropped it.
        given: offset -> what the listener made of it; None while it has it.
        stored: the highest offset that the broker has heard from it.
    """

    holder: ConsumerProcess
    began_at: int
    start_offset: int
    ended_at: int | None = None
    committed: int | None = None
    reason: DropReason | None = None
    given: dict[int, Result | None] = field(default_factory=dict)
    stored: int = -1


@dataclass(slots=True, eq=False)
class QueueBook:
    """Everything that happened to one queue.

    Attributes:
        sessions: all, in the order in which they began; ``live`` are those that have not ended.
        watermark: all messages below it are finished; ``finished`` are those above it that are.
        in_hand: what listeners have right now, by process and token.
        stored_at: when each message was stored.
        commits: when which offset was stored, since the broker was started; the oldest are forgotten.
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
    commits: list[tuple[int, int]] = field(default_factory=list)
    reached: int = 0
    last_given_at: int = 0
    empty_since: int | None = None
    shared_since: int | None = None
    last_holder: ConsumerProcess | None = None

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

    def note_commit(self, offset: int, at: int) -> None:
        """Note that an offset was stored."""
        self.commits.append((at, offset))
        if len(self.commits) > MOST_COMMITS:
            del self.commits[: MOST_COMMITS // 2]

    def least_stored_since(self, at: int) -> int:
        """Give the least offset that was stored at any moment since then, as far as is known."""
        least = None
        for stored_at, offset in reversed(self.commits):
            least = offset if least is None else min(least, offset)
            if stored_at < at:
                return least
        return 0

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
