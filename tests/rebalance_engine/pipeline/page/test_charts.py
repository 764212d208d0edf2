from pathlib import Path

import pytest

from rebalance_engine.pipeline.page.charts import MOST_GROUPS, figures_of
from rebalance_engine.pipeline.reports import read_report
from tests.rebalance_engine.pipeline.test_reports import COST, folder, note, put

__all__ = ["folder"]


def test_of_many_groups_those_are_drawn_that_paused_longest(folder: Path) -> None:
    many = ({**COST, "group": f"g{n}", "pause_ms": 1_000_000 + n} for n in range(MOST_GROUPS))
    put(folder, "costs", *many, day="2026-11-23")

    _, figure = figures_of(read_report(folder))["costs"]

    names = figure["traces"][0]["y"]
    assert (len(names), names[0], names[-1]) == (MOST_GROUPS, f"g{MOST_GROUPS - 1}", "g0")


@pytest.mark.parametrize(
    ("ms", "drawn", "unit"), [(7_200_000, 2, "hours"), (90_000, 90, "seconds"), (600_000, 10, "minutes")]
)
def test_durations_have_the_unit_that_a_person_would_choose(folder: Path, ms: int, drawn: float, unit: str) -> None:
    of = {"group": "slow", "topic": "t", "broker": "b", "queue_id": 0, "from_client": "A", "to_client": "B"}
    put(folder, "handoffs", {**of, "taken_ms": 0, "pause_ms": ms}, {**of, "taken_ms": 0, "pause_ms": None})

    _, figure = figures_of(read_report(folder))["handoffs"]

    assert [trace["y"] for trace in figure["traces"]] == [[drawn]]
    assert figure["layout"]["yaxis"]["title"]["text"] == f"pause, {unit}"


def test_skew_is_drawn_over_days_and_not_of_one_alone(folder: Path, tmp_path: Path) -> None:
    _, figure = figures_of(read_report(folder))["skew"]
    one_day = tmp_path / "one"
    one_day.mkdir()
    note(one_day)
    put(one_day, "costs", {**COST, "group": "slow"})

    assert figure["traces"][0]["x"] == ["2026-11-21", "2026-11-22"]
    assert "skew" not in figures_of(read_report(one_day))
