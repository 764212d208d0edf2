"""Logs with runs of NUL in them: a text without, each line that is broken off by one marked as cut.

A machine that crashes leaves NULs where its file system had no data yet, and so does a log that is emptied while its
writer goes on at the old place (``logrotate``'s ``copytruncate``). The line behind a run would be glued to the one
before it. Plain Python on the driver: such files are few.
"""

from __future__ import annotations

import gzip
import re
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

from rebalance_engine.pipeline.ends import is_whole
from rebalance_engine.pipeline.layouts import Layout

CHUNK = 1 << 20
MARK = b"cut: "  # behind what every line begins with, so that the rest does not parse
_RUN = re.compile(rb"\0+")


def is_padded(path: Path) -> bool:
    """Ask whether a file's text has a NUL anywhere."""
    return any(b"\0" in chunk for chunk in _chunks(path))


def write_without_padding(path: Path, target: Path, layout: Layout) -> None:
    """Write a file's text without its NULs, unpacked, and as far as it can be read."""
    with target.open("wb") as file:
        line = b""
        for chunk in _chunks(path):
            first, *others = _RUN.split(chunk)
            line = _written(file, line + first)
            for part in others:
                line = _written(file, _ended(line, layout) + part)
        file.write(_ended(line, layout))


def _chunks(path: Path) -> Iterator[bytes]:
    try:
        with gzip.open(path, "rb") if path.suffix == ".gz" else path.open("rb") as file:
            while chunk := file.read(CHUNK):
                yield chunk
    except (EOFError, OSError, zlib.error):
        return


def _written(file: BinaryIO, text: bytes) -> bytes:
    """Write all whole lines, and give what is left."""
    whole, is_ended, line = text.rpartition(b"\n")
    file.write(whole + is_ended)
    return line


def _ended(line: bytes, layout: Layout) -> bytes:
    """End a line that stands before a run of NUL."""
    begins = layout.begins.encode()
    if not line:
        return b""
    if line.startswith(begins) and not is_whole(line, layout):
        line = begins + MARK + line.removeprefix(begins)
    return line + b"\n"
