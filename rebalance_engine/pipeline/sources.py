"""Which files there are to read: their hosts, kinds and fingerprints. Plain Python on the driver."""

from __future__ import annotations

import gzip
import hashlib
import stat
import zlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from types import MappingProxyType
from typing import BinaryIO

from rebalance_engine.pipeline.ends import Unpacked, cut_of, last_line, unpacked
from rebalance_engine.pipeline.layouts import LAYOUTS, Layout, find_layout

LOOKED_AT = 256 * 1024  # enough for a first line with a target of thousands of queues in it
FINGERPRINTED = 64 * 1024
HEAD = 200  # bytes: long enough for two time stamps
LEFT_BY_A_RUN = "_evenkeel.json"
NOT_LOGS = ("_SUCCESS", LEFT_BY_A_RUN)
GZIP = b"\x1f\x8b"
EMPTY, COPY = "empty", "not read: a copy of "
UNKNOWN = "no log that is known: its lines are counted as ones that did not parse"
BINARY = "not read: no text, and no log that is known"
SMALL_BINARY = 16 << 20  # bytes; of larger ones a single line may be more than memory has room for
WIDE = "not read: text in UTF-16; make UTF-8 of it"
PACKED = {  # what else logs are packed by, and how that begins
    "zip": b"PK\x03\x04",
    "xz": b"\xfd7zXZ\x00",
    "zstd": b"\x28\xb5\x2f\xfd",
    "bzip2": b"BZh",
    "lz4": b"\x04\x22\x4d\x18",
}
GONE = "not read: it was rolled away or deleted meanwhile; under another name it comes with the next run"
CUT = "cut within its last line, which is counted as one that did not parse"


class NoInput(Exception):
    """There is no such folder to read."""


@dataclass(frozen=True, slots=True)
class SourceFile:
    """One file of the input.

    Attributes:
        path: below the input folder, with ``/``.
        host: the first folder of the path; the name of the input folder for a file that lies directly in it.
        layout: None where no line has a known one; each line then counts as unparsed, if it is text.
        size: in bytes, as it lies there.
        fingerprint: of its size, its time of change and its beginning; a changed file has another one.
        head: its first text, as it is: a log that grew begins with it, and one that was rolled does not. No checksum: a
            log may be looked at when it has half a line.
        trouble: what is wrong with the file itself; None where nothing is.
        cut: the end of its last line, where that is not whole, as :mod:`rebalance_engine.pipeline.ends` gives it.
        content: of its size, its beginning and its end: a log that was rolled has another name, and the same content.
        has_padding: there is a NUL in its text; None where nobody has looked, because it is not packed.
    """

    path: str
    host: str
    layout: Layout | None
    size: int
    fingerprint: str
    head: str
    trouble: str | None = None
    cut: str = ""
    content: str = ""
    has_padding: bool | None = None

    @property
    def is_readable(self) -> bool:
        """Whether Spark can make text of it."""
        return self.trouble is None or self.trouble == UNKNOWN or self.trouble.startswith("cut")

    @property
    def is_missed(self) -> bool:
        """Whether it may say something that was not read: it is no copy, not empty, and not without any text."""
        is_nothing = self.trouble in (EMPTY, BINARY) or str(self.trouble).startswith(COPY)
        return not self.is_readable and not is_nothing

    def as_row(self) -> dict[str, object]:
        """Give it as plain values."""
        layout = self.layout.name if self.layout else None
        return {**{name: getattr(self, name) for name in self.__slots__}, "layout": layout}


Known = Mapping[str, Mapping[str, object]]


