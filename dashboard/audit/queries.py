"""Reading the audit log, and finding out whether it is still what was written."""

from __future__ import annotations

from collections.abc import Iterator

from dashboard.audit.models import AuditEntry
from dashboard.audit.operations import BEGINNING, digest_of


def tampering() -> Iterator[str]:
    """Say in a sentence each what does not fit: an entry that was changed, or one that is missing.

    An end that was cut off leaves no trace in the log itself: keep the last digest elsewhere to find that.
    """
    number, previous = 0, BEGINNING
    for entry in AuditEntry.objects.order_by("number").iterator(chunk_size=1_000):
        number += 1
        if entry.number != number:
            yield f"entries {number} to {entry.number - 1} are missing"
            number = entry.number
        elif entry.previous != previous:
            yield f"entry {entry.number} does not follow the one before it"
        if digest_of(entry) != entry.digest:
            yield f"entry {entry.number} is not what was written"
        previous = entry.digest
