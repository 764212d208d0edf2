"""What was known of a group before a round."""

from __future__ import annotations

from dashboard.groups.models import Round
from dashboard.push.messages import GroupSnapshot, decode


def knew_all_before(row: Round) -> bool:
    """Whether a queue that nobody is known to have had before a round had nobody: every member had answered then."""
    stored = bytes(row.before)
    state = decode(stored) if stored else None
    return isinstance(state, GroupSnapshot) and state.state.head.orphans is not None
