"""Prepares in a process of its own, forked off: what that takes in memory and time is not the supervisor's."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
from collections.abc import Callable
from dataclasses import dataclass
from multiprocessing import get_context
from multiprocessing.connection import Connection
from typing import Generic, TypeVar, cast

from django.core.exceptions import ImproperlyConfigured

Say = Callable[[str], None]
Show = Callable[[str, str, int, int | None], None]
T = TypeVar("T")


class Unprepared(Exception):
    """What must be there could not be made; the message says why."""


@dataclass(frozen=True, slots=True)
class _Word:
    text: str


@dataclass(frozen=True, slots=True)
class _Step:
    name: str
    state: str
    at: int
    of: int | None


@dataclass(frozen=True, slots=True)
class _Result:
    value: object


@dataclass(frozen=True, slots=True)
class _Failure:
    text: str


class Teller:
    """How work in another process tells of itself; its lines are short, so that those of two stay whole."""

    def __init__(self, ear: Connection) -> None:
        self._ear = ear

    def say(self, text: str) -> None:
        """Tell the person at the terminal."""
        self._ear.send(_Word(text))

    def show(self, step: str, state: str, at: int = 0, of: int | None = None) -> None:
        """Tell whoever waits for a page."""
        self._ear.send(_Step(step, state, at, of))


class Preparer(Generic[T]):
    """One piece of work in a forked process. Made before the first thread is started: threads do not survive a fork.

    Args:
        work: gives the result; what it tells on the way comes to ``wait``. It must open what it needs by itself.
    """

    def __init__(self, work: Callable[[Teller], T]) -> None:
        context = get_context("fork")
        self._mouth, ear = context.Pipe(duplex=False)
        self._process = context.Process(target=_run, args=(work, ear), name="prepare")
        self._process.start()
        ear.close()

    @property
    def group(self) -> int:
        """Its process group."""
        assert self._process.pid is not None, "it was started"
        return self._process.pid

    async def wait(self, say: Say, show: Show) -> T:
        """Wait for the result.

        Raises:
            Unprepared: there is none.
        """
        try:
            while True:
                heard = await asyncio.to_thread(self._mouth.recv)
                if isinstance(heard, _Word):
                    say(heard.text)
                elif isinstance(heard, _Step):
                    show(heard.name, heard.state, heard.at, heard.of)
                elif isinstance(heard, _Result):
                    return cast("T", heard.value)  # it came as it was, through a pipe
                else:
                    raise Unprepared(heard.text)
        except EOFError:
            raise Unprepared("it was broken off") from None
        finally:
            await asyncio.to_thread(self._process.join)

    def stop(self) -> None:
        """Break it off; tables are changed in transactions, and what is half done is done again."""
        self._process.kill()
        with contextlib.suppress(ProcessLookupError):  # it has not begun a group yet, or nobody of it is left
            os.killpg(self.group, signal.SIGKILL)


def _run(work: Callable[[Teller], object], ear: Connection) -> None:
    os.setsid()  # whoever interrupts the terminal speaks to the supervisor
    try:
        ear.send(_Result(work(Teller(ear))))
    except (Unprepared, ImproperlyConfigured) as error:
        ear.send(_Failure(str(error)))  # it says itself what was seen, and what is needed
    except Exception as error:  # noqa: BLE001 # whatever it is, the start ends with it
        ear.send(_Failure(f"{type(error).__name__}: {error}"))
