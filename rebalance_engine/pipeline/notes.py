"""The notes of an output folder: what has been read and written, and which clusters' runs have finished. No Spark."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path

from rebalance_engine.pipeline.sources import LEFT_BY_A_RUN, SourceFile

VERSION = 2
REPLAYED = ("rounds", "handoffs", "spans", "events")  # the tables that a back-test is made from


class OtherVersion(Exception):
    """The folder was written by another version, or its notes are damaged."""


@dataclass
class ClusterNotes:
    """What has been read for one cluster; the same logs may be read for another one as well.

    Attributes:
        files: by path, what was read of it and in which batch.
        zones: what was used as zone of the hosts whose logs do not tell it.
        texts: what was read, whatever it is called now: ``HOST CONTENT``, and the path that it had.
        read_by: the checksum of the code that told the events of all that was read; another one tells them anew.
        pending: days of lines that were read, and whose events are not written yet: a run may be stopped in between.
        troubles: what was wrong with files of the input when a run ended last, by path; refused: a sentence for each
            host whose lines cannot be placed in time.
        is_finished: the last run that began has come to its end; else the tables are of different runs, or not all
            there.
        finished: how many runs have come to their end.
        tested_ms: when the last back-test began; tested: the checksum of what it was made from.
    """

    files: dict[str, dict[str, object]] = field(default_factory=dict)
    zones: dict[str, str] = field(default_factory=dict)
    texts: dict[str, str] = field(default_factory=dict)
    read_by: str = ""
    pending: list[str] = field(default_factory=list)
    troubles: dict[str, str] = field(default_factory=dict)
    refused: list[str] = field(default_factory=list)
    is_finished: bool = False
    finished: int = 0
    tested_ms: int | None = None
    tested: str = ""

    def is_fresh(self, file: SourceFile) -> bool:
        """Ask whether a file was not read yet, or differently; one that was only renamed, as a log is rolled, was."""
        is_same = self.files.get(file.path, {}).get("fingerprint") == file.fingerprint
        return not is_same and not (file.is_readable and text_of(file.host, file.content) in self.texts)


@dataclass
class Notes:
    """What has been read and written.

    Attributes:
        partitions: by table, the checksum of every partition, ``cluster/day``.
        next_batch: of lines; those of this number and above were cut.
        dead: (path, batch) of lines that count no more: a newer batch has read the file again, or it went away.
        living: by batch, the paths whose lines count; a batch that has none is removed at the end of a run.
    """

    clusters: dict[str, ClusterNotes] = field(default_factory=dict)
    partitions: dict[str, dict[str, str]] = field(default_factory=dict)
    next_batch: int = 1
    dead: list[list[object]] = field(default_factory=list)
    living: dict[str, list[str]] = field(default_factory=dict)

    def of(self, cluster: str) -> ClusterNotes:
        """Give a cluster's notes; new ones where it has none."""
        return self.clusters.setdefault(cluster, ClusterNotes())

    def record_of(self, cluster: str) -> str:
        """Give a checksum of what a back-test of a cluster is made from, as it is now."""
        parts = [
            (table, key, checksum)
            for table in REPLAYED
            for key, checksum in sorted(self.partitions.get(table, {}).items())
            if key.startswith(f"{cluster}/")
        ]
        return hashlib.sha256(json.dumps(parts).encode()).hexdigest()

    def bury(self, path: str, batch: object) -> None:
        """Let what a batch has read of a file count no more."""
        self.dead.append([path, batch])
        if str(batch) in self.living:
            self.living[str(batch)] = [other for other in self.living[str(batch)] if other != path]

    def save(self, folder: Path) -> None:
        """Write the notes, whole or not at all."""
        folder.mkdir(parents=True, exist_ok=True)
        beside = folder / f".{LEFT_BY_A_RUN}"
        beside.write_text(json.dumps({"version": VERSION, **asdict(self)}, indent=1))
        beside.replace(folder / LEFT_BY_A_RUN)


def text_of(host: str, content: object) -> str:
    """Name a text by which it is known again under another name."""
    return f"{host} {content}"


def read_notes(folder: Path) -> Notes:
    """Read a folder's notes; new ones where it has none.

    Raises:
        OtherVersion: another version of this program wrote them, or they are damaged.
    """
    path = folder / LEFT_BY_A_RUN
    if not path.exists():
        return Notes()
    try:
        return _read(dict(json.loads(path.read_text())), path)
    except (AttributeError, TypeError, ValueError) as error:
        raise OtherVersion(f"{path} is damaged ({error}): choose another folder, or remove this one") from error


def _read(told: dict[str, object], path: Path) -> Notes:
    version = told.pop("version", None)
    if version != VERSION:
        raise OtherVersion(f"{path} is of version {version}; this writes version {VERSION}: choose another folder")
    clusters = told.pop("clusters", {})
    if not isinstance(clusters, Mapping):
        raise TypeError("no clusters")
    return Notes(**told, clusters={name: ClusterNotes(**notes) for name, notes in clusters.items()})  # type: ignore[arg-type] # as it was written
