"""A back-test that was run before what was read last says so, until it is run again."""

from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from rebalance_engine.pipeline.jobs import Asked, run_backtest, run_logs
from rebalance_engine.pipeline.notes import read_notes
from rebalance_engine.pipeline.page import page
from rebalance_engine.pipeline.progress import Progress
from rebalance_engine.pipeline.reports import read_report
from rebalance_engine.pipeline.sources import find_files
from rebalance_engine.pipeline.summary import summary
from tests.rebalance_engine.pipeline.frames import MIDNIGHT_MS, QUEUE, added, java5, removed, result
from tests.rebalance_engine.pipeline.test_reports import COST, note, put

BEST: dict[str, object] = {"group": "g", "strategy": "AVG", "handoffs": 0, "pause_ms": None, "mean_skew": 1.0,
                           "idle": 0.0, "is_best": True, "says": "keep AVG"}  # fmt: skip


@pytest.mark.spark
@pytest.mark.slow
def test_a_back_test_is_out_of_date_from_the_next_run_that_reads_more_until_it_is_run_again(
    spark: SparkSession, tmp_path: Path
) -> None:
    source, target = tmp_path / "in", tmp_path / "out"
    log, queue = source / "web1" / "a.log", QUEUE.format("east", 0)
    log.parent.mkdir(parents=True)

    def say(_: str) -> None:
        """Progress is nobody's."""

    def read(lines: list[str]) -> list[str]:
        with log.open("a") as file:
            file.writelines(lines)
        known = read_notes(target).of("default")
        fresh = [file for file in find_files(source) if known.is_fresh(file)]
        run_logs(spark, Asked(source=source, target=target), fresh, Progress(say))
        return said()

    def test(at_ms: int) -> list[str]:
        run_backtest(spark, Asked(source=target, target=target, at_ms=at_ms), [], Progress(say))
        return said()

    def said() -> list[str]:
        return [one.partition(";")[0] for one in read_report(target).outdated]

    took = [java5(1, added("g", queue)), java5(1, result("g", "A", [queue]))]
    let_go = [java5(60, removed("g", queue)), java5(60, result("g", "A", []))]

    told = [read(took), test(MIDNIGHT_MS), read([]), read(let_go), test(MIDNIGHT_MS + 60_000)]

    before = "the back-test is of 2026-11-21 00:00:00 UTC, before what was read since"
    assert told == [[], [], [], [before], []]


def test_summary_and_page_say_which_back_test_is_out_of_date_and_how_it_is_run_again(tmp_path: Path) -> None:
    for cluster in ("default", "east"):
        note(tmp_path, cluster=cluster, tested_ms=MIDNIGHT_MS, tested=read_notes(tmp_path).record_of(cluster))
        put(tmp_path, "costs", {**COST, "group": "g"}, cluster=cluster)
        put(tmp_path, "backtest", BEST, cluster=cluster)
    fresh = read_report(tmp_path)
    notes = read_notes(tmp_path)
    notes.partitions["rounds"] = {"default/2026-11-21": "1", "east-2/2026-11-21": "1"}
    notes.save(tmp_path)

    report = read_report(tmp_path)

    again = f"python -m rebalance_engine.pipeline backtest --in {tmp_path} --out {tmp_path}"
    sentence = "back-test of cluster default is of 2026-11-21 00:00:00 UTC, before what was read since; run it again: "
    assert fresh.outdated == []
    assert report.outdated == [f"the {sentence}{again}"]
    assert " ".join(summary(report).split()).endswith(f"The {sentence}{again}")
    assert f"The {sentence}" in page(report)
    assert "before what was read since" not in summary(fresh) + page(fresh)


def test_of_a_back_test_of_an_earlier_version_it_is_unknown_when_it_was_run(tmp_path: Path) -> None:
    note(tmp_path, cluster="east")
    put(tmp_path, "backtest", BEST, cluster="east")

    (said,) = read_report(tmp_path).outdated

    assert said.startswith("the back-test may be of before what was read since; run it again: ")
    assert said.endswith(" --cluster=east")
