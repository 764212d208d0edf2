from collections.abc import Sequence
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from rebalance_engine.pipeline.turns import Turn, turns_of
from tests.rebalance_engine.pipeline.frames import MIDNIGHT_MS, QUEUE, java5, persisted, read_events

pytestmark = pytest.mark.spark
PAIR = ("default", "A", "web1/7", "web2/7")
Q = QUEUE.format("east", 0)


def told(spark: SparkSession, folder: Path, **spoken: Sequence[float]) -> list[tuple[float, float]]:
    """Give the turns of two logs, in seconds: each says at these seconds what A persists."""
    for host, seconds in spoken.items():
        (folder / host).mkdir()
        lines = [java5(second, persisted("g", "A", Q, 4)) for second in seconds]
        (folder / host / "rocketmq_client.log").write_text("".join(lines))
    found = turns_of(read_events(spark, folder), [PAIR])
    assert {pair for pair, _ in found} <= {PAIR}
    assert {(turn.last, turn.first) for _, turn in found} <= {("persisted all", "persisted all")}
    return sorted(_seconds(turn) for _, turn in found)


def _seconds(turn: Turn) -> tuple[float, float]:
    ends, begins = ((at - MIDNIGHT_MS) / 1000 for at in (turn.ends_ms, turn.begins_ms))
    return ends, begins


def test_a_log_that_fills_the_hole_of_another_takes_turns_with_it(spark: SparkSession, tmp_path: Path) -> None:
    assert told(spark, tmp_path, web1=[1, 6, 31, 36], web2=[11, 15]) == [(6, 11), (15, 31)]


def test_logs_may_take_turns_several_times_and_meet_within_a_moment(spark: SparkSession, tmp_path: Path) -> None:
    first, other = [0, 5, 10, 30, 35, 40, 60], [9.95, 15, 20, 25, 45, 50, 55]

    assert told(spark, tmp_path, web1=first, web2=other) == [(10, 9.95), (25, 30), (40, 45), (55, 60)]


@pytest.mark.parametrize(
    ("first", "other"),
    [
        ([1, 6, 11, 16, 21, 26], [3, 8, 13, 18]),
        ([1, 6, 11, 31, 36], [10, 15, 20, 25]),
        ([1, 100, 200], [50, 150, 250]),
    ],
    ids=["at once", "for a second", "seldom"],
)
def test_processes_of_one_client_id_that_run_at_once_take_no_turns(
    spark: SparkSession, tmp_path: Path, first: list[float], other: list[float]
) -> None:
    assert told(spark, tmp_path, web1=first, web2=other) == []
