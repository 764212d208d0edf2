from __future__ import annotations

from dashboard.api.round_shapes import HandoffOut, MoveOut, RoundRow, move_out
from dashboard.groups.story import Lane

LANE = Lane("orders", "east", 3, "", "C", None, 7, 9, (None, None), (None, None), is_waiting=False)


def test_why_something_is_unknown_stands_last_in_every_row_of_a_table() -> None:
    assert [list(shape.model_fields)[-1] for shape in (RoundRow, MoveOut, HandoffOut)] == ["unknown"] * 3


def test_a_queue_that_nobody_is_known_to_have_had_says_so() -> None:
    row = move_out(LANE, {})

    assert (row.from_client, row.to_client, row.taken_at) == (None, "C", 7)
    assert row.unknown["dropped_at"] == "nobody is known to have had it before"
    assert row.unknown["pause_low"] == "when it was let go, or taken, is not known closely enough"
    assert "taken_at" not in row.unknown
