import json
from pathlib import Path

import pyarrow as pa  # type: ignore[import-untyped] # pyarrow has no types
import pyarrow.parquet as pq  # type: ignore[import-untyped] # pyarrow has no types
import pytest

from rebalance_engine.pipeline import reports
from rebalance_engine.pipeline.notes import read_notes
from rebalance_engine.pipeline.reports import (
    LONGEST,
    REPORTS,
    TOTALS,
    WHOLE,
    NoReport,
    avoided,
    by_group,
    read_backtest,
    read_report,
)
from rebalance_engine.pipeline.summary import summary

COST: dict[str, object] = {
    "rounds": 3, "handoffs": 4, "pause_ms": 90_000, "unowned_ms": 1, "overlap_ms": 0, "refused_pulls": 0,
    "lock_wait_ms": None, "duplicates_least": 2, "duplicates_most": 7, "duplicates_unbounded": 0, "above_fewest": 0,
    "flaps": 0, "max_over_mean": 1.2, "idle_ms": 0, "present_ms": 10,
}  # fmt: skip


BROKER = {
    "isolations": 0, "isolated_ms": 0, "isolated_share": 0.0, "unreachable": 0, "resent": 0, "failed_slowest_ms": None,
    "failed_mean_ms": None, "went_well_slowest_ms": None,
}  # fmt: skip
HANDOFF = {
    "topic": "t", "broker": "b", "queue_id": 0, "from_client": "A", "to_client": "B", "taken_ms": 0, "pause_ms": 1,
}  # fmt: skip
LOOKED = dict.fromkeys(("holds", "offsets", "sends", "isolations", "heartbeats", "expiries"), 0)


def note(folder: Path, *, cluster: str = "default", is_finished: bool = True, **told: object) -> None:
    """Note a run of a cluster, as it does at its end."""
    notes = read_notes(folder)
    for name, value in {"is_finished": is_finished, **told}.items():
        setattr(notes.of(cluster), name, value)
    notes.save(folder)


def put(folder: Path, table: str, *rows: dict[str, object], day: str = "2026-11-21", cluster: str = "default") -> None:
    """Write rows of a table, or of a section of what reports are made from, as the pipeline does."""
    if table not in (*WHOLE, LONGEST, "rounds"):
        write(folder / table, list(rows), "0", day, cluster)
        return
    told = [(table, row) for row in rows if table != "rounds"]
    if table in (LONGEST, "rounds"):
        told.append((TOTALS, {"rounds": 0, "handoffs": 0, table: len(rows)}))
    bodies: list[dict[str, object]] = [{"section": section, "body": json.dumps(row)} for section, row in told]
    write(folder / REPORTS, bodies, table, day, cluster)


def write(table: Path, rows: list[dict[str, object]], name: str, day: str, cluster: str) -> None:
    place = table / f"cluster={cluster}" / f"day={day}"
    place.mkdir(parents=True, exist_ok=True)
    pq.write_table(pa.Table.from_pylist(rows), place / f"part-{name}.parquet")


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


def test_a_folder_without_a_finished_run_is_refused(tmp_path: Path) -> None:
    with pytest.raises(NoReport, match="holds no finished run"):
        read_report(tmp_path)


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


def test_a_run_that_has_not_finished_is_said_to_be_so(folder: Path) -> None:
    note(folder, is_finished=False)

    with pytest.raises(NoReport, match=r"the run of cluster default in .* has not finished: .* --cluster=default"):
        read_report(folder)


def test_a_cluster_whose_run_has_not_finished_is_left_out_with_a_word_and_the_others_are_told(folder: Path) -> None:
    note(folder, cluster="b", is_finished=False, troubles={"web9/a.log": "cut"})
    put(folder, "costs", {"group": "half", **COST}, cluster="b")
    put(folder, "handoffs", {**HANDOFF, "group": "half"}, cluster="b")
    broken = folder / REPORTS / "cluster=b" / "day=2026-11-21"
    (broken / "part-0.parquet").write_bytes(b"half")

    report = read_report(folder)

    assert {row["group"] for row in report.costs} == {"default: slow", "default: <b>quick"}
    assert (report.clusters, report.handoff_count, report.troubles) == (["default"], 0, {})
    assert "left out: the run of cluster b in " in " ".join(summary(report).split())  # a long folder begins a line


def test_a_damaged_table_is_named(folder: Path) -> None:
    (file,) = (folder / REPORTS).glob("**/part-storms.parquet")
    file.write_bytes(file.read_bytes()[:-20])

    with pytest.raises(NoReport, match=r"the table .*/reports cannot be read"):
        read_report(folder)


def test_damaged_notes_are_named(folder: Path) -> None:
    (folder / "_evenkeel.json").write_text("{")

    with pytest.raises(NoReport, match="is damaged"):
        read_report(folder)


def test_a_broker_that_nobody_left_out_for_any_time_was_not_backed_away_from() -> None:
    timed: list[dict[str, object]] = [
        {**BROKER, "broker": "none", "isolations": 1},
        {**BROKER, "broker": "two seconds", "isolations": 1, "isolated_ms": 2_000},
        {**BROKER, "broker": "nobody knows how long", "isolations": 1, "isolated_ms": None},
    ]

    assert [row["broker"] for row in avoided(timed)] == ["two seconds", "nobody knows how long"]


def test_a_folder_of_an_earlier_version_is_brought_up_to_date_first(tmp_path: Path) -> None:
    note(tmp_path)
    write(tmp_path / "costs", [{"group": "slow", **COST}], "0", "2026-11-21", "default")

    with pytest.raises(NoReport, match="written by an earlier version; bring it up to date: python -m"):
        read_report(tmp_path)


def test_of_handoffs_the_longest_are_read_by_time_and_all_are_counted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reports, "MOST_HANDOFFS", 2)
    note(tmp_path)
    for day, pauses in (("2026-11-21", (5, None, 9)), ("2026-11-22", (7,))):
        rows = ({**HANDOFF, "group": "g", "pause_ms": ms, "taken_ms": 10 - (ms or 0)} for ms in pauses)
        put(tmp_path, "handoffs", *rows, day=day)

    report = read_report(tmp_path)

    assert [(row["day"], row["pause_ms"]) for row in report.handoffs] == [("2026-11-21", 9), ("2026-11-22", 7)]
    assert report.handoff_count == 4
