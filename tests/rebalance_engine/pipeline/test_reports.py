from pathlib import Path

import pyarrow as pa  # type: ignore[import-untyped] # pyarrow has no types
import pyarrow.parquet as pq  # type: ignore[import-untyped] # pyarrow has no types
import pytest

from rebalance_engine.pipeline.notes import read_notes
from rebalance_engine.pipeline.reports import (
    NoReport,
    advice,
    avoided,
    by_group,
    minutes,
    read_backtest,
    read_report,
    summary,
    total,
    twice,
    unowned,
)

COST: dict[str, object] = {
    "rounds": 3, "handoffs": 4, "pause_ms": 90_000, "unowned_ms": 1, "overlap_ms": 0, "refused_pulls": 0,
    "lock_wait_ms": None, "duplicates_least": 2, "duplicates_most": 7, "duplicates_unbounded": 0, "above_fewest": 0,
    "flaps": 0, "max_over_mean": 1.2, "idle_ms": 0, "present_ms": 10,
}  # fmt: skip


BROKER = {
    "isolations": 0, "isolated_ms": 0, "isolated_share": 0.0, "unreachable": 0, "resent": 0, "failed_slowest_ms": None,
    "failed_mean_ms": None, "went_well_slowest_ms": None,
}  # fmt: skip
LOOKED = dict.fromkeys(("holds", "offsets", "sends", "isolations", "heartbeats", "expiries"), 0)


def note(folder: Path, *, cluster: str = "default", is_finished: bool = True, **told: object) -> None:
    """Note a run of a cluster, as it does at its end."""
    notes = read_notes(folder)
    for name, value in {"is_finished": is_finished, **told}.items():
        setattr(notes.of(cluster), name, value)
    notes.save(folder)


def put(folder: Path, table: str, *rows: dict[str, object], day: str = "2026-11-21", cluster: str = "default") -> None:
    place = folder / table / f"cluster={cluster}" / f"day={day}"
    place.mkdir(parents=True)
    pq.write_table(pa.Table.from_pylist(list(rows)), place / "part-0.parquet")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    note(tmp_path)
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
    note(tmp_path, troubles={"x": "empty"}, refused=["no"])
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


@pytest.mark.parametrize(
    ("least", "most", "handoffs", "unbounded", "said"),
    [
        (None, 40, 5, 2, "at most 40 in 3 handoffs, unknown in the rest"),
        (0, 7, 2, 1, "at most 7 in 1 handoff, unknown in the rest"),
        (6, 40, 5, 2, "at least 6, at most 40 in 3 handoffs, unknown in the rest"),
        (6, None, 5, 5, "at least 6"),
        (0, None, 5, 5, "unknown"),
        (None, 40, 5, 0, "0 to 40"),
    ],
)
def test_what_came_twice_is_told_as_far_as_it_is_bounded(
    least: int | None, most: int | None, handoffs: int, unbounded: int, said: str
) -> None:
    row: dict[str, object] = {"duplicates_least": least, "duplicates_most": most, "duplicates_unbounded": unbounded}

    assert twice({**row, "handoffs": handoffs}) == said


def test_a_folder_without_a_finished_run_is_refused(tmp_path: Path) -> None:
    with pytest.raises(NoReport, match="holds no finished run"):
        read_report(tmp_path)


def test_groups_of_equal_name_are_told_by_cluster(folder: Path) -> None:
    note(folder, cluster="7")
    put(folder, "costs", {"group": "slow", **COST, "pause_ms": 5}, cluster="7")
    put(folder, "brokers", {**BROKER, "broker": "east", "resent": 2}, cluster="7")
    put(folder, "heartbeats", {"host": "web1", "failed": 3, "expired": None})
    best = {"is_best": True, "group": "slow"}
    put(folder, "backtest", {**best, "says": "keep"})
    put(folder, "backtest", {**best, "says": "change"}, cluster="7")

    report = read_report(folder)
    told = summary(report)

    paused = {row["group"]: row["pause_ms"] for row in by_group(report.costs)}
    assert paused == {"default: slow": 180_000, "default: <b>quick": 10, "7: slow": 5}
    assert told.startswith("3 groups, ")
    assert "default: slow: 5 rounds" in told
    assert "7: east: isolated" in told
    assert [row["host"] for row in report.heartbeats] == ["default: web1"]
    assert [line.split() for line in advice(read_backtest(folder)).splitlines()[1:]] == [
        ["7:", "slow", "change"],
        ["default:", "slow", "keep"],
    ]


