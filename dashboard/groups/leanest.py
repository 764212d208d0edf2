"""How many moves a round needed at the fewest, by the states before and after it, and by which strategy it divided."""

from __future__ import annotations

from dataclasses import dataclass

from dashboard.groups.models import Round
from dashboard.groups.queries import target_of
from dashboard.push.publish import state_in
from rebalance_engine.diff import diff
from rebalance_engine.measures import count_moves


@dataclass(frozen=True, slots=True)
class Division:
    """How a round divided the queues.

    Its target takes ``moved`` queues from one member and gives them to another; ``fewest`` would have been enough for
    loads as even. None is unknown. How many of them changed owner in the round is another question: members may do
    later, or never, what the target says.
    """

    strategy: str
    is_strategy_assumed: bool
    fewest: int | None
    moved: int | None = None


def division_of(row: Round) -> Division | None:
    """Read how a round divided; None where no state of its end is kept.

    Where it is not known what somebody should have had, before or after, it is not known either what was needed.
    """
    before, after = state_in(bytes(row.before)), state_in(bytes(row.after))
    if after is None:
        return None
    fewest = moved = None
    if before is not None and before.head.is_target_known and after.head.is_target_known:
        old, new = target_of(before), target_of(after)
        moves = count_moves(diff(old, new), old, new)
        fewest, moved = moves.fewest, moves.handoffs
    return Division(after.head.strategy, after.head.is_strategy_assumed, fewest, moved)
