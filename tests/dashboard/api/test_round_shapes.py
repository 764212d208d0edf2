from __future__ import annotations

from dataclasses import replace

from dashboard.api.round_shapes import HandoffOut, MoveOut, RoundRow, handoff_out, move_out
from dashboard.groups.lane import Lane
from dashboard.groups.models import Handoff, Round

LANE = Lane("orders", "east", 3, "", "C", None, 7, 9, (None, None), (None, None), is_waiting=False)


def test_why_something_is_unknown_stands_last_in_every_row_of_a_table() -> None:
    assert [list(shape.model_fields)[-1] for shape in (RoundRow, MoveOut, HandoffOut)] == ["unknown"] * 3


def test_a_queue_that_nobody_is_known_to_have_had_says_so() -> None:
    row = move_out(LANE, {})

    assert (row.from_client, row.to_client, row.taken_at) == (None, "C", 7)
    assert row.unknown["dropped_at"] == "nobody is known to have had it before"
    assert row.unknown["pause_low"] == "when it was let go, or taken, is not known closely enough"
    assert "taken_at" not in row.unknown
    assert "from_client" not in row.unknown


def test_a_queue_that_was_first_seen_with_somebody_is_not_said_to_come_from_nobody() -> None:
    row = move_out(replace(LANE, is_first_seen=True), {})

    assert row.from_client is None
    assert row.unknown["from_client"] == "it was first seen with who has it, who may have had it all the time"


def test_of_a_stored_handoff_too() -> None:
    told = Handoff(round=Round(number=1), topic="orders", broker="east", queue_id=3, to_client="C", taken_at=7)

    assert "from_client" in handoff_out(told).unknown
    told.taken_low = 5
    assert "from_client" not in handoff_out(told).unknown
