"""A producer as a state machine: it hears answers and timers, and asks for requests and timers.

Inside run tasks, one for each call and each of RocketMQ's background threads. The machine starts them, gives each its
replies in the order in which they come, and lends out the client's one route lock. It knows neither sockets nor clocks.
"""

from __future__ import annotations

import random
from collections import deque
from collections.abc import Hashable, Iterator
from dataclasses import dataclass
from typing import NamedTuple

from rebalance_engine.effects import Answered, Cancel, Effect, Heard, Send, SendOneway, Unanswered, WakeAt, Woken
from rebalance_engine.events import Source
from rebalance_engine.model import MessageQueue
from rebalance_engine.producer.calls import sending
from rebalance_engine.producer.checks import broken_call, broken_tables
from rebalance_engine.producer.desk import Desk
from rebalance_engine.producer.detector import detect
from rebalance_engine.producer.index import Thread
from rebalance_engine.producer.lookup import refresh
from rebalance_engine.producer.profiles import Profile
from rebalance_engine.producer.selection import Choice, Why
from rebalance_engine.producer.selectors import Selector
from rebalance_engine.producer.send_loop import Call, Message, Mode, Result, Story
from rebalance_engine.producer.settings import Settings
from rebalance_engine.producer.tasks import (
    INTERRUPTED,
    DropLock,
    Reply,
    Sleep,
    TakeLock,
    Task,
    Transmit,
    TransmitOneway,
)

MAIN = "main"


class Sending(NamedTuple):
    """A call that was begun: its number, and what it asks for."""

    number: int
    effects: tuple[Effect, ...]


@dataclass(slots=True, eq=False)
class _Running:
    """A task and, for the task of a call, the call."""

    number: int
    task: Task[Result | None]
    call: Call | None = None


