from pathlib import Path

from rebalance_engine.pipeline.page.tables import MOST_ROWS, tables_of
from rebalance_engine.pipeline.reports import read_report
from tests.rebalance_engine.pipeline.test_reports import COST, folder, note, put

__all__ = ["folder"]


def tables(folder: Path) -> dict[str, str]:
    return {name: table for name, _, table in tables_of(read_report(folder))}


def test_numbers_are_set_as_such_and_unknown_ones_are_called_so(folder: Path) -> None:
    beats = {"host": "web1", "failed": 3, "expired": None}
    put(folder, "heartbeats", beats)

    told = tables(folder)["heartbeats"]

    assert "<td class='number' data-name='failed'>3</td>" in told
    assert "'expired at a broker'><span class='unknown'>unknown</span></td>" in told
    assert "<th class='number'>failed</th>" in told


def test_skew_stands_in_the_table_of_groups_also_of_one_day(tmp_path: Path) -> None:
    note(tmp_path)
    put(tmp_path, "costs", {**COST, "group": "g", "max_over_mean": 1.05})

    told = tables(tmp_path)["groups"]

    assert "<th>skew</th>" in told
    assert ">1.05</td>" in told


def test_long_texts_have_room_and_what_is_said_of_no_group_has_none(tmp_path: Path) -> None:
    note(tmp_path)
    still = {"unowned_ms": 16_500, "unowned_most_ms": 16_500, "unowned_open_ms": 1_500}
    put(tmp_path, "costs", {**COST, **still, "group": "g", "deserted_ms": 198_000}, {**COST, "group": "h"})

    told = tables(tmp_path)["groups"]

    assert "<th class='long'>unowned</th><th>off (no member)</th>" in told
    assert "<td class='long' data-name='unowned'>16.5 s, of it 1.5 s of queues that nobody has taken since</td>" in told
    assert "<td data-name='off (no member)'>3.3 min</td>" in told
    assert "members unknown" not in told


def test_a_long_table_says_how_much_is_left_out(folder: Path) -> None:
    put(folder, "costs", *({**COST, "group": f"g{n}"} for n in range(MOST_ROWS + 5)), day="2026-11-23")

    assert "7 more are in the tables." in tables(folder)["groups"]
