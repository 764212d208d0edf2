import shutil
from dataclasses import replace
from pathlib import Path

import pyarrow.parquet as pq  # type: ignore[import-untyped] # pyarrow has no types
import pytest
from pyspark.sql import DataFrame, SparkSession

from rebalance_engine.pipeline.notes import read_notes
from rebalance_engine.pipeline.schemas import FILED_HOLDS, HOLDS, LINES
from rebalance_engine.pipeline.sources import SourceFile, find_files
from rebalance_engine.pipeline.store import Busy, Store, alone_in


def holds(spark: SparkSession, *rows: tuple[str, int]) -> DataFrame:
    whole = [("default", day, "g", "orders", "east", number, "A", number, number + 1, "open") for day, number in rows]
    return spark.createDataFrame(whole, FILED_HOLDS)


def stamps(folder: Path) -> dict[str, int]:
    return {path.name: path.stat().st_mtime_ns for path in folder.glob("*.parquet")}


@pytest.mark.spark
def test_holds_lie_flat_with_exactly_their_columns(spark: SparkSession, tmp_path: Path) -> None:
    Store(tmp_path, spark).publish("holds", holds(spark, ("2026-11-21", 1), ("2026-11-22", 2)), cluster="default")

    table = pq.read_table(tmp_path / "holds")

    assert table.column_names == HOLDS.names
    assert sorted(table["from_ms"].to_pylist()) == [1, 2]
    assert spark.read.parquet(str(tmp_path / "holds")).columns == HOLDS.names


@pytest.mark.spark
def test_only_partitions_that_differ_are_written(spark: SparkSession, tmp_path: Path) -> None:
    store = Store(tmp_path, spark)
    store.publish("holds", holds(spark, ("2026-11-21", 1), ("2026-11-22", 2)), cluster="default")
    before = stamps(tmp_path / "holds")

    same = store.publish("holds", holds(spark, ("2026-11-22", 2), ("2026-11-21", 1)), cluster="default")
    late = Store(tmp_path, spark).publish(
        "holds", holds(spark, ("2026-11-21", 1), ("2026-11-22", 2), ("2026-11-22", 3)), cluster="default"
    )

    after = stamps(tmp_path / "holds")
    assert (same, late) == (set(), {"default/2026-11-22"})
    assert before["default.2026-11-21.parquet"] == after["default.2026-11-21.parquet"]
    assert before["default.2026-11-22.parquet"] != after["default.2026-11-22.parquet"]


@pytest.mark.spark
def test_a_partition_that_is_no_more_goes_and_other_clusters_stay(spark: SparkSession, tmp_path: Path) -> None:
    store = Store(tmp_path, spark)
    other = holds(spark, ("2026-11-21", 9)).replace("default", "east")
    store.publish("holds", other, cluster="east")
    store.publish("holds", holds(spark, ("2026-11-21", 1)), cluster="default")

    store.publish("holds", holds(spark), cluster="default")

    assert pq.read_table(tmp_path / "holds")["from_ms"].to_pylist() == [9]


@pytest.mark.spark
def test_a_table_without_rows_still_tells_its_columns(spark: SparkSession, tmp_path: Path) -> None:
    Store(tmp_path, spark).publish("holds", holds(spark), cluster="default")

    assert pq.read_table(tmp_path / "holds").column_names == HOLDS.names
    assert pq.read_table(tmp_path / "holds").num_rows == 0


@pytest.mark.spark
def test_a_log_that_grew_is_read_again_and_one_that_was_rolled_stays(spark: SparkSession, tmp_path: Path) -> None:
    store = Store(tmp_path, spark)

    def lines(*messages: str) -> DataFrame:
        rows = [
            ("default", "2026-11-21", "a.log", "a", "java5", n, n, "added", "1", "t", m, None)
            for n, m in enumerate(messages)
        ]
        return spark.createDataFrame(rows, LINES)

    def file(fingerprint: str, head: str) -> SourceFile:
        return SourceFile("a.log", "a", None, 1, fingerprint, head)

    store.add_lines(lines("on"), [file("0", "mon")])
    store.add_lines(lines("one"), [file("1", "monday")])
    store.add_lines(lines("one", "two"), [file("2", "monday")])
    store.add_lines(lines("three"), [file("3", "tuesday")])

    again = Store(tmp_path, spark)
    assert sorted(row["message"] for row in again.lines(LINES).collect()) == ["one", "three", "two"]
    assert again.days_of_batches([1, 2, 3]) == {"2026-11-21"}


@pytest.mark.spark
def test_what_was_read_of_a_file_that_went_away_meanwhile_counts_for_nothing(
    spark: SparkSession, tmp_path: Path
) -> None:
    store, files = Store(tmp_path, spark), [SourceFile(f"{n}.log", n, None, 1, n, n, content=n) for n in ("a", "b")]
    rows = [
        ("default", "2026-11-21", file.path, file.host, "java5", 0, 0, "added", "1", "t", "m", None) for file in files
    ]

    store.add_lines(spark.createDataFrame(rows, LINES), files, lambda: ["a.log"])

    assert [row["file"] for row in Store(tmp_path, spark).lines(LINES).collect()] == ["b.log"]
    assert [read_notes(tmp_path).of("default").is_fresh(file) for file in files] == [True, False]


