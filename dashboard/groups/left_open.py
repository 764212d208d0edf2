"""What an open round still has to do of rounds that it superseded: queues that they were to hand over, and did not."""

from __future__ import annotations

import numpy as np

from dashboard.groups.models import Round
from dashboard.groups.queries import target_of, view_of
from dashboard.push.publish import state_in
from rebalance_engine.diff import diff
from rebalance_engine.model import MessageModel
from rebalance_engine.ownership import UNOWNED


def left_open(row: Round) -> int | None:
    """Count the queues that should be another one's since before an open round began, and are not yet.

    What the round itself gave to another one is not among them. None: what somebody holds, or should, is unknown; 0 of
    a round that is over, or superseded none.
    """
    if row.closed_at is not None or row.number == row.wave or row.group.model == MessageModel.BROADCASTING.value:
        return 0
    before, now = state_in(bytes(row.before)), state_in(bytes(row.after))
    if before is None or now is None or not (before.head.is_target_known and now.head.is_target_known):
        return None
    view, target = view_of(now), target_of(now)
    if view.silent or view.held is None:
        return None
    waits, own = diff(view.held, target), diff(target_of(before), target)
    waiting, moved = (np.unique(each.queue[each.destination != UNOWNED]) for each in (waits, own))
    return len(np.setdiff1d(waiting, moved))