def find_files(folder: Path, known: Known = MappingProxyType({})) -> list[SourceFile]:
    """Look at every file below a folder; what begins with a dot is left alone, and what an earlier run has written.

    What cannot be looked at is named with its trouble: logs may belong to another user, be rolled away meanwhile, or be
    packed or written as nothing here reads. So is what is no log, a link that leads nowhere, a pipe, and a file
    whose whole text another one of its host has, whatever it is called: a copy, of a log that grew since.

    Args:
        known: what earlier runs found, by path, as ``as_row`` gives it: a packed file that has not changed since is not
            unpacked again.

    Raises:
        NoInput: there is no such folder.
    """
    if not folder.is_dir():
        raise NoInput(f"{folder} is no folder; it needs one that holds logs, a folder for each host")
    files = [_told(path, folder, known) for path in sorted(_files_below(folder, frozenset({folder.resolve()})))]
    copies = _copies(files, folder)
    return [
        replace(file, trouble=f"{COPY}{copies[file.path]}", fingerprint=f"copy of {copies[file.path]}")
        if file.path in copies
        else file
        for file in files
    ]


def gone_since(files: Sequence[SourceFile], folder: Path) -> list[SourceFile]:
    """Choose the files at whose paths there is no more what was looked at; each has that as its trouble."""
    return [
        replace(file, trouble=GONE) for file in files if file.is_readable and not _is_still(file, folder / file.path)
    ]


def _is_still(file: SourceFile, path: Path) -> bool:
    text = _first_text(path, is_packed=path.suffix == ".gz", most=HEAD)
    return path.exists() and text[:HEAD].decode("latin-1").startswith(file.head)


def _copies(files: Sequence[SourceFile], folder: Path) -> dict[str, str]:
    """Find the files of which another one has the whole text: by path, the path of that one."""
    alike: dict[tuple[str, str], list[SourceFile]] = {}
    for file in files:
        if file.is_readable and file.layout and len(file.head) == HEAD:
            alike.setdefault((file.host, file.head), []).append(file)
    found: dict[str, str] = {}
    for those in alike.values():
        by_name = sorted(those, key=lambda file: (len(file.path), file.path))
        for place, file in enumerate(by_name):
            for other in by_name:
                is_kept = other is not file and other.path not in found
                if is_kept and _begins(folder / other.path, folder / file.path):
                    if by_name.index(other) > place and _begins(folder / file.path, folder / other.path):
                        continue  # of two that are equal the first is kept
                    found[file.path] = other.path
                    break
    return found


def _begins(whole: Path, part: Path) -> bool:
    """Ask whether a file's text begins with all of another one's."""
    try:
        with _opened(whole) as long, _opened(part) as short:
            while chunk := short.read(1 << 20):
                if long.read(len(chunk)) != chunk:
                    return False
    except (EOFError, OSError, zlib.error):
        return False
    return True


def _opened(path: Path) -> BinaryIO | gzip.GzipFile:
    return gzip.open(path, "rb") if path.suffix == ".gz" else path.open("rb")


def _files_below(folder: Path, above: frozenset[Path]) -> Iterator[Path]:
    try:
        paths = list(folder.iterdir())
    except OSError:
        yield folder  # whoever looks at it will say why
        return
    for path in paths:
        if path.name.startswith(".") or path.name in NOT_LOGS:
            continue
        if path.is_dir():
            real = path.resolve()
            if real not in above and not (path / LEFT_BY_A_RUN).exists():  # no link back, no output within the input
                yield from _files_below(path, above | {real})
        else:
            yield path


def _told(path: Path, folder: Path, known: Known) -> SourceFile:
    relative = path.relative_to(folder)
    name = relative.as_posix().encode("utf-8", "backslashreplace").decode()
    trouble = "its name is not UTF-8"
    if name == relative.as_posix():
        try:
            if stat.S_ISREG(path.stat().st_mode):
                return _look_at(path, folder, known.get(name, {}))
            trouble = "no plain file"
        except OSError as error:
            trouble = error.strerror or str(error)
    return SourceFile(name, name.split("/")[0], None, 0, trouble, "", f"not read: {trouble}")


