"""A log of bytes on disk that never grows past a bound: files of about one size, the oldest of which are dropped.

A position in the log is a number that only grows, over restarts too; what is appended together stays in one file. What
was appended is in the hands of the operating system when ``append`` returns: it survives the end of the process, not
the end of the machine. (RocketMQ's default, ``flushDiskType=ASYNC_FLUSH``, promises no more.)

Compare ``store/.../MappedFileQueue.java``.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

NAME_DIGITS = 20  # as RocketMQ names its files


@dataclass(slots=True)
class _Segment:
    path: Path
    begin: int
    size: int
    file: int  # its descriptor

    @property
    def end(self) -> int:
        return self.begin + self.size


class SegmentedLog:
    """The log in one directory.

    Args:
        directory: is made if it is missing; nothing else may write there.
        segment_bytes: a file is full when the next piece would take it over this size.
        max_bytes: files are dropped from the oldest on while all are larger together; the newest always stays.
    """

    def __init__(self, directory: Path, *, segment_bytes: int, max_bytes: int) -> None:
        if not 0 < segment_bytes <= max_bytes:
            raise ValueError(f"segments of {segment_bytes} in {max_bytes} bytes; needed is 0 < segment <= all")
        directory.mkdir(parents=True, exist_ok=True)
        self._directory = directory
        self._segment_bytes = segment_bytes
        self._max_bytes = max_bytes
        self._segments = _without_gaps([_open(path) for path in sorted(directory.iterdir()) if _is_segment(path)])

    @property
    def begin(self) -> int:
        """Where the oldest byte is that is still there."""
        return self._segments[0].begin if self._segments else 0

    @property
    def end(self) -> int:
        """Where the next piece will begin."""
        return self._segments[-1].end if self._segments else 0

    def append(self, piece: bytes) -> int:
        """Write a piece at the end; give its position."""
        segment = self._segment_for(len(piece))
        at = segment.end
        written = os.pwrite(segment.file, piece, segment.size)
        if written != len(piece):
            raise OSError(f"{segment.path.name} took {written} of {len(piece)} bytes; is the disk full?")
        segment.size += written
        return at

    def has_room_for(self, size: int) -> bool:
        """Say whether a piece goes into the newest file; if not, ``append`` begins another."""
        return bool(self._segments) and self._segments[-1].size + size <= self._segment_bytes

    def _segment_for(self, size: int) -> _Segment:
        if not self.has_room_for(size) and (not self._segments or self._segments[-1].size):
            self._segments.append(_open(self._directory / f"{self.end:0{NAME_DIGITS}}"))
        return self._segments[-1]

    def read(self, at: int, size: int) -> bytes:
        """Give so many bytes; fewer where the log or its file ends before, none where it does not reach."""
        segment = self._find(at)
        return b"" if segment is None else os.pread(segment.file, min(size, segment.end - at), at - segment.begin)

    def _find(self, at: int) -> _Segment | None:
        for segment in reversed(self._segments):  # mostly the newest is asked for
            if segment.begin <= at:
                return segment if at < segment.end else None
        return None

    def segments(self) -> Iterator[tuple[int, bytes]]:
        """Give position and content of each file, from the oldest on."""
        for segment in tuple(self._segments):
            yield segment.begin, os.pread(segment.file, segment.size, 0)

    def drop_oldest(self) -> bool:
        """Drop the files that are too much; say whether there were any."""
        before = len(self._segments)
        while len(self._segments) > 1 and self.end - self.begin > self._max_bytes:
            segment = self._segments.pop(0)
            os.close(segment.file)
            segment.path.unlink()
        return len(self._segments) < before

    def cut(self, at: int) -> None:
        """Forget everything from a position in the newest file on, which was being written when the process ended."""
        segment = self._segments[-1]
        os.ftruncate(segment.file, at - segment.begin)
        segment.size = at - segment.begin

    def close(self) -> None:
        """Let go of all files. To close twice is no mistake."""
        for segment in self._segments:
            os.close(segment.file)
        self._segments = []


def _is_segment(path: Path) -> bool:
    return len(path.name) == NAME_DIGITS and path.name.isdigit()


def _open(path: Path) -> _Segment:
    file = os.open(path, os.O_RDWR | os.O_CREAT, 0o644)
    return _Segment(path, int(path.name), os.fstat(file).st_size, file)


def _without_gaps(segments: list[_Segment]) -> list[_Segment]:
    """Refuse a directory whose files overlap: positions would mean two things."""
    for before, after in pairwise(segments):
        if before.end > after.begin:
            raise ValueError(f"{before.path} reaches to {before.end}; it needs to end at {after.begin} or before")
    return segments
