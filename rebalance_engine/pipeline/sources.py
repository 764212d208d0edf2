"""Which files there are to read: their hosts, kinds and fingerprints. Plain Python on the driver."""

from __future__ import annotations

import gzip
import hashlib
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from rebalance_engine.pipeline.layouts import LAYOUTS, Layout, find_layout

LOOKED_AT = 256 * 1024  # enough for a first line with a target of thousands of queues in it
FINGERPRINTED = 64 * 1024
HEAD = 200  # bytes: shorter than any log that holds a line or two, long enough for two time stamps
NOT_LOGS = ("_SUCCESS", "_evenkeel.json")  # left by Spark, and by a run whose output lies in its input
GZIP = b"\x1f\x8b"


class NoInput(Exception):
    """There is no such folder to read."""


@dataclass(frozen=True, slots=True)
class SourceFile:
    """One file of the input.

    Attributes:
        path: below the input folder, with ``/``.
        host: the first folder of the path; the name of the input folder for a file that lies directly in it.
        layout: None where no line has a known one; each line then counts as unparsed.
        size: in bytes, as it lies there.
        fingerprint: of its size, its time of change and its beginning; a changed file has another one.
        head: of its first text: a log that grew keeps it, and one that was rolled has another one.
        trouble: what is wrong with the file itself; None where nothing is.
    """

    path: str
    host: str
    layout: Layout | None
    size: int
    fingerprint: str
    head: str
    trouble: str | None = None

    @property
    def is_readable(self) -> bool:
        """Whether Spark can make text of it."""
        return self.trouble is None or self.trouble.startswith("cut")

    def as_row(self) -> dict[str, object]:
        """Give it as plain values."""
        layout = self.layout.name if self.layout else None
        return {**{name: getattr(self, name) for name in self.__slots__}, "layout": layout}

    @classmethod
    def of_row(cls, row: dict[str, object]) -> SourceFile:
        """Take what ``as_row`` gave."""
        name = row["layout"]
        layout = LAYOUTS[name] if isinstance(name, str) else None
        path, host, size, trouble = row["path"], row["host"], row["size"], row["trouble"]
        assert isinstance(path, str) and isinstance(host, str) and isinstance(size, int)
        told = None if trouble is None else str(trouble)
        return cls(path, host, layout, size, str(row["fingerprint"]), str(row["head"]), told)


def find_files(folder: Path) -> list[SourceFile]:
    """Look at every file below a folder; those whose names begin with a dot are left alone.

    Raises:
        NoInput: there is no such folder.
    """
    if not folder.is_dir():
        raise NoInput(f"{folder} is no folder; it needs one that holds logs, a folder for each host")
    return [_look_at(path, folder) for path in sorted(_files_below(folder))]


def _files_below(folder: Path) -> Iterator[Path]:
    for path in folder.iterdir():
        if path.name.startswith(".") or path.name in NOT_LOGS:
            continue
        if path.is_dir():
            yield from _files_below(path)
        elif path.is_file():
            yield path


def _look_at(path: Path, folder: Path) -> SourceFile:
    relative = path.relative_to(folder)
    host = relative.parts[0] if len(relative.parts) > 1 else folder.resolve().name
    status = path.stat()
    with path.open("rb") as file:
        beginning = file.read(FINGERPRINTED)
    facts = f"{status.st_size} {status.st_mtime_ns} ".encode()
    fingerprint = hashlib.blake2b(facts + beginning, digest_size=12).hexdigest()
    trouble = _trouble(path, beginning)
    text = _first_text(path, is_packed=beginning.startswith(GZIP))
    head = hashlib.blake2b(text[:HEAD], digest_size=12).hexdigest()
    layout = find_layout(text.decode("utf-8", "replace").split("\n"))
    return SourceFile(relative.as_posix(), host, layout, status.st_size, fingerprint, head, trouble)


def _trouble(path: Path, beginning: bytes) -> str | None:
    """Spark unpacks by the name's ending, and of a packed file that is cut it silently keeps what it could read."""
    is_packed, is_called_packed = beginning.startswith(GZIP), path.suffix == ".gz"
    if is_packed and not is_called_packed:
        return "packed by gzip, but its name does not end in .gz"
    if is_called_packed and not is_packed:
        return "its name ends in .gz, but it is not packed by gzip" if beginning else "empty"
    if is_packed and not _is_whole(path):
        return "cut or damaged: read as far as it unpacks"
    return None


def _is_whole(path: Path) -> bool:
    try:
        with gzip.open(path, "rb") as file:
            while file.read(1 << 20):
                pass
    except (EOFError, OSError, zlib.error):
        return False
    return True


def _first_text(path: Path, *, is_packed: bool) -> bytes:
    taken = b""
    try:
        with gzip.open(path, "rb") if is_packed else path.open("rb") as file:
            while len(taken) < LOOKED_AT and (more := file.read1(LOOKED_AT)):
                taken += more
    except (EOFError, OSError, zlib.error):
        pass
    return taken
