from __future__ import annotations

import csv

import pytest

from dashboard.plans.answers import describe
from dashboard.plans.costs import NO_COSTS
from dashboard.plans.questions import Question
from dashboard.plans.tables import TABLES, file_name, only
from tests.dashboard.plans.test_answers import trial

ASKED = Question(add=("C",), remove=("A",), queues=("orders/east/3",))


def rows(table: str, question: Question = ASKED, strategy: str = "AVG") -> list[dict[str, str]]:
    return list(csv.DictReader(TABLES[table](trial(question, strategy=strategy)).splitlines()))


def test_every_strategy_stands_in_a_table_with_its_moves_and_loads() -> None:
    found = {row["strategy"]: row for row in rows("strategies")}

    avg, circle, lacking = found["AVG"], found["AVG_BY_CIRCLE"], found["MACHINE_ROOM"]
    assert (avg["is_own"], avg["is_chosen"], avg["moves"], avg["most"], avg["least"], avg["idle"]) == (
        "true",
        "true",
        "4",
        "2",
        "1",
        "0",
    )
    assert circle["is_chosen"] == "false"
    assert found["CPP_AVG"]["same_as"] == "AVG"
    assert (lacking["moves"], lacking["most"], lacking["idle"]) == ("", "", "")
    assert "needs the parameter" in lacking["why_not"]


def test_loads_and_how_even_they_are_stand_in_tables_now_and_then() -> None:
    assert [tuple(row.values()) for row in rows("loads")] == [
        ("A", "2", "", "false", "true"),
        ("B", "2", "2", "false", "false"),
        ("C", "", "1", "true", "false"),
    ]
    now, then = rows("skew")
    assert (now["when"], now["members"], now["queues"], now["most"], now["least"]) == ("now", "2", "4", "2", "2")
    assert (then["when"], then["members"], then["queues"], then["most"], then["least"]) == ("then", "2", "3", "2", "1")


def test_both_maps_are_a_table_of_queues() -> None:
    found = [(row["queue"], row["before"], row["after"]) for row in rows("queues")]

    assert found == [("0", "A", "B"), ("1", "A", "B"), ("2", "B", "C"), ("3", "B", "")]


def test_what_cannot_be_known_is_empty_in_each() -> None:
    unknown = {table: rows(table, Question(), "com.shop.Mine") for table in TABLES}

    assert unknown["moves"] == []
    assert {row["after"] for row in (*unknown["loads"], *unknown["queues"])} == {""}
    assert unknown["skew"][1]["most"] == ""


@pytest.mark.parametrize("table", TABLES)
def test_each_is_a_part_of_the_whole_in_plain_values(table: str) -> None:
    whole = describe(trial(ASKED), cluster="shop", at=7, expected=NO_COSTS)

    part = only(whole, table)

    assert whole.items() > part.items()
    assert {"group", "question", "strategy"} <= part.keys()
    together = {name for each in TABLES for name in only(whole, each)}
    assert together == whole.keys()
    assert only(whole, "") == whole


def test_a_file_is_named_after_its_table() -> None:
    assert (file_name("g", ""), file_name("g", "moves"), file_name("g", "skew")) == (
        "dry-run-g",
        "dry-run-g",
        "dry-run-skew-g",
    )
