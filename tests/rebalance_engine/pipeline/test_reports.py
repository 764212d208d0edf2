import json
from pathlib import Path

import pyarrow as pa  # type: ignore[import-untyped] # pyarrow has no types
import pyarrow.parquet as pq  # type: ignore[import-untyped] # pyarrow has no types
import pytest

from rebalance_engine.pipeline.reports import NoReport, by_group, minutes, read_report, summary, total, twice, unowned

COST: dict[str, object] = {
    "rounds": 3, "handoffs": 4, "pause_ms": 90_000, "unowned_ms": 1, "overlap_ms": 0, "refused_pulls": 0,
    "lock_wait_ms": None, "duplicates_least": 2, "duplicates_most": 7, "duplicates_unbounded": 0, "above_fewest": 0,
    "flaps": 0, "max_over_mean": 1.2, "idle_ms": 0, "present_ms": 10,
}  # fmt: skip


LOOKED = dict.fromkeys(("holds", "offsets", "sends", "isolations", "heartbeats", "expiries"), 0)


def put(folder: Path, table: str, *rows: dict[str, object], day: str = "2026-11-21") -> None:
    place = folder / table / "cluster=default" / f"day={day}"
    place.mkdir(parents=True)
    pq.write_table(pa.Table.from_pylist(list(rows)), place / "part-0.parquet")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "_evenkeel.json").write_text(json.dumps({"version": 1}))
    put(
        tmp_path,
        "costs",
        {"group": "slow", **COST, "overlap_ms": 4_100, "overlap_stopping_ms": 2_500},
        {"group": "<b>quick", **COST, "overlap_ms": 2_000, "pause_ms": 10, "duplicates_least": None},
    )
    put(
        tmp_path,
        "costs",
        {"group": "slow", **COST, "duplicates_most": None, "duplicates_unbounded": 1},
        day="2026-11-22",
    )
    storm = {
        "group": "slow",
        "at_ms": 0,
        "until_ms": 9,
        "rounds": 5,
        "starter": "A",
        "cause": "member joined",
        "pause_ms": 1,
    }
    put(tmp_path, "storms", storm)
    return tmp_path


def test_days_are_summed_and_the_worst_group_comes_first(folder: Path) -> None:
    rows = by_group(read_report(folder).costs)

    assert [(row["group"], row["pause_ms"], row["rounds"]) for row in rows] == [
        ("slow", 180_000, 6),
        ("<b>quick", 10, 3),
    ]


def test_the_summary_tells_groups_storms_and_brokers(folder: Path) -> None:
    told = summary(read_report(folder))

    assert "slow" in told
    assert "paused 3.0 min at least" in told
    assert "overlap 1.6 s, and 2.5 s while one shut down" in told
    assert "overlap 2.0 s, " in told
    assert "twice: at least 4" in told
    assert "1970-01-01 00:00:00 UTC  slow: 5 rounds, begun by A (member joined)" in told
    assert "Brokers that producers backed away from: unknown: no log was read of a producer" in told


def test_there_is_none_only_where_somebody_would_have_told(folder: Path) -> None:
    put(folder, "looked", {**LOOKED, "sends": 2, "isolations": 1})
    healthy = {"isolations": 0, "isolated_ms": 0, "isolated_share": 0.0, "unreachable": 0, "resent": 0}
    put(folder, "brokers", {"broker": "east", **healthy, "went_well_slowest_ms": 9})

    assert "Brokers that producers backed away from: none" in summary(read_report(folder))


def test_a_folder_in_which_no_consumer_speaks_tells_nothing_about_holds(tmp_path: Path) -> None:
    (tmp_path / "_evenkeel.json").write_text(json.dumps({"version": 1, "troubles": {"x": "empty"}, "refused": ["no"]}))
    (tmp_path / "costs").mkdir()
    put(tmp_path, "looked", {**LOOKED, "expiries": 2})

    told = summary(read_report(tmp_path))

    assert told.startswith("What members held is unknown, and so are rounds and handoffs")
    assert "Storms: unknown: no log of a consumer was read" in told
    assert "1 files were read in part, or not:\n  x: empty\nno\n" in told


def test_unowned_time_says_what_is_not_known_of_it_and_what_has_not_ended() -> None:
    known: dict[str, object] = {"unowned_ms": 4_000, "unowned_most_ms": 4_000, "unowned_open_ms": 0}

    assert unowned(known) == "4.0 s"
    assert unowned({**known, "unowned_open_ms": 3_000}) == "4.0 s, of it 3.0 s of queues that nobody has taken since"
    assert unowned({**known, "unowned_most_ms": 9_000}) == "4.0 s to 9.0 s"


def test_what_is_unknown_is_called_so() -> None:
    assert minutes(None) == "unknown"
    assert total([{"x": None}], "x") is None
    assert twice({"duplicates_least": None, "duplicates_most": None, "duplicates_unbounded": 1}) == "unknown"
    assert twice({"duplicates_least": 1, "duplicates_most": 4, "duplicates_unbounded": 0}) == "1 to 4"


def test_a_folder_without_a_finished_run_is_refused(tmp_path: Path) -> None:
    with pytest.raises(NoReport, match="holds no finished run"):
        read_report(tmp_path)
