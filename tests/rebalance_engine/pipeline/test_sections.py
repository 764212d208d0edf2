import json
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from rebalance_engine.pipeline import reports, schemas, sections
from rebalance_engine.pipeline.reports import read_report
from rebalance_engine.pipeline.sections import WHOLE, reports_of
from tests.rebalance_engine.pipeline.test_measures import frame, handoff
from tests.rebalance_engine.pipeline.test_reports import note

pytestmark = pytest.mark.spark


def test_all_that_is_told_is_in_one_table_and_what_is_unknown_stays_so(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sections, "MOST_HANDOFFS", 2)
    told: dict[str, dict[str, object]] = {"costs": {"rounds": 3, "max_over_mean": 1.5}, "waves": {"left": ["a", "b"]}}
    tables = {name: frame(spark, schema, told.get(name, {})) for name, schema in WHOLE.items()}
    moved = [handoff(1_000 * number, "A", "B", pause_ms=ms) for number, ms in enumerate((5, None, 9, 5))]
    rounds = frame(spark, schemas.ROUNDS, {"number": 1}, {"number": 2})

    found = reports_of(tables, rounds, frame(spark, schemas.HANDOFFS, *moved))
    found.write.partitionBy("cluster", "day").parquet(str(tmp_path / "reports"))
    note(tmp_path)
    report = read_report(tmp_path)

    assert found.schema.names == schemas.REPORTS.names
    assert (report.costs[0]["rounds"], report.costs[0]["max_over_mean"], report.costs[0]["pause_ms"]) == (3, 1.5, None)
    assert report.waves[0]["left"] == ["a", "b"]
    assert report.costs[0].keys() == {*schemas.COSTS.names}
    assert [row["taken_ms"] for row in report.handoffs] == [0, 2_000]
    assert (report.round_count, report.handoff_count) == (2, 4)
    assert all(json.loads(row["body"]) for row in found.collect())


def test_readers_know_the_sections() -> None:
    assert tuple(WHOLE) == reports.WHOLE
