"""What the children say, each line with who says it, on one terminal.

A terminal that nobody reads must not stop the supervisor: lines go through a bounded queue to a thread, and what finds
no room is counted and left out.
"""

from __future__ import annotations

import contextlib
import os
import queue
import threading
from dataclasses import dataclass, field

from rebalance_engine.harmless import harmless

MOST_WAITING = 2_000
MOST_LINE_BYTES = 4_000
LONGEST_PREFIX = 40
WIDTH = 12  # a longer name, of a cluster, pushes its own lines


@dataclass(slots=True)
class Lines:
    r"""Cuts a stream of bytes into lines, each at most so long; the rest of a longer one is left out.

    >>> lines = Lines()
    >>> lines.take(b"one\ntw"), lines.take(b"o\n"), lines.rest()
    (['one'], ['two'], [])
    """

    _kept: bytearray = field(default_factory=bytearray)

    def take(self, data: bytes) -> list[str]:
        """Give the lines that are whole now."""
        *whole, rest = (bytes(self._kept) + data).split(b"\n")
        self._kept = bytearray(rest[: MOST_LINE_BYTES + 1])
        return [_text(line) for line in whole]

    def rest(self) -> list[str]:
        """Give what stands behind the last line's end, when there will be no more."""
        kept, self._kept = bytes(self._kept), bytearray()
        return [_text(kept)] if kept else []


def _text(line: bytes) -> str:
    text = line[:MOST_LINE_BYTES].decode("utf-8", "replace").rstrip("\r")
    return text + " …" if len(line) > MOST_LINE_BYTES else text


def _prefix(who: str) -> str:
    """Write who says it: a cluster's name may have come from anywhere, and must not pose as another line."""
    name = harmless(who)
    return name if len(name) <= LONGEST_PREFIX else f"{name[: LONGEST_PREFIX - 1]}…"


class Terminal:
    """Writes lines to a file descriptor, from a thread of its own."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor
        self._lines: queue.Queue[str | None] = queue.Queue(MOST_WAITING)
        self._left_out = 0
        self._thread = threading.Thread(target=self._write, name="terminal", daemon=True)
        self._thread.start()

    def tell(self, who: str, text: str) -> None:
        """Write a line, if there is room."""
        if self._left_out and self._put(f"{'evenkeel':<{WIDTH}} | {self._left_out} lines were left out: nobody read"):
            self._left_out = 0
        if not self._put(f"{_prefix(who):<{WIDTH}} | {text}"):
            self._left_out += 1

    def _put(self, line: str) -> bool:
        try:
            self._lines.put_nowait(line)
        except queue.Full:
            return False
        return True

    def close(self, within_s: float = 1.0) -> None:
        """Write what waits, as far as somebody reads it within the time."""
        with contextlib.suppress(queue.Full):
            self._lines.put(None, timeout=within_s)
        self._thread.join(within_s)

    def _write(self) -> None:
        while (line := self._lines.get()) is not None:
            data = memoryview(f"{line}\n".encode())
            while data:
                try:
                    data = data[os.write(self._descriptor, data) :]
                except OSError:
                    return  # the terminal is gone; the children run on
