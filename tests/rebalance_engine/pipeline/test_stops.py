"""Stops that no broker's log tells: the member's own good-byes open the round."""

from __future__ import annotations

from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from rebalance_engine.pipeline.clients import changes_of
from rebalance_engine.pipeline.events import signs_of_life
from rebalance_engine.pipeline.schemas import ROUNDS
from rebalance_engine.pipeline.stories import clues_of, of_kind, stories_of
from tests.rebalance_engine.pipeline.frames import (
    MIDNIGHT_MS,
    QUEUE,
    added,
    java5,
    no_zones,
    read_events,
    read_holds,
    read_lines,
    result,
)


@pytest.mark.spark
def test_a_stop_that_no_broker_tells_opens_its_round_at_the_first_good_bye(spark: SparkSession, tmp_path: Path) -> None:
    """A unregisters at second 60 and says at 68 that its shutdown is over; B takes its queue in between."""
    queue = QUEUE.format("east", 0)
    bye = "unregister client[Producer: null Consumer: {}] from broker[east 0 10.0.0.9:10911] success"
    for host, lines in {
        "web1": [java5(1, added("g", queue)), java5(1.1, result("g", "A", [queue])),
                 java5(30, bye.format("other")), java5(60, bye.format("g")), java5(61, bye.format("g")),
                 java5(68, "the consumer [g] shutdown OK")],
        "web2": [java5(60.4, added("g", queue)), java5(60.5, result("g", "B", [queue]))],
    }.items():  # fmt: skip
        (tmp_path / host).mkdir()
        (tmp_path / host / "a.log").write_text("".join(lines))
    events, spans = read_events(spark, tmp_path), read_holds(spark, tmp_path).localCheckpoint()
    life = signs_of_life(read_lines(spark, tmp_path), no_zones(spark))

    changes = changes_of(events)
    rounds = of_kind(stories_of(spans, clues_of(events, changes, spans, life)), "round", ROUNDS).collect()

    (left,) = (row for row in rounds if row["cause"] == "member left")
    assert (left["opened_ms"], left["who"], left["moves"]) == (MIDNIGHT_MS + 60_000, ["A"], 1)
