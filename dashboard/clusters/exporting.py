"""From the outbox to the history files: ``DAY/CLUSTER.jsonl``, by the day (UTC) at which each fact happened.

A line is marked as exported after it is on the disk. A process that dies in between writes it again: a reader takes
equal lines once, as everything that reads facts does. One exporter at a time holds the folder's lock, and so does who
deletes days that are old.
"""

from __future__ import annotations

import fcntl
import hashlib
import os
import re
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, date, datetime, timedelta
from pathlib import Path

from dashboard.clusters.models import OutboxLine

LINES_A_TURN = 5_000
MOST_TURNS = 100
DAY = re.compile(r"\d{4}-\d{2}-\d{2}")  # as ``day_of`` names it


def export(*, folder: Path, now: int) -> int:
    """Append all waiting lines to their files, in the order in which they were stored; give how many."""
    folder.mkdir(parents=True, exist_ok=True)
    exported = 0
    with _alone(folder) as has_it:
        for _ in range(MOST_TURNS if has_it else 0):
            waiting = OutboxLine.objects.filter(exported_at=None).order_by("pk")
            rows = list(waiting.values_list("pk", "cluster__name", "at", "line")[:LINES_A_TURN])
            if not rows:
                break
            files: dict[Path, list[str]] = defaultdict(list)
            for _pk, cluster, at, line in rows:
                files[folder / day_of(at) / f"{file_name(cluster)}.jsonl"].append(line)
            for path, lines in files.items():
                _append(path, lines)
            OutboxLine.objects.filter(pk__in=[row[0] for row in rows]).update(exported_at=now)
            exported += len(rows)
    return exported


def forget_days(*, folder: Path, now: int, days: int) -> int | None:
    """Delete the history files of whole days (UTC) that are more than ``days`` days before today.

    What the export did not make stays, and so does today's day whatever ``days`` is.

    Args:
        days: 0 keeps all.

    Returns:
        How many days are gone; None where an export is at work, so that it is to be tried again.
    """
    if days <= 0 or not folder.is_dir():
        return 0
    first_kept = datetime.fromtimestamp(now / 1000, UTC).date() - timedelta(days)
    with _alone(folder) as has_it:
        if not has_it:
            return None
        return sum(_forget(each) for each in folder.iterdir() if each.is_dir() and _is_before(each.name, first_kept))


def _is_before(name: str, first_kept: date) -> bool:
    try:
        return DAY.fullmatch(name) is not None and date.fromisoformat(name) < first_kept
    except ValueError:
        return False


def _forget(day: Path) -> bool:
    files = list(day.glob("*.jsonl"))
    for file in files:
        file.unlink(missing_ok=True)
    with suppress(OSError):
        day.rmdir()  # somebody else's files keep it
    return bool(files)


def day_of(at: int) -> str:
    """Name the day of an instant."""
    return datetime.fromtimestamp(at / 1000, UTC).date().isoformat()


def file_name(cluster: str) -> str:
    """Make a cluster's name fit for a file system; one that needs changing carries its digest."""
    plain = re.sub(r"[^A-Za-z0-9_-]", "_", cluster)[:60]
    if plain == cluster:
        return plain
    return f"{plain}-{hashlib.sha256(cluster.encode('utf-8', 'surrogatepass')).hexdigest()[:12]}"


@contextmanager
def _alone(folder: Path) -> Iterator[bool]:
    with (folder / ".lock").open("w") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            yield False
            return
        yield True


def _append(path: Path, lines: list[str]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("a+b") as file:
        if file.tell() and not _ends_with_newline(file.fileno(), file.tell()):
            file.write(b"\n")  # a line that was cut by a crash must not swallow the next one
        file.write(b"".join(line.encode() + b"\n" for line in lines))
        file.flush()
        os.fsync(file.fileno())


def _ends_with_newline(descriptor: int, size: int) -> bool:
    return os.pread(descriptor, 1, size - 1) == b"\n"
