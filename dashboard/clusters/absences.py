"""What is kept of the times in which a queue was in no route: ``Queue.absences``.

Of queues that were there before these times were kept, or that were away more often than is kept, the first entry
tells only when they were back from all that nobody keeps: ``[None, None, None, back at]``.
"""

from __future__ import annotations

from collections.abc import Sequence

Absence = list[int | None]  # gone low, gone at, back low, back at, in ms; None is unknown
MOST_ABSENCES = 16  # of a broker, or a queue, that are kept


def unkept_return(since: int, came_at: int | None, absences: Sequence[Sequence[int | None]] | None) -> int | None:
    """Say when a queue may have been back from the last absence that nobody keeps, in ms; None: there is none.

    Args:
        since: since when it was in its route at last.
        came_at: when it was first known; None: before that was kept.
        absences: those that are kept.
    """
    if absences:
        _, gone_at, _, back_at = absences[0]
        return back_at if gone_at is None else None
    return since if came_at is None else None


def with_one_more(
    absences: Sequence[Absence] | None, away: Absence, *, since: int, came_at: int | None
) -> list[Absence]:
    """Give what is kept once an absence is over: the last ones, and when it was back from those before them."""
    unkept = unkept_return(since, came_at, absences)
    kept = [*[each for each in absences or () if each[1] is not None], away]
    if unkept is None and len(kept) <= MOST_ABSENCES:
        return kept
    cut = kept[: 1 - MOST_ABSENCES]
    return [[None, None, None, cut[-1][3] if cut else unkept], *kept[len(cut) :]]
