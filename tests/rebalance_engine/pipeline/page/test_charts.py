from pathlib import Path

import pytest

from rebalance_engine.pipeline.page import page
from rebalance_engine.pipeline.page.charts import FOOT_MS, MOST_GROUPS, figures_of
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
def test_costs_have_the_unit_that_a_person_would_choose(tmp_path: Path, ms: int, drawn: float, unit: str) -> None:
    note(tmp_path)
    put(tmp_path, "costs", {**COST, "group": "g", "pause_ms": ms})

    _, figure = figures_of(read_report(tmp_path))["costs"]

    assert figure["traces"][0]["x"] == [drawn]
    assert figure["layout"]["xaxis"]["title"]["text"] == f"{unit}, all queues together"


def test_costs_that_lie_between_bounds_are_drawn_and_said_so(tmp_path: Path) -> None:
    """The bar is what is known at least, as summary and table say it; nothing bounds what members unheard held."""
    note(tmp_path)
    between = {"unowned_ms": 10_000, "unowned_most_ms": 40_000, "unowned_open_ms": 4_000}
    between |= {"overlap_ms": 50_000, "overlap_least_ms": 8_200, "overlap_stopping_ms": 2_000}
    exact = {"unowned_ms": 5_000, "unowned_most_ms": 5_000, "overlap_ms": 3_000, "overlap_least_ms": 3_000}
    put(tmp_path, "costs", {**COST, **between, "group": "g", "pause_ms": 99_000}, {**COST, **exact, "group": "h"})
    put(tmp_path, "costs", {**COST, **between, "group": "i", "pause_ms": 9_000, "unheard": 1}, day="2026-11-22")

    _, figure = figures_of(read_report(tmp_path))["costs"]

    paused, none, two = figure["traces"]
    assert [bar["name"] for bar in (paused, none, two)] == [
        "paused (at least)", "unowned until taken (line: at most)", "two owners (at least; line: at most)",
    ]  # fmt: skip
    assert paused["customdata"] == ["at least 99.0 s", "at least 90.0 s", "at least 9.0 s"]
    assert (none["x"], none["error_x"]["array"]) == ([6, 5, 6], [30, 0, 30])
    assert none["customdata"] == ["6.0 s to 36.0 s", "5.0 s", "6.0 s to 36.0 s"]
    assert (two["x"], two["error_x"]["array"]) == ([8.2, 3, 8.2], pytest.approx([39.8, 0, 0]))
    assert two["customdata"] == ["8.2 s to 48.0 s", "3.0 s", "at least 8.2 s"]


def test_one_open_bound_leaves_the_other_bars_their_room_and_is_marked(tmp_path: Path) -> None:
    """A hole of three days bounds what one group's queues were without owner; the others' seconds are still seen."""
    note(tmp_path)
    wide = {"unowned_ms": 0, "unowned_most_ms": 259_200_000, "unowned_open_ms": 0}
    put(tmp_path, "costs", {**COST, **wide, "group": "g", "pause_ms": 60_000})
    narrow = {"unowned_ms": 20_000, "unowned_most_ms": 30_000, "unowned_open_ms": 0}
    put(tmp_path, "costs", {**COST, **narrow, "group": "h", "pause_ms": 30_000}, day="2026-11-22")
    report = read_report(tmp_path)

    _, figure = figures_of(report)["costs"]

    none, mark = figure["traces"][1], figure["traces"][3]
    axis = figure["layout"]["xaxis"]
    assert axis["range"] == pytest.approx([0, 4.12])
    assert axis["title"]["text"] == "minutes, all queues together"
    assert (none["x"], none["error_x"]["array"]) == (pytest.approx([0, 1 / 3]), pytest.approx([4, 1 / 6]))
    assert (mark["y"], mark["x"], mark["offsetgroup"]) == (["g"], [4], none["offsetgroup"])
    assert mark["customdata"] == ["0 s to 3.0 d"]
    assert "A line with a ▶ at its end goes on beyond the chart" in page(report)


def test_costs_that_are_exact_have_no_line_of_bounds(tmp_path: Path) -> None:
    note(tmp_path)
    put(tmp_path, "costs", {**COST, "group": "g", "unowned_most_ms": 1, "overlap_ms": 9, "overlap_least_ms": 9})

    _, figure = figures_of(read_report(tmp_path))["costs"]

    assert [bar["name"] for bar in figure["traces"]] == ["paused (at least)", "unowned until taken", "two owners"]
    assert not any(bar["error_x"]["visible"] for bar in figure["traces"])


def test_short_pauses_can_be_read_beside_a_long_one(folder: Path) -> None:
    """Pauses span from nothing to hours: by their magnitude, with 0, which has none, at the foot."""
    of = {"group": "slow", "topic": "t", "broker": "b", "queue_id": 0, "from_client": "A", "to_client": "B"}
    pauses = (None, 0, 40, 900, 360_000)
    put(folder, "handoffs", *({**of, "taken_ms": n, "pause_ms": ms} for n, ms in enumerate(pauses)))

    _, figure = figures_of(read_report(folder))["handoffs"]

    (trace,), axis = figure["traces"], figure["layout"]["yaxis"]
    assert trace["y"] == [FOOT_MS, 40, 900, 360_000]
    assert trace["customdata"] == ["0 s", "40 ms", "900 ms", "6.0 min"]
    assert axis["type"] == "log"
    assert (axis["tickvals"][0], axis["ticktext"][0]) == (FOOT_MS, "10 ms or less")
    assert {(1_000, "1 s"), (600_000, "10 min")} < {*zip(axis["tickvals"], axis["ticktext"], strict=True)}
    least, most = (10**at for at in axis["range"])
    assert least < FOOT_MS
    assert 600_000 < most < 750_000


def test_skew_is_drawn_over_days_and_not_of_one_alone(folder: Path, tmp_path: Path) -> None:
    _, figure = figures_of(read_report(folder))["skew"]
    one_day = tmp_path / "one"
    one_day.mkdir()
    note(one_day)
    put(one_day, "costs", {**COST, "group": "slow"})

    assert figure["traces"][0]["x"] == ["2026-11-21", "2026-11-22"]
    assert "skew" not in figures_of(read_report(one_day))
