"""Which child is started, restarted or stopped when. It decides and does nothing: events in, effects out.

A child waits for what it needs (other children, or milestones such as the database), is started, and is ready once it
answers. One that ends by itself is started again after a pause that doubles each time. At the end children are stopped
level by level, from the highest down; whoever does not go in time is killed, and at the deadline everybody is.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from enum import Enum

FIRST_PAUSE_MS = 500
MOST_PAUSE_MS = 30_000
STEADY_MS = 60_000  # who was ready for so long has not failed again, but anew
STOP_WITHIN_MS = 16_000  # the promise is 20 s: the rest is for killing and for our own end


@dataclass(frozen=True, slots=True, kw_only=True)
class Child:
    """One process that is to run.

    Attributes:
        needs: what must be ready before it is started for the first time: children or milestones.
        level: children of a higher one are stopped before those of a lower one.
        is_probed: whether somebody asks it until it answers; else it is ready as soon as it runs.
        answers_after: a milestone before which it cannot answer.
        ready_within_ms: one that does not answer by then, counted from its start or from the milestone, is killed, and
            started again.
        grace_ms: how long it may take to stop, if all ends in time then.
        leaves_ms: how much of the time in which all must end it leaves to those of lower levels.
    """

    name: str
    needs: frozenset[str] = frozenset()
    level: int = 0
    is_probed: bool = False
    answers_after: str | None = None
    ready_within_ms: int = 90_000
    grace_ms: int = 11_000
    leaves_ms: int = 0


# ---- what it hears ----


@dataclass(frozen=True, slots=True)
class Added:
    """A child is to run."""

    child: Child


@dataclass(frozen=True, slots=True)
class Removed:
    """A child is to run no more."""

    name: str


@dataclass(frozen=True, slots=True)
class Reached:
    """A milestone is reached, for good."""

    name: str


@dataclass(frozen=True, slots=True)
class Answered:
    """A child that is probed is ready."""

    name: str


@dataclass(frozen=True, slots=True)
class Exited:
    """A child has ended, or could not be started; nothing of its process group is left. ``status`` as of a process."""

    name: str
    status: int


@dataclass(frozen=True, slots=True)
class Woken:
    """Time has passed."""


@dataclass(frozen=True, slots=True)
class Stop:
    """Everything is to end. Said again: at once."""


Event = Added | Removed | Reached | Answered | Exited | Woken | Stop

# ---- what it asks for ----


@dataclass(frozen=True, slots=True)
class Launch:
    """Start the child's process, and probe it where it is probed."""

    name: str


@dataclass(frozen=True, slots=True)
class Terminate:
    """Ask the child to end."""

    name: str


@dataclass(frozen=True, slots=True)
class Kill:
    """End the child and its whole process group now."""

    name: str


@dataclass(frozen=True, slots=True)
class WakeAt:
    """Let time be heard then (ms); it replaces what was asked before."""

    at: int


@dataclass(frozen=True, slots=True)
class Say:
    """Tell the person at the terminal."""

    text: str


@dataclass(frozen=True, slots=True)
class Over:
    """Nothing runs any more."""


Effect = Launch | Terminate | Kill | WakeAt | Say | Over


class State(Enum):
    """Where a child is."""

    WAITING = "waits for what it needs"
    STARTING = "runs, and does not answer yet"
    READY = "runs"
    PAUSING = "ended, and is started again soon"
    STOPPING = "was asked to end"
    KILLED = "was killed, and its end is awaited"
    GONE = "is to run no more"


UNNEEDED = 69  # a child ends with this status once what it is for is gone: as EX_UNAVAILABLE of sysexits.h
RUNNING = frozenset({State.STARTING, State.READY, State.STOPPING, State.KILLED})


@dataclass(slots=True)
class _Record:
    child: Child
    state: State = State.WAITING
    since: int = 0
    due: int | None = None  # when the state ends by itself
    failures: int = 0
    is_wanted: bool = True

    def enter(self, state: State, at: int, due: int | None = None) -> None:
        self.state, self.since, self.due = state, at, due


