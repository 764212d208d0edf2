from pathlib import Path

from rebalance_engine.pipeline.page.tables import MOST_ROWS, tables_of
from rebalance_engine.pipeline.reports import read_report
from tests.rebalance_engine.pipeline.test_reports import COST, folder, put

__all__ = ["folder"]


def tables(folder: Path) -> dict[str, str]:
    return {name: table for name, _, table in tables_of(read_report(folder))}


def test_numbers_are_set_as_such_and_unknown_ones_are_called_so(folder: Path) -> None:
    beats = {"host": "web1", "failed": 3, "expired": None}
    put(folder, "heartbeats", beats)

    told = tables(folder)["heartbeats"]

    assert "<td class='number'>3</td><td class='number'><span class='unknown'>unknown</span></td>" in told
    assert "<th class='number'>failed</th>" in told


def test_a_long_table_says_how_much_is_left_out(folder: Path) -> None:
    put(folder, "costs", *({**COST, "group": f"g{n}"} for n in range(MOST_ROWS + 5)), day="2026-11-23")

    assert "7 more are in the tables." in tables(folder)["groups"]
