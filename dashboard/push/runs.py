"""Sets of whole numbers as runs: ``skip, take, skip, take, ...`` from 0. What a browser gets of queues and owners.

``{3, 4, 5, 9}`` is ``(3, 3, 3, 1)``: skip 3, take 3, skip 3, take 1. Two sets differ in few runs where neighbours
move together, as they do in most rebalances. ``static/js/live/`` reads the same.
"""

from __future__ import annotations

from itertools import accumulate, pairwise

import numpy as np
from numpy.typing import ArrayLike, NDArray

Runs = tuple[int, ...]
Numbers = NDArray[np.int64]


def pack(numbers: ArrayLike) -> Runs:
    """Write a set of numbers from 0 up, given in any order."""
    members = np.asarray(numbers, dtype=np.int64)
    if not len(members):
        return ()
    steps = np.diff(members)
    if len(steps) and steps.min() < 1:
        members = np.unique(members)
        steps = np.diff(members)
    breaks = np.flatnonzero(steps != 1)
    starts = members[np.concatenate([[0], breaks + 1])]
    ends = members[np.concatenate([breaks, [len(members) - 1]])] + 1
    edges = np.empty(2 * len(starts), dtype=np.int64)
    edges[0::2], edges[1::2] = starts, ends
    return tuple(np.diff(edges, prepend=0).tolist())


def count(runs: Runs) -> int:
    """Say how many numbers a set has."""
    return sum(runs[1::2])


def unpack(runs: Runs) -> Numbers:
    """Read a set of numbers, ascending.

    Raises:
        ValueError: a run is negative, or there is a skip without a take.
    """
    if len(runs) % 2 or any(run < 0 for run in runs):
        raise ValueError(f"runs are pairs of numbers from 0 up, not {runs[:10]}")
    if len(runs) == 2:
        return np.arange(runs[0], runs[0] + runs[1], dtype=np.int64)
    edges = np.cumsum(np.asarray(runs, dtype=np.int64))
    parts = [np.arange(edges[i], edges[i + 1], dtype=np.int64) for i in range(0, len(edges), 2)]
    return np.concatenate(parts) if parts else np.empty(0, dtype=np.int64)


def differ(one: Runs, other: Runs) -> Runs:
    """Give the numbers that are in exactly one of two sets; applied to either, it gives the other."""
    edges = sorted((*_edges(one), *_edges(other)))
    kept: list[int] = []
    for edge in edges:  # an edge of both is an edge of neither
        if kept and kept[-1] == edge:
            kept.pop()
        else:
            kept.append(edge)
    return tuple(b - a for a, b in pairwise((0, *kept)))


def _edges(runs: Runs) -> list[int]:
    return list(accumulate(runs))