@dataclass(slots=True)
class Supervisor:
    """All children of one home."""

    _records: dict[str, _Record] = field(default_factory=dict)
    _milestones: set[str] = field(default_factory=set)
    _was_ready: set[str] = field(default_factory=set)
    _stop_by: int | None = None
    _is_over: bool = False

    # ---- to look at ----

    def state(self, name: str) -> State:
        """Tell where a child is."""
        return self._records[name].state

    def was_ready(self, name: str) -> bool:
        """Say whether a child, or a milestone, was ever ready."""
        return name in self._was_ready or name in self._milestones

    def is_gone(self, name: str) -> bool:
        """Say whether a child ended for good; a name that was never given is not."""
        return name in self._records and self._records[name].state is State.GONE

    @property
    def is_stopping(self) -> bool:
        """Say whether everything is to end."""
        return self._stop_by is not None

    # ---- one event in, effects out ----

    def handle(self, event: Event, at: int) -> list[Effect]:
        """Hear an event at a time (ms, never going back), and say what is to be done."""
        if self._is_over:
            return []
        effects = [*self._hear(event, at), *self._see_to(at)]
        due = [record.due for record in self._records.values() if record.due is not None]
        if due and not self._is_over:
            effects.append(WakeAt(min(due)))
        return effects

    def _hear(self, event: Event, at: int) -> Iterable[Effect]:
        match event:
            case Added(child):
                if child.name in self._records and self._records[child.name].state is not State.GONE:
                    raise ValueError(f"{child.name} is there already; a name is given once")
                self._records[child.name] = _Record(child, since=at, is_wanted=not self.is_stopping)
            case Removed(name):
                return self._removed(self._records[name])
            case Reached(name):
                self._reached(name, at)
            case Answered(name):
                return self._answered(self._records[name], at)
            case Exited(name, status):
                return self._exited(self._records[name], status, at)
            case Stop():
                return self._stop(at)
            case Woken():
                pass
        return []

    def _reached(self, name: str, at: int) -> None:
        self._milestones.add(name)
        for record in self._records.values():
            if record.state is State.STARTING and record.child.answers_after == name:
                record.due = at + record.child.ready_within_ms

    def _answered(self, record: _Record, at: int) -> Iterable[Effect]:
        if record.state is State.STARTING:
            took = (at - record.since) / 1_000
            record.enter(State.READY, at)
            self._was_ready.add(record.child.name)
            yield Say(f"{record.child.name} is ready ({took:.1f} s)")

    def _exited(self, record: _Record, status: int, at: int) -> Iterable[Effect]:
        name = record.child.name
        if not record.is_wanted:
            record.enter(State.GONE, at)
            return
        if status == UNNEEDED:
            record.is_wanted = False
            record.enter(State.GONE, at)
            yield Say(f"{name} is needed no more, and has ended")
            return
        if record.state is State.READY and at - record.since >= STEADY_MS:
            record.failures = 0
        pause = min(FIRST_PAUSE_MS * 2**record.failures, MOST_PAUSE_MS)
        record.failures = min(record.failures + 1, 30)
        record.enter(State.PAUSING, at, at + pause)
        yield Say(f"{name} ended ({how_it_ended(status)}); it starts again in {pause / 1_000:g} s")

    def _removed(self, record: _Record) -> Iterable[Effect]:
        if record.is_wanted:
            record.is_wanted = False
            yield Say(f"{record.child.name} is needed no more, and is ended")

    def _stop(self, at: int) -> Iterable[Effect]:
        again = self.is_stopping
        self._stop_by = at if again else at + STOP_WITHIN_MS
        for record in self._records.values():
            record.is_wanted = False
        yield Say("stopping at once" if again else "stopping")

    # ---- what follows from where everybody is ----

    def _see_to(self, at: int) -> Iterable[Effect]:
        for record in self._records.values():
            yield from self._see_to_one(record, at)
        if self.is_stopping and all(record.state is State.GONE for record in self._records.values()):
            self._is_over = True
            yield Over()

    def _see_to_one(self, record: _Record, at: int) -> Iterable[Effect]:
        if not record.is_wanted:
            yield from self._let_go(record, at)
        elif (record.state is State.WAITING and all(map(self._is_ready, record.child.needs))) or (
            record.state is State.PAUSING and _is_due(record, at)
        ):
            yield from self._launch(record, at)
        elif record.state is State.STARTING and _is_due(record, at):
            record.enter(State.KILLED, at)
            yield Say(f"{record.child.name} does not answer after {record.child.ready_within_ms / 1_000:g} s: killed")
            yield Kill(record.child.name)

    def _launch(self, record: _Record, at: int) -> Iterable[Effect]:
        child = record.child
        if child.is_probed:
            can_answer = child.answers_after is None or child.answers_after in self._milestones
            record.enter(State.STARTING, at, at + child.ready_within_ms if can_answer else None)
        else:
            record.enter(State.READY, at)
            self._was_ready.add(child.name)
        yield Launch(child.name)

    def _is_ready(self, name: str) -> bool:
        record = self._records.get(name)
        return name in self._milestones or (record is not None and record.state is State.READY)

    def _let_go(self, record: _Record, at: int) -> Iterable[Effect]:
        name = record.child.name
        if record.state in {State.WAITING, State.PAUSING}:
            record.enter(State.GONE, at)
        elif record.state in {State.STARTING, State.READY} and self._is_its_turn(record):
            due = at + record.child.grace_ms
            by = due if self._stop_by is None else self._stop_by - record.child.leaves_ms
            record.enter(State.STOPPING, at, min(due, by))
            yield Terminate(name)
        elif record.state in {State.STARTING, State.READY}:
            record.due = self._stop_by
        if record.state in RUNNING - {State.KILLED} and (self._is_late(at) or _is_due(record, at)):
            record.enter(State.KILLED, at)
            yield Say(f"{name} did not end in time: killed")
            yield Kill(name)

    def _is_its_turn(self, record: _Record) -> bool:
        """Say whether nobody of a higher level runs any more; one that is removed alone has its turn at once."""
        if not self.is_stopping:
            return True
        return not any(
            other.state in RUNNING and other.child.level > record.child.level for other in self._records.values()
        )

    def _is_late(self, at: int) -> bool:
        return self._stop_by is not None and at >= self._stop_by


def _is_due(record: _Record, at: int) -> bool:
    return record.due is not None and at >= record.due


def how_it_ended(status: int) -> str:
    """Say in words what a process's status means.

    >>> how_it_ended(-9), how_it_ended(1)
    ('killed by signal 9', 'status 1')
    """
    return f"killed by signal {-status}" if status < 0 else f"status {status}"
