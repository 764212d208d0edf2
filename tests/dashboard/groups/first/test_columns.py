from __future__ import annotations

from dashboard.groups.first.columns import brokers_of, fit, middle_of, numbered, piece_of, place, topics_of
from dashboard.groups.table import QueueRow


def row(topic: str, broker: str, number: int, *, kind: str = "ok", held: str = "A") -> QueueRow:
    return QueueRow(topic, broker, number, kind, "", (held,), ())


ROWS = [
    row("orders", "east", 0),
    row("orders", "east", 1),
    row("orders", "west", 0),
    row("%RETRY%g", "east", 0),
]


def test_columns_have_gaps_between_brokers_and_wider_ones_between_topics() -> None:
    columns, cell = place(ROWS, 400)

    assert cell == 30
    assert [column.x for column in columns] == [0, 30, 66, 110]
    assert [(span.start, span.end) for span in topics_of(columns, cell)] == [(0, 96), (110, 140)]
    assert [span.name for span in brokers_of(columns, cell)] == ["east", "west", "east"]


def test_cells_are_as_narrow_as_they_must_be_and_no_narrower_than_can_be_seen() -> None:
    many = [row("orders", "east", number) for number in range(100)]

    assert place(many, 700)[1] == 7
    assert place(many, 10)[1] == 4


def test_a_stray_that_two_hold_is_one_column_and_none_where_a_route_has_it() -> None:
    stray = [row("orders", "east", 7, kind="stray", held=client) for client in "AB"]

    columns, _cell = place([*stray, row("orders", "east", 8, kind="stray"), row("orders", "east", 8)], 400)

    assert [[each.held[0] for each in column.rows] for column in columns] == [["A", "B"], ["A"]]
    assert [column.row.kind for column in columns] == ["stray", "ok"]


def test_numbers_are_written_where_they_have_room() -> None:
    columns, cell = place([row("orders", "east", number) for number in range(12)], 12 * 7)

    assert [column.row.queue_id for column in numbered(columns, cell)] == [0, 5, 10]


def test_names_are_cut_to_their_room() -> None:
    assert fit("east", 40) == "east"
    assert fit("broker-a", 20) == "a"
    assert fit("orders-of-the-north", 60) == "north"
    assert fit("warehouse", 40) == "wareh…"[: int(40 // 6.7) - 1] + "…"


def test_a_piece_is_of_a_broker_or_of_a_topic_and_a_wrong_one_is_empty() -> None:
    assert piece_of(ROWS, "orders/east/1") == [ROWS[1]]
    assert piece_of(ROWS, "orders/*/1") == [ROWS[1], ROWS[2]]
    assert [piece_of(ROWS, wrong) for wrong in ("", "x", "orders/east/x", "orders/east/" + "9" * 40)] == [[]] * 4


def test_the_first_number_of_narrow_columns_is_not_cut_off() -> None:
    columns, cell = place([row("orders", "east", number) for number in range(400, 800)], 10)

    assert [middle_of(column, cell) for column in columns[:4]] == [9, 9, 10, 14]