class Producer:
    """One producer of one client, by profile."""

    def __init__(self, profile: Profile, settings: Settings, *, luck: random.Random, source: Source) -> None:
        self.desk = Desk(profile, settings, luck=luck, source=source)
        self._numbers = 0
        self._tokens = 0
        self._running: dict[int, _Running] = {}
        self._sleeping: dict[int, _Running] = {}
        self._awaiting: dict[int, _Running] = {}
        self._ready: deque[tuple[_Running, Reply]] = deque()
        self._lock_holder: _Running | None = None
        self._lock_queue: deque[_Running] = deque()
        self._calls: dict[int, Call] = {}
        self._ended: list[int] = []

    # ---- what happens to it ----

    def start(self, at: int) -> tuple[Effect, ...]:
        """Begin to refresh routes and, where that is switched on, to probe brokers."""
        self._set_time(at)
        self._begin(refresh(self.desk))
        if self.desk.settings.detects and self.desk.profile.knows_reachability:
            self._begin(detect(self.desk))
        return self._run()

    def send(
        self,
        message: Message,
        at: int,
        *,
        thread: Thread = MAIN,
        mode: Mode = Mode.SYNC,
        to: MessageQueue | Selector | None = None,
        timeout_ms: int | None = None,
    ) -> Sending:
        """Begin a call.

        Args:
            thread: who sends; each thread has its own round robin.
            to: a queue, or how the application chooses one; without, the client chooses.
        """
        self._set_time(at)
        call = Call(
            number=self._numbers,
            message=message,
            mode=mode,
            thread=thread,
            began_at=at,
            timeout_ms=self.desk.settings.send_timeout_ms if timeout_ms is None else timeout_ms,
        )
        self._calls[call.number] = call
        self._begin(sending(self.desk, call, to), call)
        return Sending(call.number, self._run())

    def handle(self, heard: Heard, at: int) -> tuple[Effect, ...]:
        """Take in an answer, a missing answer or a timer; anything else is not for a producer."""
        self._set_time(at)
        if isinstance(heard, Answered | Unanswered):
            self._reply(heard.token, heard)
        elif isinstance(heard, Woken):
            self._wake(heard.timer)
        return self._run()

    def interrupt(self, number: int, at: int) -> tuple[Effect, ...]:
        """Interrupt the thread of a call that waits for a broker; a call that has ended or waits otherwise goes on."""
        self._set_time(at)
        waiting = [token for token, running in self._awaiting.items() if running.call is self._calls.get(number)]
        for token in waiting:
            self._reply(token, INTERRUPTED)
        return self._run()

    # ---- what it can tell ----

    def explain(
        self, topic: str, at: int, *, thread: Thread = MAIN, last_broker: str | None = None, is_retry: bool = False
    ) -> Choice:
        """Say which queue the thread's next attempt would take, and why; nothing changes, no index moves on.

        Args:
            last_broker: the broker that failed before, for an attempt after the first.
        """
        self._set_time(at)
        info = self.desk.book.info(topic)
        if info is None or not info.has_queues:
            return Choice(None, Why.NOTHING)
        return self.desk.preview(info, thread, last_broker, is_retry=is_retry)

    def story(self, number: int) -> Story:
        """Tell a call that is under way, or has ended and was not taken yet."""
        return self._calls[number].story()

    def take_finished(self) -> tuple[Story, ...]:
        """Give every call that has ended, in the order of their numbers, and forget it."""
        if not self._ended:
            return ()
        ended, self._ended = sorted(self._ended), []
        return tuple(self._calls.pop(number).story() for number in ended)

    def check(self) -> None:
        """Hold every invariant.

        Raises:
            AssertionError: something does not hold; the message says what.
        """
        broken = [*broken_tables(self.desk), *self._broken_tasks()]
        broken += [words for call in self._calls.values() for words in broken_call(self.desk, call)]
        assert not broken, "; ".join(broken)

    def _broken_tasks(self) -> Iterator[str]:
        waiting = [*self._awaiting.values(), *self._sleeping.values(), *self._lock_queue]
        numbers = sorted(running.number for running in waiting)
        if numbers != sorted(self._running):
            yield f"the tasks {sorted(self._running)} run, {numbers} wait for something"
        if self._lock_holder is not None and self._lock_holder not in self._awaiting.values():
            yield f"task {self._lock_holder.number} holds the route lock and asks nobody"
        under_way = {running.call.number for running in self._running.values() if running.call is not None}
        unfinished = {call.number for call in self._calls.values() if call.result is None}
        if under_way != unfinished:
            yield f"the calls {sorted(unfinished)} have no result, {sorted(under_way)} are under way"
        if self.desk.out or self._ready:
            yield "something was left to do"

    # ---- the tasks ----

    def _set_time(self, at: int) -> None:
        assert at >= self.desk.at, f"it is {at}, and was {self.desk.at}; time does not run backwards"
        self.desk.at = at

    def _begin(self, task: Task[Result | None], call: Call | None = None) -> None:
        running = _Running(self._numbers, task, call)
        self._numbers += 1
        self._running[running.number] = running
        self._ready.append((running, None))

    def _reply(self, token: int, reply: Reply) -> None:
        running = self._awaiting.pop(token, None)
        if running is not None:  # a late answer belongs to nobody
            self._ready.append((running, reply))

    def _wake(self, timer: Hashable) -> None:
        match timer:
            case ("sleep", int(number)) if number in self._sleeping:
                self._ready.append((self._sleeping.pop(number), None))
            case ("lock", int(number)) if number in self._running:
                self._give_up_waiting(self._running[number])
            case ("backoff", str(broker)):
                self.desk.backoff_over(broker)

    def _give_up_waiting(self, running: _Running) -> None:
        if running in self._lock_queue:
            self._lock_queue.remove(running)
            self._ready.append((running, False))

    def _run(self) -> tuple[Effect, ...]:
        while self._ready:
            self._advance(*self._ready.popleft())
        effects = tuple(self.desk.out)
        self.desk.out.clear()
        return effects

    def _advance(self, running: _Running, reply: Reply) -> None:
        """Let a task go on until it has to wait, or ends."""
        while True:
            try:
                wish = running.task.send(reply)
            except StopIteration as end:
                self._end(running, end.value)
                return
            match wish:
                case Transmit():
                    self._transmit(running, wish)
                    return
                case TransmitOneway(to=to, request=request):
                    self.desk.out.append(SendOneway(to=to, request=request))
                    reply = None
                case TakeLock():
                    if not self._lends_lock(running):
                        return
                    reply = True
                case DropLock():
                    self._pass_lock_on()
                    reply = None
                case Sleep(until):
                    self._sleeping[running.number] = running
                    self.desk.out.append(WakeAt(at=until, timer=("sleep", running.number)))
                    return

    def _transmit(self, running: _Running, wish: Transmit) -> None:
        self._awaiting[self._tokens] = running
        self.desk.out.append(Send(to=wish.to, request=wish.request, token=self._tokens, timeout_ms=wish.timeout_ms))
        self._tokens += 1

    def _lends_lock(self, running: _Running) -> bool:
        if self._lock_holder is None:
            self._lock_holder = running
            return True
        self._lock_queue.append(running)
        if self.desk.profile.lock_timeout_ms is not None:
            until = self.desk.at + self.desk.profile.lock_timeout_ms
            self.desk.out.append(WakeAt(at=until, timer=("lock", running.number)))
        return False

    def _pass_lock_on(self) -> None:
        self._lock_holder = self._lock_queue.popleft() if self._lock_queue else None
        if self._lock_holder is not None:
            self.desk.out.append(Cancel(timer=("lock", self._lock_holder.number)))
            self._ready.append((self._lock_holder, True))

    def _end(self, running: _Running, result: Result | None) -> None:
        del self._running[running.number]
        if running.call is not None:
            running.call.result, running.call.ended_at = result, self.desk.at
            self._ended.append(running.call.number)
