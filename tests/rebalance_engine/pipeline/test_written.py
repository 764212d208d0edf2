"""What the simulator made happen is recovered from logs in the formats of all clients."""

from functools import reduce
from typing import Any

import pytest
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812 - the name that PySpark's own documentation uses

from rebalance_engine.pipeline import zones
from rebalance_engine.pipeline.holds import holds_of
from tests.rebalance_engine.pipeline.frames import holds_from, read_lines
from tests.rebalance_engine.pipeline.runs import as_holds
from tests.rebalance_engine.pipeline.written import Logs, play

pytestmark = [pytest.mark.spark]
SCENARIO = """
seed 7
broker east 5.5.0
broker west 5.5.0
topic orders 4
group AVG concurrent
listener 5..40 fails 0
latency 1..12
producer P 5.5.0 every 500
sends until 100000
0 start A {profile}
20000 start B {profile}
40000 start C {profile}
60000 stop B
75000 kill C
95000 start D {profile}
ends at 120000
"""
PROFILES = {"java5": "java-5.5.0", "java4": "java-4.9.7", "cpp": "cpp", "go": "go"}
RESOLUTION_MS = {"java5": 1, "java4": 1, "cpp": 1, "go": 1000}
UNSAID_MS = 2_500  # where no line of the client tells an end, a broker's second and its noticing do


@pytest.fixture(scope="module")
def told(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> dict[str, tuple[Logs, list[Any]]]:
    """Give, by layout, what was written and what holds are told; each is a cluster with hosts of its own, in one go."""
    place, written, frames = tmp_path_factory.mktemp("written"), {}, []
    for layout, profile in PROFILES.items():
        written[layout] = Logs(place / layout, dict.fromkeys("ABCD", layout), prefix=f"{layout}-")
        written[layout].write(play(SCENARIO.format(profile=profile)))
        frames.append(read_lines(spark, place / layout, layout))
    found = reduce(DataFrame.unionByName, frames).localCheckpoint()
    # C++ lines do not tell when a member joined: the zone of its hosts is given.
    given = spark.createDataFrame(zones.given_zones({f"cpp-{client}": "+00:00" for client in "ABCD"}), zones.ZONES)
    inferred = zones.infer_zones(found).where(F.col("layout") != "cpp")
    spans: dict[str, list[Any]] = {layout: [] for layout in PROFILES}
    for row in holds_of(holds_from(found, inferred.unionByName(given).localCheckpoint())).collect():
        spans[row["cluster"]].append(row)
    return {layout: (written[layout], spans[layout]) for layout in PROFILES}


@pytest.mark.parametrize("layout", PROFILES)
def test_what_was_simulated_is_recovered_whole(told: dict[str, tuple[Logs, list[Any]]], layout: str) -> None:
    logs, rows = told[layout]
    found = as_holds(rows)

    ended = {key: sorted(spans) for key, spans in logs.truth.items()}
    for (client, queue), since in logs.since.items():
        ended.setdefault(("g", *queue, client), []).append((since, 0, "open"))
    assert {key: len(spans) for key, spans in found.items()} == {key: len(spans) for key, spans in ended.items()}
    for key, spans in ended.items():
        for seen, true in zip(found[key], sorted(spans), strict=True):
            assert abs(seen[0] - true[0]) <= RESOLUTION_MS[layout], (key, seen, true)
            if true[2] == "released":
                assert seen[2] == "released"
                assert abs(seen[1] - true[1]) <= RESOLUTION_MS[layout], (key, seen, true)
            elif true[2] != "open":
                assert abs(seen[1] - true[1]) <= UNSAID_MS, (key, seen, true)