@pytest.mark.spark
def test_a_batch_of_which_no_line_counts_any_more_is_removed_and_no_other(spark: SparkSession, tmp_path: Path) -> None:
    store, batches = Store(tmp_path, spark), tmp_path / "lines"

    def add(*files: tuple[str, str]) -> None:
        rows = [
            ("default", "2026-11-21", path, "a", "java5", 0, 0, "added", "1", text, "m", None) for path, text in files
        ]
        sources = [SourceFile(path, "a", None, 1, text, text[:2], content=text) for path, text in files]
        store.add_lines(spark.createDataFrame(rows, LINES), sources)

    add(("a.log", "mo"), ("b.log", "mo"))
    add(("a.log", "mon"))  # b.log of the first one still counts
    add(("a.log", "mond"))
    before = sorted(row["thread"] for row in store.lines(LINES).collect())
    store.remove_dead_lines()

    assert sorted(place.name for place in batches.iterdir()) == ["batch=000001", "batch=000003"]
    again = Store(tmp_path, spark)
    assert sorted(row["thread"] for row in again.lines(LINES).collect()) == before
    assert again.notes.dead == [["a.log", 1]]


@pytest.mark.spark
def test_a_batch_that_was_being_removed_when_a_run_was_stopped_is_removed_by_the_next(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = Store(tmp_path, spark)
    for text in ("mo", "mon"):
        row = ("default", "2026-11-21", "a.log", "a", "java5", 0, 0, "added", "1", text, "m", None)
        file = SourceFile("a.log", "a", None, 1, text, "mo", content=text)
        store.add_lines(spark.createDataFrame([row], LINES), [file])

    def stopped(place: Path) -> None:
        next(place.glob("**/*.parquet")).unlink()
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(shutil, "rmtree", stopped)
        with pytest.raises(KeyboardInterrupt):
            store.remove_dead_lines()
    again = Store(tmp_path, spark)
    assert again.lines(LINES).count() == 1
    again.remove_dead_lines()

    assert [place.name for place in (tmp_path / "lines").iterdir()] == ["batch=000002"]
    assert Store(tmp_path, spark).lines(LINES).count() == 1
    assert (again.notes.dead, again.notes.living) == ([], {"2": ["a.log"]})


@pytest.mark.spark
def test_the_same_logs_are_read_for_each_cluster(spark: SparkSession, tmp_path: Path) -> None:
    file = SourceFile("a.log", "a", None, 1, "1", "monday", content="1")

    def lines(cluster: str) -> DataFrame:
        row = (cluster, "2026-11-21", "a.log", "a", "java5", 0, 0, "added", "1", "t", "m", None)
        return spark.createDataFrame([row], LINES)

    Store(tmp_path, spark).add_lines(lines("default"), [file])
    notes = read_notes(tmp_path)
    Store(tmp_path, spark, "b").add_lines(lines("b"), [file])

    assert [notes.of(cluster).is_fresh(file) for cluster in ("default", "b")] == [False, True]
    assert [row["cluster"] for row in Store(tmp_path, spark, "b").lines(LINES).collect()] == ["b"]
    assert Store(tmp_path, spark).lines(LINES).count() == 1


@pytest.mark.spark
def test_a_log_that_is_rolled_further_is_not_read_again(spark: SparkSession, tmp_path: Path) -> None:
    """Rolling gives every file the name of the next older one."""
    store, nothing = Store(tmp_path / "out", spark), spark.createDataFrame([], LINES)
    older, newer, newest = (f"2026-11-21 0{n}:00:00.000 INFO  [1] [t] [o.X#?:?] - {n}\n" * 9 for n in (1, 2, 3))

    def rolled(*texts: str) -> list[SourceFile]:
        for number, text in enumerate(texts, 1):
            path = tmp_path / "in" / "web1" / "other_days" / f"rocketmq_client-{number}.log"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        return find_files(tmp_path / "in")

    store.add_lines(nothing, rolled(newer, older))
    notes, now = read_notes(store.folder).of("default"), rolled(newest, newer, older)
    other_host = replace(now[1], path="web2/other_days/rocketmq_client-2.log", host="web2")

    assert [file.path for file in now if notes.is_fresh(file)] == ["web1/other_days/rocketmq_client-1.log"]
    assert notes.is_fresh(other_host)


def test_one_run_at_a_time_is_at_work_in_a_folder(tmp_path: Path) -> None:
    with alone_in(tmp_path / "out"), pytest.raises(Busy, match="one at a time"), alone_in(tmp_path / "out"):
        pass

    with alone_in(tmp_path / "out"):
        assert (tmp_path / "out").is_dir()


def test_a_run_that_is_refused_leaves_what_the_one_at_work_has_staged(tmp_path: Path) -> None:
    staged = tmp_path / "out" / ".staged" / "lines"

    with alone_in(tmp_path / "out"):
        staged.mkdir(parents=True)
        with pytest.raises(Busy), alone_in(tmp_path / "out"):
            pass
        is_left = staged.is_dir()

    assert is_left
    assert not (tmp_path / "out").exists()
