"""Whole jobs over the recorded runs: what the logs tell is what truly happened."""

from collections import defaultdict
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

from rebalance_engine.pipeline.jobs import Asked, run_logs
from rebalance_engine.pipeline.reports import read_table
from rebalance_engine.pipeline.sources import find_files
from tests.rebalance_engine.pipeline.frames import QUEUE, added, java4, java5, removed, result
from tests.rebalance_engine.pipeline.runs import NAMES, OTHER_SHAPES, as_holds, late_looks, logs, true_holds, truth

pytestmark = [pytest.mark.spark, pytest.mark.slow]
WITHIN_MS = 250


def ignore(line: str) -> None:
    assert line


@pytest.mark.parametrize("name", [*NAMES, *OTHER_SHAPES])
def test_every_take_and_release_of_a_real_run_is_told_and_none_more(
    spark: SparkSession, tmp_path: Path, name: str
) -> None:
    told = run_logs(spark, Asked(source=logs(name), target=tmp_path), find_files(logs(name)), ignore)

    found, true = as_holds(spark.read.parquet(str(tmp_path / "holds")).collect()), true_holds(name)
    assert {key: [ended for _, _, ended in spans] for key, spans in found.items()} == {
        key: [ended for _, _, ended in spans] for key, spans in true.items()
    }
    late = late_looks(name)
    apart = [
        (key, seen, real)
        for key in true
        for seen, real in zip(found[key], true[key], strict=True)
        if not real[0] - late.get((key[0], key[4], real[0]), 0) - WITHIN_MS <= seen[0] <= real[0] + WITHIN_MS
        or abs(seen[1] - real[1]) > WITHIN_MS
    ]
    assert apart == []
    assert (told.refused, told.unparsed) == ([], 0)
    handoffs = spark.read.parquet(str(tmp_path / "handoffs")).collect()
    returns = read_table(tmp_path / "returns")
    assert handoffs_that_differ(handoffs, name) == []
    assert duplicates_under_reported([*(row.asDict() for row in handoffs), *returns], name) == []


def handoffs_that_differ(rows: Iterable[Any], name: str) -> list[Any]:
    """Compare by queue and both clients, in the order of time."""
    found: dict[Any, list[tuple[int, ...]]] = defaultdict(list)
    true: dict[Any, list[tuple[int, ...]]] = defaultdict(list)
    for row in sorted(rows, key=lambda row: row["taken_ms"]):
        queue = f"{row['topic']}/{row['broker']}/{row['queue_id']}"
        times = (row["released_ms"], row["taken_ms"], row["unowned_ms"], row["overlap_ms"])
        found[row["group"], queue, row["from_client"], row["to_client"]].append(times)
    told, late = truth(name), late_looks(name)
    ids = told["client_ids"]
    for one in told["handoffs"]:
        within = WITHIN_MS + late.get((one["group"], ids[one["to"]], one["taken"]), 0)
        real = (one["released"], one["taken"], one["unowned_ms"], one["overlap_ms"], within)
        if ids[one["from"]] != ids[one["to"]]:  # a process that took its own queue back is no handoff
            true[one["group"], one["queue"], ids[one["from"]], ids[one["to"]]].append(real)
    return [
        (key, found[key], true[key])
        for key in found.keys() | true.keys()
        if len(found[key]) != len(true[key])
        or any(
            abs(a - b) > within
            for seen, (*those, within) in zip(found[key], true[key], strict=True)
            for a, b in zip(seen, those, strict=True)
        )
    ]


def duplicates_under_reported(rows: Iterable[dict[str, Any]], name: str) -> list[Any]:
    """Name the queues of which more was consumed twice than all their bounds together allow."""
    most = defaultdict(list)
    for row in rows:
        most[row["group"], f"{row['topic']}/{row['broker']}/{row['queue_id']}"].append(row["duplicates_most"])
    true = {(one["group"], one["queue"]): one["count"] for one in truth(name)["duplicates"]}
    return [(key, count) for key, count in true.items() if None not in most[key] and sum(most[key]) < count]


def test_late_input_changes_its_days_only_and_a_repeated_run_nothing(spark: SparkSession, tmp_path: Path) -> None:
    source, target = tmp_path / "in", tmp_path / "out"
    queue, other = QUEUE.format("east", 0), QUEUE.format("west", 1)
    for day, host in ((0, "web1"), (5, "web2")):
        second = day * 86_400 + 100
        (source / host).mkdir(parents=True)
        text = [
            java5(second, added("g", queue)),
            java5(second + 1, result("g", host, [queue])),
            java5(second + 9, removed("g", queue)),
        ]
        (source / host / "a.log").write_text("".join(text))

    def run() -> dict[str, list[str]]:
        fresh = (
            find_files(source)
            if not (target / "_evenkeel.json").exists()
            else [file for file in find_files(source) if file.host == "late"]
        )
        return run_logs(spark, Asked(source=source, target=target), fresh, ignore).changed

    first, second_time = run(), run()
    (source / "late").mkdir()
    text = [java5(500, added("g", other)), java5(501, result("g", "late", [other])), java5(509, removed("g", other))]
    (source / "late" / "a.log").write_text("".join(text))
    late = run()

    assert first["holds"] == ["default/2026-11-21", "default/2026-11-26"]
    assert all(changed == [] for changed in second_time.values())
    assert late["holds"] == late["events"] == ["default/2026-11-21"]


def test_a_host_whose_zone_nobody_tells_is_refused_by_name_until_it_is_given(
    spark: SparkSession, tmp_path: Path
) -> None:
    source, target = tmp_path / "in", tmp_path / "out"
    queue = QUEUE.format("east", 0)
    (source / "web1").mkdir(parents=True)
    lines = [java4(1, added("g", queue), zone_hours=5.5), java4(2, result("g", "A", [queue]), zone_hours=5.5)]
    (source / "web1" / "a.log").write_text("".join(lines), newline="")

    refused = run_logs(spark, Asked(source=source, target=target), find_files(source), ignore)
    before = spark.read.parquet(str(target / "holds")).count()
    given = run_logs(spark, Asked(source=source, target=target, zones={"web1": "+05:30"}), [], ignore)
    after = spark.read.parquet(str(target / "holds")).collect()

    assert refused.misses_holds
    assert "refused: 2 lines of web1 (java4)" in refused.refused[0]
    assert "--zone web1=" in refused.refused[0]
    assert before == 0
    assert (given.refused, len(after)) == ([], 1)


def test_an_empty_folder_gives_an_empty_table(spark: SparkSession, tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()

    run_logs(spark, Asked(source=tmp_path / "in", target=tmp_path / "out"), [], ignore)

    assert spark.read.parquet(str(tmp_path / "out" / "holds")).count() == 0
