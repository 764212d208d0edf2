"""What goes wrong on the way to browsers, counted in the database: by all processes together, and for good.

A counter of one process would fall to 0 with it, and whoever asks for the figures meets only one of them.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping
from enum import Enum

from django.db import DatabaseError
from django.db.models import F

from dashboard.push.models import Tally

logger = logging.getLogger(__name__)


class Kind(Enum):
    """What is counted."""

    NOT_TO_REDIS = "message that Redis did not take"
    NOT_TO_BROWSER = "message that a browser did not take"
    TOO_SLOW = "socket of a browser that took nothing"
    WITHOUT_REDIS = "socket that could not follow without Redis"
    BROKEN = "socket that ended by an error"
    FELL_BEHIND = "queue that was dropped for a snapshot"
    ENDED_STEPS = "step of a stream that was deleted"


def add(counts: Mapping[Kind, int]) -> None:
    """Count on, always in the same order, so that nobody waits for one who waits for him."""
    for kind in sorted(counts, key=lambda kind: kind.value):
        row = Tally.objects.filter(kind=kind.value)
        if not row.update(count=F("count") + counts[kind]):
            Tally.objects.bulk_create([Tally(kind=kind.value)], ignore_conflicts=True)
            row.update(count=F("count") + counts[kind])


def note(kind: Kind) -> None:
    """Count one, where something has gone wrong already: a database that does not answer is only told of."""
    try:
        add({kind: 1})
    except DatabaseError as error:
        logger.warning("%r could not be counted: %s", kind.value, error)


def counts() -> dict[Kind, int]:
    """Give all counts; what never happened is 0."""
    found: dict[str, int] = dict(Tally.objects.values_list("kind", "count"))
    return {kind: found.get(kind.value, 0) for kind in Kind}