def _look_at(path: Path, folder: Path, known: Mapping[str, object]) -> SourceFile:
    relative = path.relative_to(folder)
    host = relative.parts[0] if len(relative.parts) > 1 else folder.resolve().name
    status = path.stat()
    with path.open("rb") as file:
        beginning = file.read(FINGERPRINTED)
        file.seek(max(status.st_size - FINGERPRINTED, 0))
        end = file.read(FINGERPRINTED)
    fingerprint = _hash(f"{status.st_size} {status.st_mtime_ns} ", beginning)
    content = _hash(f"{status.st_size} ", beginning, end)
    if (known.get("fingerprint"), known.get("content")) == (fingerprint, content):
        return _from_row(known)
    is_packed = beginning.startswith(GZIP)
    through = unpacked(path) if is_packed and path.suffix == ".gz" else None
    trouble = _trouble(path, beginning, through)
    text = _first_text(path, is_packed=is_packed)
    head = text[:HEAD].decode("latin-1")
    layout = find_layout(text.replace(b"\0", b"\n").decode("utf-8", "replace").split("\n"))
    cut = ""
    if trouble is None and layout:
        cut = cut_of(through.last if through else _last_line(path), layout)
        trouble = CUT if cut else None
    elif trouble is None:
        trouble = _strangeness(text if text or is_packed else beginning, status.st_size)
    has_padding = through.has_padding if through else None
    return SourceFile(
        relative.as_posix(), host, layout, status.st_size, fingerprint, head, trouble, cut, content, has_padding
    )


def _from_row(row: Mapping[str, object]) -> SourceFile:
    told = {name: row[name] for name in SourceFile.__slots__ if name in row}
    return SourceFile(**{**told, "layout": LAYOUTS.get(str(row["layout"]))})  # type: ignore[arg-type] # as it was written


def _last_line(path: Path) -> bytes:
    with path.open("rb") as file:
        return last_line(file)


def _hash(facts: str, *parts: bytes) -> str:
    return hashlib.blake2b(facts.encode() + b"".join(parts), digest_size=12).hexdigest()


def _trouble(path: Path, beginning: bytes, through: Unpacked | None) -> str | None:
    """Spark unpacks by the name's ending, and of a packed file that is cut it silently keeps what it could read."""
    is_packed, is_called_packed = beginning.startswith(GZIP), path.suffix == ".gz"
    if is_packed and not is_called_packed:
        return "packed by gzip, but its name does not end in .gz"
    if is_called_packed and not is_packed:
        return "its name ends in .gz, but it is not packed by gzip" if beginning else EMPTY
    if through is not None and not through.is_whole:
        return "cut or damaged: read as far as it unpacks"
    return None


def _strangeness(text: bytes, size: int) -> str:
    """Say what a file is that has no line as any known log has."""
    if not text:
        return EMPTY
    packers = [name for name, begins in PACKED.items() if text.startswith(begins)]
    if packers:
        return f"not read: packed by {packers[0]}; unpack it, or pack it by gzip"
    if text.startswith((b"\xff\xfe", b"\xfe\xff")) or _is_wide(text):
        return WIDE
    is_text = b"\0" not in text and b"\n" in text
    return UNKNOWN if is_text or size < SMALL_BINARY else BINARY


def _is_wide(text: bytes) -> bool:
    """Ask whether every second byte is nothing, or nearly so, as in UTF-16 of a text that is mostly ASCII."""
    return any(
        2 * half.count(0) > len(half) and not text[1 - first :: 2].count(0)
        for first in (0, 1)
        if (half := text[first::2])
    )


def _first_text(path: Path, *, is_packed: bool, most: int = LOOKED_AT) -> bytes:
    """Read the first text of a file; where it begins with a hole, as one that was emptied may, behind that."""
    taken = b""
    try:
        with gzip.open(path, "rb") if is_packed else path.open("rb") as file:
            while len(taken) < most and (more := file.read1(most)):
                taken = (taken + more).lstrip(b"\0")
    except (EOFError, OSError, zlib.error):
        pass
    return taken
