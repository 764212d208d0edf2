"""Prepares in a process of its own, forked off: what that takes in memory and time is not the supervisor's."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable
from dataclasses import dataclass
from multiprocessing import get_context
from multiprocessing.connection import Connection

Say = Callable[[str], None]
Work = Callable[[Say], str | None]


class Unprepared(Exception):
    """What must be there could not be made; the message says why."""


@dataclass(frozen=True, slots=True)
class _Word:
    text: str


@dataclass(frozen=True, slots=True)
class _Result:
    value: str | None


@dataclass(frozen=True, slots=True)
class _Failure:
    text: str


class Preparer:
    """One piece of work in a forked process. Made before the first thread is started: threads do not survive a fork.

    Args:
        work: gives a text or None; what it says on the way comes to ``wait``. It must open what it needs by itself.
    """

    def __init__(self, work: Work) -> None:
        context = get_context("fork")
        self._mouth, ear = context.Pipe(duplex=False)
        self._process = context.Process(target=_run, args=(work, ear), name="prepare", daemon=True)
        self._process.start()
        ear.close()

    @property
    def group(self) -> int:
        """Its process group."""
        assert self._process.pid is not None, "it was started"
        return self._process.pid

    async def wait(self, say: Say) -> str | None:
        """Wait for the result.

        Raises:
            Unprepared: there is none.
        """
        try:
            while True:
                heard = await asyncio.to_thread(self._mouth.recv)
                if isinstance(heard, _Word):
                    say(heard.text)
                elif isinstance(heard, _Result):
                    return heard.value
                else:
                    raise Unprepared(heard.text)
        except EOFError:
            raise Unprepared("it was broken off") from None
        finally:
            await asyncio.to_thread(self._process.join)

    def stop(self) -> None:
        """Break it off; tables are changed in transactions, and what is half done is done again."""
        self._process.kill()


def _run(work: Work, ear: Connection) -> None:
    os.setsid()  # whoever interrupts the terminal speaks to the supervisor
    try:
        ear.send(_Result(work(lambda text: ear.send(_Word(text)))))
    except Exception as error:  # noqa: BLE001 # whatever it is, the start ends with it
        ear.send(_Failure(f"{type(error).__name__}: {error}"))
