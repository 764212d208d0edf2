"""What the first paint of a group's page has in the places where scripts draw. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from dashboard.groups.first.bar import first_bar
from dashboard.groups.first.map import first_map
from dashboard.groups.owner_lanes import MOST_LANES
from dashboard.groups.table import every_queue
from dashboard.push.messages import GroupState

LANE, TITLE, AXIS = 15, 20, 20  # px of owners over time, as static/js/views/owner-lanes.js draws them


def painted(
    state: GroupState | None, facts: Mapping[str, Any], *, zoom: str, at: int | None = None
) -> dict[str, object]:
    """Draw the map, where the group was shown ever, and the time bar.

    Args:
        state: what is shown of the group.
        facts: what its scripts are given: ``time``, ``around`` and ``lag``.
        zoom: the piece of the map that is shown in cells; empty is all.
        at: the instant that the page is of, ms since 1970; None is now.
    """
    time, around, is_past = facts["time"], facts["around"], at is not None
    looked = time["until"] if is_past else looked_until(state, around)
    is_shared = state is not None and state.head.model == "BROADCASTING"
    drawn = None if state is None else first_map(state, around, facts["lag"], zoom=zoom, is_past=is_past)
    bar = first_bar(time, at=time["until"] if at is None else at, looked=looked, is_shared=is_shared)
    return {"first": drawn, "bar": bar, "owners_room": owners_room(state, around)}


def owners_room(state: GroupState | None, around: Mapping[str, Any]) -> int:
    """Say how high the owners over time will be: a lane for each queue, by topic and broker. 0: none, or not known yet.

    Which queues changed hands, of more than have lanes, only their answer tells.
    """
    if state is None or state.head.model == "BROADCASTING":
        return 0
    queues = {(row.topic, row.broker, row.queue_id) for row in every_queue(state, around.get("away") or [])}
    if not 0 < len(queues) <= MOST_LANES:
        return 0
    return AXIS + LANE * len(queues) + TITLE * len({queue[:2] for queue in queues})


def looked_until(state: GroupState | None, around: Mapping[str, Any]) -> int | None:
    """Say until when all members that answer have told what they hold; without any, when the cluster answered last."""
    if state is None or not state.members:
        watched = around["watched_at"]
        return None if watched is None else int(watched)
    seen = {each["client"]: each["at"] for each in around["seen"]}
    told = [seen.get(cell.client) for cell in state.members if cell.held is not None]
    return min((at for at in told if at), default=None)
