"""Whether a file's last line is whole: one that is cut within a client's id would name a client that never was.

A log is cut where it was copied while a line was written, and where its disk was full. A last line without its end of
line counts as cut, but where its own text tells that nothing is missing of what is read of it.
"""

from __future__ import annotations

import gzip
import os
import re
import zlib
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from rebalance_engine.pipeline.layouts import CPP, HISTORY, Layout
from rebalance_engine.pipeline.templates import QUEUE

CHUNK, UNPACKED_AT_ONCE = 64 * 1024, 1 << 20
MOST = 4096  # bytes of a line that is cut; a longer one is known by its last ones
_CHANGE = rb"(?:add a new|(?:try |truncateMessageQueueNotMyTopic )?remove unnecessary) mq, "
WHOLE = re.compile(
    rb"(?:"
    rb" - (?:\[BUG\])?(?:doRebalance|Fix Offset), \S+, " + _CHANGE + QUEUE.encode() + rb"|"
    rb" (?:start|shutdown) OK\.?|"
    rb"rebalanceResultSet=\[(?:.*\])?\]|"
    rb"lastUpdateTimestamp=\d+\]"
    rb")$"
)
WHOLE_CPP = re.compile(rb"\[\w+:\d+\]$")


@dataclass(frozen=True, slots=True)
class Unpacked:
    """What one pass over a packed text tells: nothing of it is kept, and to unpack it is what takes the time.

    Attributes:
        is_whole: it unpacks to its end.
        has_padding: there is a NUL in it, as far as it unpacks.
        last: its last line, as ``last_line`` gives it.
    """

    is_whole: bool
    has_padding: bool
    last: bytes


def unpacked(path: Path) -> Unpacked:
    """Go through a packed file once; one that cannot be read is not whole."""
    has_padding, line = False, b""
    try:
        with gzip.open(path, "rb") as file:
            while chunk := file.read(UNPACKED_AT_ONCE):
                has_padding = has_padding or b"\0" in chunk
                _, is_ended, rest = chunk.rpartition(b"\n")
                line = (rest if is_ended else line + rest).rstrip(b"\0")
    except (EOFError, OSError, zlib.error):
        return Unpacked(is_whole=False, has_padding=has_padding, last=line)
    return Unpacked(is_whole=True, has_padding=has_padding, last=line)


def cut_of(last: bytes, layout: Layout) -> str:
    """Give a text's last line where it is cut, behind what every line begins with, at most ``MOST`` bytes of its end.

    Each character stands for a byte (Latin-1), because a line may be cut within a character. Empty where the last line
    is whole, or goes on with the line before it.
    """
    line = last.rpartition(b"\0")[2]
    begins = layout.begins.encode()
    if not line.startswith(begins) or is_whole(line, layout):
        return ""
    return line[len(begins) :][-MOST:].decode("latin-1")


def is_whole(line: bytes, layout: Layout) -> bool:
    """Ask whether a line that has no end of line, or half of one, lacks nothing else that is read of it."""
    if layout is HISTORY or line.endswith(b"\r"):  # half an object is no JSON
        return True
    return (WHOLE_CPP if layout is CPP else WHOLE).search(line) is not None


def last_line(file: BinaryIO) -> bytes:
    """Give what stands behind a text's last end of line, which may be nothing; NULs at its end are none of it."""
    parts: list[bytes] = []
    at = file.seek(0, os.SEEK_END)
    while at > 0:
        size = min(CHUNK, at)
        at = file.seek(at - size)
        text = file.read(size)
        _, is_ended, rest = (text if parts else text.rstrip(b"\0")).rpartition(b"\n")
        if rest:
            parts.append(rest)
        if is_ended:
            break
    return b"".join(reversed(parts))
