"""A group's map and its last rounds in the small, for one row of the overview. Pure: states and rows to numbers."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dashboard.groups.showing import converged, count_partial, count_perhaps_orphans, count_proxied, count_unasked
from dashboard.push.messages import GroupState
from dashboard.push.runs import count, unpack

MOST_COLUMNS = 56
MOST_ROWS = 6
NOBODY, HELD, TWO, UNKNOWN = 0, 1, 2, 3


@dataclass(frozen=True, slots=True)
class Small:
    """Bands of members down, bins of queues across.

    ``bands[b]`` are the bins in which a member of band ``b`` holds a queue; ``faults[c]`` is the gravest of bin ``c``:
    0 nobody has a queue, 1 fine, 2 two have one, 3 unknown.
    """

    columns: int
    bands: tuple[tuple[int, ...], ...]
    faults: tuple[int, ...]


def shrink(state: GroupState) -> Small:
    """Give a group's map in the small."""
    queues = sum(int(np.sum(part.ids[1::2])) for part in state.queues)
    columns = min(queues, MOST_COLUMNS)
    rows = min(len(state.members), MOST_ROWS)
    if not columns:
        return Small(0, (), ())
    bin_of = np.arange(queues) * columns // queues
    owners = np.zeros(queues, dtype=np.int64)
    head = state.head  # a member does not answer, or pops, or a broker does not tell who is one
    has_silent = bool(head.untold or head.popping) or (head.orphans is None and not head.disputed)
    bands = [np.zeros(columns, dtype=bool) for _ in range(rows)]
    for number, cell in enumerate(state.members):
        has_silent = has_silent or cell.held is None or cell.is_partial
        held = unpack(cell.held or ())
        owners[held] += 1
        bands[number * rows // len(state.members)][bin_of[held]] = True
    return Small(
        columns,
        tuple(tuple(np.flatnonzero(band).tolist()) for band in bands),
        tuple(_verdicts(owners, bin_of, columns, state, has_silent=has_silent).tolist()),
    )


def figures_of(state: GroupState) -> dict[str, object]:
    """Give the figures that stand beside the map in the small: of the same state, so that they agree with it."""
    head, members = state.head, len(state.members) if state.head.are_members_known else None
    return {
        "silent": sum(cell.held is None for cell in state.members),
        "unasked": count_unasked(state.members),
        "proxied": count_proxied(state.members),
        "popping": state.head.popping,
        "partial": count_partial(state.members),
        "untold": len(state.head.untold),
        "orphans": state.head.orphans,
        "doubles": state.head.doubles,
        "perhaps_twice": count(state.head.perhaps_twice),
        "disputed": count(state.head.disputed),
        "perhaps_orphans": count_perhaps_orphans(state),
        "is_converged": converged(head.is_converged, members=members, orphans=head.orphans, doubles=head.doubles),
    }


def _verdicts(
    owners: NDArray[np.int64], bin_of: NDArray[np.int64], columns: int, state: GroupState, *, has_silent: bool
) -> NDArray[np.int64]:
    faults = np.full(columns, HELD, dtype=np.int64)
    if state.head.model == "BROADCASTING":
        return faults
    is_disputed = np.zeros(len(owners), dtype=bool)
    is_disputed[unpack(state.head.disputed)] = True
    faults[bin_of[is_disputed]] = UNKNOWN
    faults[bin_of[(owners == 0) & ~is_disputed]] = UNKNOWN if has_silent else NOBODY
    owners[unpack(state.head.perhaps_twice)] = 1
    faults[bin_of[unpack(state.head.perhaps_twice)]] = UNKNOWN
    faults[bin_of[owners > 1]] = TWO
    return faults
