"""JSON lines on standard output: one object each, flushed, the way programs read what a command sees.

A thread of its own writes them, so that a reader who stands still stops nothing but the lines: heartbeats go on, and a
signal is obeyed. Few lines wait for him; whoever has more waits for room.
"""

from __future__ import annotations

import asyncio
import json
import os
import select
import sys
import threading
import time
from collections import deque
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress

from rebalance_engine.model import MessageQueue

Value = str | int | float | bool | None | list[str]
Write = Callable[[bytes], None]

ROOM = 2**16  # bytes that may wait before those who say much wait themselves
MOST = 2**24  # bytes that may wait before those do who say little
AT_ONCE = 2**16  # bytes of one write
READER_S = 4.0  # for what waits at the end


class ReaderStalls(Exception):
    """Standard output is not read, and lines that were to be said are not."""


class Lines:
    """Writes lines in their order, from a thread, until ``close``. Used from one event loop.

    Args:
        write: writes all of some bytes, however long that takes; by default to standard output.

    Attributes:
        error: why nothing can be written any more.
    """

    def __init__(self, write: Write | None = None) -> None:
        self._write = write if write is not None else to_stdout
        self._waiting: deque[bytes] = deque()
        self._bytes = 0
        self.error: OSError | None = None
        self._is_ending = False
        self._change = threading.Condition()
        self._loop = asyncio.get_running_loop()
        self._moved = asyncio.Event()
        self._hurry: asyncio.TimerHandle | None = None
        self._is_late = False
        self._when_lost: Callable[[], object] | None = None
        self._thread = threading.Thread(target=self._run, name="lines", daemon=True)  # it may never return
        self._thread.start()

    # ---- what is said ----

    def say(self, saw: str, at: int | None = None, /, **what: Value) -> None:
        """Say what was seen, and when: ms since 1970, by default now."""
        self.put({"ms": time.time_ns() // 1_000_000 if at is None else at, "saw": saw, **what})

    def put(self, line: Mapping[str, Value]) -> None:
        """Say one object; wait for ``room`` before.

        Raises:
            OSError: it cannot be written; a BrokenPipeError if the reader has gone.
        """
        text = as_bytes(line)
        with self._change:
            self._check()
            self._waiting.append(text)
            self._bytes += len(text)
            self._change.notify()

    async def room(self, most: int = ROOM) -> None:
        """Wait until no more than so many bytes wait for the reader.

        Raises:
            OSError: nothing can be written; a BrokenPipeError if the reader has gone.
            ReaderStalls: he did not read within the time that ``hurry`` left.
        """
        while self._waits_for_more_than(most):
            if self._is_late:
                raise ReaderStalls("standard output is not read")
            await self._moved.wait()

    def _waits_for_more_than(self, most: int) -> bool:
        with self._change:
            self._check()
            self._moved.clear()
            return self._bytes > most

    def hurry(self, within_s: float = READER_S) -> None:
        """Let nobody wait for room any longer than that, from now on."""
        if self._hurry is None:
            self._hurry = self._loop.call_later(within_s, self._be_late)

    def _be_late(self) -> None:
        self._is_late = True
        self._moved.set()

    def _check(self) -> None:
        if self.error is not None:
            raise self.error

    # ---- the end ----

    def when_lost(self, call: Callable[[], object]) -> None:
        """Call this once nothing can be written any more: who says nothing more for long would not notice."""
        self._when_lost = call
        self._move()

    def _move(self) -> None:
        self._moved.set()
        if self.error is not None and self._when_lost is not None:
            self._when_lost()

    async def close(self, within_s: float = READER_S) -> None:
        """Wait until everything is written.

        Raises:
            BrokenPipeError: the reader has gone.
            ReaderStalls: he did not take it in time.
        """
        if self._hurry is not None:
            self._hurry.cancel()
        with self._change:
            self._is_ending = True
            self._change.notify()
        self._is_late = False
        try:
            async with asyncio.timeout(within_s):
                await self.room(0)
        except TimeoutError:
            raise ReaderStalls("standard output is not read; the last lines could not be written") from None
        await asyncio.to_thread(self._thread.join)

    # ---- the thread ----

    def _run(self) -> None:
        while (taken := self._take()) is not None:
            try:
                self._write(b"".join(taken))
            except OSError as error:
                self._note(0, error)
                return
            self._note(sum(map(len, taken)))

    def _take(self) -> list[bytes] | None:
        with self._change:
            while not self._waiting:
                if self._is_ending:
                    return None
                self._change.wait()
            taken = [self._waiting.popleft()]
            size = len(taken[0])
            while self._waiting and size + len(self._waiting[0]) <= AT_ONCE:
                size += len(self._waiting[0])
                taken.append(self._waiting.popleft())
            return taken

    def _note(self, written: int, error: OSError | None = None) -> None:
        with self._change:
            self._bytes -= written
            self.error = error
        with suppress(RuntimeError):  # the loop is closed: nobody waits any more
            self._loop.call_soon_threadsafe(self._move)


async def saying(main: Callable[[Lines], Awaitable[int]]) -> int:
    """Run what says lines; if they cannot be written, a word on standard error says so, and the status is 1."""
    lines = Lines()
    try:
        status = await main(lines)
        await lines.close()
    except ReaderStalls as error:
        sys.stderr.write(f"evenkeel: {error}\n")
        return 1
    except OSError as error:
        if error is not lines.error:
            raise
        sys.stderr.write(f"evenkeel: standard output cannot be written: {error}\n")
        return 1
    return status


def to_stdout(data: bytes) -> None:
    """Write past Python's own buffer: a thread that never comes back would keep its lock, and the process from ending.

    Raises:
        OSError: the reader has gone, or the disk is full.
    """
    number = sys.stdout.fileno()
    rest = memoryview(data)
    while rest:
        try:
            rest = rest[os.write(number, rest) :]
        except BlockingIOError:  # somebody else made it so
            select.select([], [number], [])


def put(line: Mapping[str, Value]) -> None:
    """Print one object at once, where nothing else waits for it."""
    sys.stdout.write(as_bytes(line).decode())
    sys.stdout.flush()


def as_bytes(line: Mapping[str, Value]) -> bytes:
    """Write one object as one line."""
    return json.dumps(line, ensure_ascii=True, separators=(",", ":")).encode() + b"\n"


def queue_name(queue: MessageQueue) -> str:
    """Name a queue as ``topic/broker/id``."""
    return f"{queue.topic}/{queue.broker}/{queue.queue_id}"
