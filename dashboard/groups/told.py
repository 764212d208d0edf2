"""What members of a group were told by hand (CONFIG): asked here, answered by a room above that keeps it.

Rooms above say once, when the program starts, that they keep it (``keep_told``); this room knows none of them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from rebalance_engine.model import MessageQueue

BY_HAND = frozenset({"CONFIG", "GO_CONFIG"})  # each member's list stands in its own program
Lists = Mapping[str, Sequence[MessageQueue]]


@dataclass(frozen=True, slots=True)
class Told:
    """An assignment that people gave: the queues of each client id, and who said so why.

    ``acknowledged`` are the queues and clients of which its author says to have read what the checks warned of.
    """

    version: int
    lists: Lists
    author: str = ""
    reason: str = ""
    acknowledged: frozenset[str] = frozenset()


Keeper = Callable[[int], Told | None]
_keepers: list[Keeper] = []


def keep_told(keeper: Keeper) -> None:
    """Register who answers what the members of a group (its number) were told; once is enough."""
    if keeper not in _keepers:
        _keepers.append(keeper)


def told_by_hand(*, group: int) -> Told | None:
    """Give what the members of a group were told; None: nobody knows."""
    return next((told for keeper in _keepers if (told := keeper(group)) is not None), None)
