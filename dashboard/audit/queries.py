"""Reading the audit log, and finding out whether it is still what was written."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from dashboard.audit import anchor
from dashboard.audit.models import AuditEntry
from dashboard.audit.operations import BEGINNING, digest_of


@dataclass(frozen=True, slots=True)
class Verdict:
    """What a verification found.

    Attributes:
        count: of entries.
        digest: of the last one; of none it is all zeros.
        noted: up to which entry the anchor tells; 0 is none: then nobody can tell whether the end was cut off.
        troubles: what is wrong, a sentence each, the first broken entry first; none where the log is whole.
    """

    count: int
    digest: str
    noted: int
    troubles: tuple[str, ...]

    @property
    def is_whole(self) -> bool:
        """Whether the log is what was written, as far as can be known."""
        return not self.troubles


def verify(*, path: Path, most_troubles: int = 100) -> Verdict:
    """Go through the whole log: its chain in itself, and against the anchor, which tells whether its end is there."""
    try:
        read = anchor.read(path)
    except OSError as error:
        read, unreadable = None, f"the anchor cannot be read: {error}"
    else:
        unreadable = f"there is no anchor at {path}: whether entries were cut from the end is unknown"
    noted, wrong = read if read is not None else ({}, [])
    walk = _Walk(noted)
    troubles = list(walk.troubles(most_troubles))
    count = AuditEntry.objects.count()
    if read is None and count:
        troubles.append(unreadable)
    troubles += [f"line {place} of the anchor is none of an entry" for place in wrong[:most_troubles]]
    last = max(noted, default=0)
    if last > walk.number:
        troubles.append(f"entries {walk.number + 1} to {last} are missing: the end was cut off")
    return Verdict(count, walk.digest, last, tuple(troubles))


def tampering() -> Iterator[str]:
    """Say in a sentence each what does not fit: an entry that was changed, or one that is missing.

    An end that was cut off leaves no trace in the log itself; ``verify`` asks the anchor.
    """
    return _Walk({}).troubles()


class _Walk:
    """One walk along the chain, from the first entry to the last."""

    def __init__(self, noted: dict[int, set[str]]) -> None:
        self.number, self.digest = 0, BEGINNING
        self._noted = noted

    def troubles(self, most: int | None = None) -> Iterator[str]:
        told = 0
        for entry in AuditEntry.objects.order_by("number").iterator(chunk_size=1_000):
            for trouble in self._step(entry):
                told += 1
                if most is None or told <= most:
                    yield trouble

    def _step(self, entry: AuditEntry) -> Iterator[str]:
        self.number += 1
        if entry.number != self.number:
            yield f"entries {self.number} to {entry.number - 1} are missing"
            self.number = entry.number
        elif entry.previous != self.digest:
            yield f"entry {entry.number} does not follow the one before it"
        if digest_of(entry) != entry.digest:
            yield f"entry {entry.number} is not what was written"
        elif self._noted.get(entry.number, {entry.digest}) != {entry.digest}:
            yield f"entry {entry.number} is another one than was noted when it was written"
        self.digest = entry.digest
