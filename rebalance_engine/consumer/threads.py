"""What runs inside of a client, written as Java's threads are: code that waits.

A thread is a generator. It yields what it waits for and goes on with the reply, so that the code reads like the Java
method that it follows. The scheduler turns waits into effects and what is heard into replies. It has no clock: the
time is whatever it was told last.

One timer serves all threads: a machine asks to be woken only when its earliest deadline moves forward.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Generator
from dataclasses import dataclass
from heapq import heappop, heappush
from typing import Any, TypeVar, cast

from rebalance_engine.consumer.application import Asked, Consumed, Deliver
from rebalance_engine.consumer.messages import Message
from rebalance_engine.effects import Address, Answered, Failure, Send, Unanswered, WakeAt
from rebalance_engine.model import MessageQueue
from rebalance_engine.remoting.requests.contract import Refused, Request, Response

T = TypeVar("T")
R = TypeVar("R", bound=Response)
Code = Generator["Wait", Any, T]
TIMER = "next"


class _Waits:
    """The reply of a wait that is not over yet."""


WAITS = _Waits()


class Thread:
    """A piece of code that runs; ``epoch`` counts its waits, so that a late deadline does not end a later wait."""

    __slots__ = ("code", "epoch", "is_over", "then")

    def __init__(self, code: Code[object], then: Callable[[], None] | None) -> None:
        self.code = code
        self.then = then
        self.epoch = 0
        self.is_over = False


class Lock:
    """A mutex between threads; who waits for it gets it in order of arrival."""

    __slots__ = ("is_held", "waiting")

    def __init__(self) -> None:
        self.is_held = False
        self.waiting: deque[tuple[Thread, int]] = deque()


class Bell:
    """A flag that wakes one thread: ringing it many times before it is heard counts once."""

    __slots__ = ("has_rung", "listener")

    def __init__(self) -> None:
        self.has_rung = False
        self.listener: tuple[Thread, int] | None = None


class Scheduler:
    """The threads of one machine, and the effects they have asked for since the last look.

    Attributes:
        at: the time of what is being handled, in ms.
        out: the effects so far.
    """

    def __init__(self) -> None:
        self.at = 0
        self.out: list[Asked] = []
        self._ready: deque[tuple[Thread, object]] = deque()
        self._deadlines: list[tuple[int, int, Thread, int, object]] = []
        self._armed: int | None = None
        self._waiting: dict[int, Thread] = {}
        self._tokens = 0
        self._entries = 0

    # ---- threads ----

    def spawn(self, code: Code[object], then: Callable[[], None] | None = None) -> Thread:
        """Begin to run code, after what is ready before it; ``then`` is called when it has ended by itself."""
        thread = Thread(code, then)
        self._ready.append((thread, None))
        return thread

    def stop(self, thread: Thread) -> None:
        """End a thread where it waits. Locks that it holds stay held."""
        if not thread.is_over:
            thread.is_over = True
            thread.code.close()

    def run(self) -> list[Asked]:
        """Run until everybody waits, and give the effects."""
        ready = self._ready
        while ready:
            thread, reply = ready.popleft()
            if not thread.is_over:
                self._resume(thread, reply)
        self._arm()
        out, self.out = self.out, []
        return out

    def _resume(self, thread: Thread, reply: object) -> None:
        thread.epoch += 1
        send = thread.code.send
        try:
            while True:
                wait = send(reply)
                reply = wait.begin(self, thread)
                if reply is WAITS:
                    return
        except StopIteration:
            thread.is_over = True
            if thread.then is not None:
                thread.then()

    # ---- what is heard ----

    def tell_time(self, at: int) -> None:
        """Let time go on to ``at``, in ms, and wake whose deadline has come."""
        self.at = max(at, self.at)
        deadlines = self._deadlines
        while deadlines and deadlines[0][0] <= self.at:
            _, _, thread, epoch, reply = heappop(deadlines)
            if thread.epoch == epoch:
                thread.epoch += 1
                self._ready.append((thread, reply))

    def woken(self) -> None:
        """Note that the timer went off."""
        self._armed = None

    def reply(self, heard: Answered | Unanswered | Consumed) -> bool:
        """Give an answer to the thread that waits for it; False if none does."""
        thread = self._waiting.pop(heard.token, None)
        if thread is None:
            return False
        self._ready.append((thread, heard))
        return True

    # ---- for the waits ----

    def number(self, thread: Thread) -> int:
        """Give a token that was never used, under which the thread waits."""
        self._tokens += 1
        self._waiting[self._tokens] = thread
        return self._tokens

    def set_deadline(self, thread: Thread, at: int, reply: object) -> None:
        """End the wait that the thread begins, at that time and with that reply, unless it ended before."""
        self._entries += 1
        heappush(self._deadlines, (at, self._entries, thread, thread.epoch, reply))

    def end_wait(self, waiter: tuple[Thread, int], reply: object) -> bool:
        """End a wait; False if it is over already."""
        thread, epoch = waiter
        if thread.epoch != epoch or thread.is_over:
            return False
        thread.epoch += 1
        self._ready.append((thread, reply))
        return True

    def _arm(self) -> None:
        deadlines = self._deadlines
        while deadlines and (deadlines[0][2].is_over or deadlines[0][2].epoch != deadlines[0][3]):
            heappop(deadlines)
        if deadlines and (self._armed is None or deadlines[0][0] < self._armed):
            self._armed = deadlines[0][0]
            self.out.append(WakeAt(at=self._armed, timer=TIMER))

    # ---- bells and locks ----

    def ring(self, bell: Bell) -> None:
        """Wake the thread that listens, or the next time it does."""
        listener, bell.listener = bell.listener, None
        bell.has_rung = listener is None or not self.end_wait(listener, True)

    def release(self, lock: Lock) -> None:
        """Give a lock to who has waited longest, or to nobody."""
        while lock.waiting:
            if self.end_wait(lock.waiting.popleft(), True):
                return
        lock.is_held = False

    def try_take(self, lock: Lock) -> bool:
        """Take a lock if nobody holds it."""
        if lock.is_held:
            return False
        lock.is_held = True
        return True


# ---- what a thread can wait for ----


class Wait:
    """Something that a thread waits for."""

    __slots__ = ()

    def begin(self, scheduler: Scheduler, thread: Thread) -> object:
        """Begin to wait: give the reply, or ``WAITS``."""
        raise NotImplementedError


@dataclass(slots=True)
class Ask(Wait):
    """Wait for the answer to a request; the reply is Answered or Unanswered."""

    to: Address
    request: object
    timeout_ms: int

    def begin(self, scheduler: Scheduler, thread: Thread) -> object:
        """Send it."""
        token = scheduler.number(thread)
        scheduler.out.append(Send(to=self.to, request=self.request, token=token, timeout_ms=self.timeout_ms))
        return WAITS


@dataclass(slots=True)
class SleepUntil(Wait):
    """Wait until a time, in ms."""

    at: int

    def begin(self, scheduler: Scheduler, thread: Thread) -> object:
        """Set the deadline."""
        if self.at <= scheduler.at:
            return None
        scheduler.set_deadline(thread, self.at, None)
        return WAITS


@dataclass(slots=True)
class Sleep(Wait):
    """Wait for so many ms."""

    ms: int

    def begin(self, scheduler: Scheduler, thread: Thread) -> object:
        """Set the deadline."""
        if self.ms <= 0:
            return None
        scheduler.set_deadline(thread, scheduler.at + self.ms, None)
        return WAITS


@dataclass(slots=True)
class Listen(Wait):
    """Wait until a bell rings, or for so many ms; the reply says whether it rang."""

    bell: Bell
    ms: int | None = None

    def begin(self, scheduler: Scheduler, thread: Thread) -> object:
        """Hear what rang before, or listen."""
        if self.bell.has_rung:
            self.bell.has_rung = False
            return True
        if self.ms is not None:
            if self.ms <= 0:
                return False
            scheduler.set_deadline(thread, scheduler.at + self.ms, False)
        self.bell.listener = (thread, thread.epoch)
        return WAITS


@dataclass(slots=True)
class Take(Wait):
    """Wait for a lock, for so many ms or for ever; the reply says whether it is ours now."""

    lock: Lock
    ms: int | None = None

    def begin(self, scheduler: Scheduler, thread: Thread) -> object:
        """Take it, or queue for it."""
        if scheduler.try_take(self.lock):
            return True
        if self.ms is not None:
            if self.ms <= 0:
                return False
            scheduler.set_deadline(thread, scheduler.at + self.ms, False)
        self.lock.waiting.append((thread, thread.epoch))
        return WAITS


@dataclass(slots=True)
class HandOut(Wait):
    """Wait until the application has consumed messages; the reply is Consumed."""

    group: str
    queue: MessageQueue
    messages: tuple[Message, ...]

    def begin(self, scheduler: Scheduler, thread: Thread) -> object:
        """Hand them out."""
        token = scheduler.number(thread)
        scheduler.out.append(Deliver(group=self.group, queue=self.queue, messages=self.messages, token=token))
        return WAITS


def ask(to: Address, request: Request[R], timeout_ms: int) -> Code[R | Refused | Failure]:
    """Ask and wait: the answer, the refusal, or why neither came."""
    heard: Answered | Unanswered = yield Ask(to, request, timeout_ms)
    if isinstance(heard, Unanswered):
        return heard.failure
    return cast("R | Refused", heard.response)
