"""Exact answers for small groups, by other means than the engine's: what its promises are held against."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import permutations, product

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linprog

Ints = NDArray[np.int64]


def fairest_then_stickiest(supply: Ints, topic: Ints, member: Ints, kept: Ints, members: int) -> tuple[int, int]:
    """Give the least sum of squared loads, and the most queues that can be kept with it, by linear programming.

    The sum of squares is least just where the sorted loads are lexicographically least. The k-th queue of a
    member costs what it adds to its square, and keeping a queue pays less than any difference in these.
    """
    total, edges = int(supply.sum()), len(topic)
    if not total:
        return 0, 0
    keeps, takes = np.eye(edges), np.eye(edges)
    flow = np.hstack([keeps, takes])
    leaves = (topic == np.arange(len(supply))[:, None]) @ flow
    arrives = (member == np.arange(members)[:, None]) @ flow
    squares = np.tile(2 * np.arange(total) + 1, members)
    answer = linprog(
        np.concatenate([np.full(edges, -1), np.zeros(edges), squares * (total + 1)]),
        A_eq=np.block(
            [
                [leaves, np.zeros((len(supply), members * total))],
                [arrives, -np.kron(np.eye(members), np.ones(total))],
            ]
        ),
        b_eq=np.concatenate([supply, np.zeros(members)]),
        bounds=[(0, most) for most in kept] + [(0, None)] * edges + [(0, 1)] * (members * total),
    )
    assert answer.status == 0
    least, less = divmod(round(answer.fun), total + 1)
    return (least + 1, total + 1 - less) if less else (least, 0)


def most_kept(held: list[int], queues: int) -> int:
    """Give how many queues members can keep at most in shares within one, by trying who gets the larger ones."""
    base, extra = divmod(queues, len(held))
    shares = [base + 1] * extra + [base] * (len(held) - extra)
    return max(sum(map(min, held, dealt)) for dealt in set(permutations(shares)))


def all_assignments(queues: int, members: int) -> Iterator[Ints]:
    """Give every way to own that many queues."""
    return (np.array(owner, dtype=np.int64) for owner in product(range(members), repeat=queues))
