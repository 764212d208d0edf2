"""Several processes that work through numbers. None outlives the process that asked, and that one waits for none.

It kills them where it ends itself. Where it is killed, each finds that its end of a pipe is closed.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import contextmanager, suppress
from multiprocessing.connection import wait
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from rebalance_engine.cli.signals import NUMBERS, Interrupted

if TYPE_CHECKING:
    from multiprocessing.connection import Connection

LOOK_EVERY_S = 0.1
R = TypeVar("R")


class WorkerLost(Exception):
    """A process ended while it had something to do; the message says how.

    Attributes:
        number: what it had.
        untold: the first number of which nothing was given.
    """

    def __init__(self, how: str, number: int, untold: int) -> None:
        super().__init__(how)
        self.number = number
        self.untold = untold


def in_order(
    work: Callable[[int], R], numbers: Sequence[int], processes: int, check: Callable[[], None]
) -> Generator[R]:
    """Do something with each number, in so many processes, and give what comes of it in the order of the numbers.

    Whoever may leave early closes it (``contextlib.closing``): its processes end then.

    Args:
        check: is called ten times a second; what it raises ends all.

    Raises:
        Interrupted: SIGTERM or SIGINT ended a process; it was meant for all, and its own may not have come yet.
        WorkerLost: something else did.
    """
    left, done = iter(numbers), dict[int, R]()
    with _started(work, processes) as workers:
        for worker in workers:
            worker.take(next(left, None))
        for number in numbers:
            check()
            while number not in done:
                for worker in _that_tell(workers):
                    done.update([worker.result(untold=number)])
                    worker.take(next(left, None))
                check()
            yield done.pop(number)


class _Worker(Generic[R]):
    """A process, and the number that it has; None if there is no more."""

    def __init__(self, work: Callable[[int], R]) -> None:
        self.number: int | None = None
        self.connection, far = multiprocessing.Pipe()
        self._process = multiprocessing.Process(target=_work, args=(work, far), daemon=True)
        self._process.start()
        far.close()

    def take(self, number: int | None) -> None:
        self.number = number
        if number is not None:
            with suppress(OSError):  # it has ended, as is seen when it is asked for what it did
                self.connection.send(number)

    def result(self, untold: int) -> tuple[int, R]:
        assert self.number is not None
        try:
            return self.number, self.connection.recv()
        except (EOFError, OSError):
            self._process.join()
            code = self._process.exitcode or 0
            ended_by = -code if code < 0 else code - 128
            if ended_by in NUMBERS:
                raise Interrupted(ended_by) from None
            how = f"was killed by {_named(ended_by)}" if code < 0 else f"ended with {code}"
            raise WorkerLost(how, self.number, untold) from None

    def end(self) -> None:
        self._process.kill()
        self._process.join()
        self.connection.close()


def _named(number: int) -> str:
    """Name a signal; those of real time have no name."""
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"


@contextmanager
def _started(work: Callable[[int], R], processes: int) -> Iterator[list[_Worker[R]]]:
    workers: list[_Worker[R]] = []
    try:
        while len(workers) < processes:
            workers.append(_Worker(work))
        yield workers
    finally:
        for worker in workers:
            worker.end()


def _that_tell(workers: Sequence[_Worker[R]]) -> list[_Worker[R]]:
    busy = {worker.connection: worker for worker in workers if worker.number is not None}
    return [busy[connection] for connection in wait(busy, LOOK_EVERY_S)]  # type: ignore[index]  # nothing else is waited for


# ---- in a worker ----


def _work(work: Callable[[int], object], connection: Connection[Any, Any]) -> None:
    for number in NUMBERS:
        signal.signal(number, signal.SIG_DFL)
    threading.Thread(target=_end_with_parent, daemon=True).start()
    while True:
        try:
            number = connection.recv()
        except (EOFError, OSError):
            return
        result = work(number)
        with suppress(OSError):
            connection.send(result)


def _end_with_parent() -> None:
    parent = multiprocessing.parent_process()
    assert parent is not None
    parent.join()
    os._exit(1)
