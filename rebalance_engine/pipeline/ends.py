"""Whether a file's last line is whole: one that is cut within a client's id would name a client that never was.

A log is cut where it was copied while a line was written, and where its disk was full. A last line without its end of
line counts as cut, but where its own text tells that nothing is missing of what is read of it.
"""

from __future__ import annotations

import gzip
import os
import re
from typing import BinaryIO

from rebalance_engine.pipeline.layouts import CPP, HISTORY, Layout
from rebalance_engine.pipeline.templates import QUEUE

CHUNK = 64 * 1024
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


def cut_of(file: BinaryIO | gzip.GzipFile, layout: Layout) -> str:
    """Give the last line where it is cut, behind what every line begins with and at most ``MOST`` bytes of its end.

    Each character stands for a byte (Latin-1), because a line may be cut within a character. Empty where the last line
    is whole, or goes on with the line before it.
    """
    line = _last_line(file).rpartition(b"\0")[2]
    begins = layout.begins.encode()
    if not line.startswith(begins) or is_whole(line, layout):
        return ""
    return line[len(begins) :][-MOST:].decode("latin-1")


def is_whole(line: bytes, layout: Layout) -> bool:
    """Ask whether a line that has no end of line, or half of one, lacks nothing else that is read of it."""
    if layout is HISTORY or line.endswith(b"\r"):  # half an object is no JSON
        return True
    return (WHOLE_CPP if layout is CPP else WHOLE).search(line) is not None


def _last_line(file: BinaryIO | gzip.GzipFile) -> bytes:
    """Give what stands behind a text's last end of line, which may be nothing; NULs at its end are none of it."""
    if isinstance(file, gzip.GzipFile):
        line = b""
        while chunk := file.read(CHUNK):
            _, is_ended, rest = chunk.rpartition(b"\n")
            line = (rest if is_ended else line + rest).rstrip(b"\0")
        return line
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
