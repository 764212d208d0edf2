"""What earlier moves of a group did: messages consumed twice, and how much further it fell behind; or None."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from dashboard.groups.models import Group, Handoff, LagStep, Round
from dashboard.groups.twice import lane_of, twice_in

MOST_HANDOFFS = 200
MOST_ROUNDS = 30
FEWEST = 3
PERCENT = 90
AFTER_MS = 60_000  # what a round makes wait has piled up by then


@dataclass(frozen=True, slots=True)
class Earlier:
    """Of nine in ten earlier handoffs or rounds it was no more than this; None: too few are known.

    Attributes:
        twice: messages that were consumed twice in one handoff, at least, by the offsets that members reported.
        handoffs: of how many that is known.
        lag: by how many messages the group fell further behind in a round that moved queues, until 60 s after it.
        rounds: of how many that is known.
    """

    twice: int | None
    handoffs: int
    lag: int | None
    rounds: int


def earlier_of(*, group: Group) -> Earlier:
    """Read what the last handoffs and rounds of a group did."""
    counts, rises = _counts(group), _rises(group)
    return Earlier(_most(counts), len(counts), _most(rises), len(rises))


def _most(values: Sequence[int]) -> int | None:
    return int(np.percentile(values, PERCENT, method="higher")) if len(values) >= FEWEST else None


def _counts(group: Group) -> list[int]:
    """Give how many messages were consumed twice in each handoff of which both members told."""
    rows = Handoff.objects.filter(round__group=group, taken_at__isnull=False).exclude(from_client="")
    handoffs = list(rows.exclude(to_client="").select_related("round").order_by("-pk")[:MOST_HANDOFFS])
    if not handoffs:
        return []
    return [each.count for each in twice_in(row=handoffs[0].round, lanes=[lane_of(each) for each in handoffs]).values()]


def _rises(group: Group) -> list[int]:
    """Give by how much the group fell further behind in each round that moved queues, where every broker told."""
    rows = Round.objects.filter(group=group, closed_at__isnull=False, move_count__gt=0).order_by("-number")
    rounds = list(rows.values_list("opened_at", "closed_at")[:MOST_ROUNDS])
    steps: dict[str, list[LagStep]] = {}
    for step in LagStep.objects.filter(group=group).order_by("began_at", "pk") if rounds else ():
        steps.setdefault(step.broker, []).append(step)
    if not steps:
        return []
    found = []
    for opened, closed in rounds:
        rises = [_rise(each, opened, (closed or opened) + AFTER_MS) for each in steps.values()]
        found.append(None if None in rises else sum(each for each in rises if each is not None))
    return [each for each in found if each is not None]


def _rise(steps: Sequence[LagStep], since: int, until: int) -> int | None:
    before = next((each.lag for each in reversed(steps) if each.began_at < since), None)
    within = [each.most for each in steps if since <= each.began_at <= until]
    if before is None or None in within:
        return None
    return max([0, *(most - before for most in within if most is not None)])