def test_a_back_test_of_one_of_several_clusters_names_it_too(folder: Path) -> None:
    note(folder, cluster="b")
    put(folder, "backtest", {"is_best": True, "group": "slow", "says": "keep"})

    assert [row["group"] for row in read_backtest(folder)] == ["default: slow"]
    assert [row["group"] for row in read_report(folder).backtest] == ["default: slow"]


def test_lines_count_as_unparsed_as_their_file_was_read_last(tmp_path: Path) -> None:
    for batch, parts in ((1, 3), (2, 4), (3, 100)):
        place = tmp_path / "lines" / f"batch={batch:06}" / "cluster=default" / "day=__HIVE_DEFAULT_PARTITION__"
        place.mkdir(parents=True)
        rows = [{"file": "web1/a.log", "parts": parts}, {"file": "web1/b.log", "parts": None if batch == 2 else 1}]
        pq.write_table(pa.Table.from_pylist(rows), place / "part-0.parquet")
    notes = read_notes(tmp_path)
    notes.dead, notes.next_batch = [["web1/a.log", 1]], 3  # the third was cut
    notes.of("default").is_finished = True
    notes.save(tmp_path)

    assert read_report(tmp_path).unparsed == 4 + 1


def test_of_each_cluster_there_is_none_only_where_somebody_would_have_told(folder: Path) -> None:
    note(folder, cluster="b")
    put(folder, "looked", {**LOOKED, "holds": 2, "sends": 1, "isolations": 1})

    told = summary(read_report(folder)).splitlines()

    silent = "no log of a consumer was read"
    assert told[1].startswith("In cluster b: What members held is unknown")
    assert f"Storms: 1; unknown in cluster b: {silent}" in told
    backed = "no log was read of a producer that tells it (Java 5.1 and later)"
    assert f"Brokers that producers backed away from: none; unknown in cluster b: {backed}" in told


def test_a_run_that_has_not_finished_is_said_to_be_so(folder: Path) -> None:
    note(folder, cluster="b", is_finished=False)

    with pytest.raises(NoReport, match=r"the run of cluster b in .* has not finished: .* --cluster=b"):
        read_report(folder)


def test_a_damaged_table_is_named(folder: Path) -> None:
    (file,) = (folder / "storms").glob("**/*.parquet")
    file.write_bytes(file.read_bytes()[:-20])

    with pytest.raises(NoReport, match=r"the table .*/storms cannot be read"):
        read_report(folder)


def test_damaged_notes_are_named(folder: Path) -> None:
    (folder / "_evenkeel.json").write_text("{")

    with pytest.raises(NoReport, match="is damaged"):
        read_report(folder)


def test_a_terminal_obeys_nothing_of_a_log(folder: Path) -> None:
    bell = "a\x1b[2J\x07\nb"
    note(folder, troubles={bell: "empty"}, refused=[bell])
    put(folder, "costs", {"group": bell, **COST}, day="2026-11-23")
    put(folder, "storms", {"group": bell, "at_ms": 0, "until_ms": 9, "rounds": 5, "starter": bell, "cause": "x"},
        day="2026-11-23")  # fmt: skip
    put(folder, "backtest", {"is_best": True, "group": bell, "says": "keep"})

    told = summary(read_report(folder))

    assert told.count(r"a\x1b[2J\x07\nb") == 6
    assert "".join(told.split("\n")).isprintable()


def test_a_broker_that_nobody_left_out_for_any_time_was_not_backed_away_from() -> None:
    timed: list[dict[str, object]] = [
        {**BROKER, "broker": "none", "isolations": 1},
        {**BROKER, "broker": "two seconds", "isolations": 1, "isolated_ms": 2_000},
        {**BROKER, "broker": "nobody knows how long", "isolations": 1, "isolated_ms": None},
    ]

    assert [row["broker"] for row in avoided(timed)] == ["two seconds", "nobody knows how long"]
