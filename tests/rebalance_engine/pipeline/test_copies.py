"""Which logs are of one process, by when each begins and ends: whole runs of them are told in ``test_shapes``."""

from __future__ import annotations

from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from rebalance_engine.pipeline.copies import GAP_MS, Log, _goes_on, _joined, _turns, as_one, copies_of
from rebalance_engine.pipeline.events import signs_of_life
from rebalance_engine.pipeline.measures import looked_of
from rebalance_engine.pipeline.schemas import EVENTS
from rebalance_engine.pipeline.turns import Turn
from tests.rebalance_engine.pipeline.frames import MIDNIGHT_MS, broker, joined, no_zones, read_events, read_lines

pytestmark = pytest.mark.spark


PAIR = ("shop", "A", "web1/7", "web2/7")


def turn(begins: int, first: str = "persisted all", last: str = "persisted all") -> Turn:
    return Turn(1_000, last, begins, first)


@pytest.mark.parametrize(
    ("turns", "goings", "is_one"),
    [
        ([turn(1_000)], [], True),
        ([turn(1_000 + GAP_MS)], [], True),
        ([turn(1_001 + GAP_MS)], [], False),
        ([], [], False),
        ([turn(1_500, first="instance made")], [], False),
        ([turn(1_500, last="instance stopped")], [], False),
        ([turn(1_001 + GAP_MS), turn(1_500)], [], True),
        ([turn(2_500)], [("shop", "A", 1_200)], False),
        ([turn(1_500)], [("shop", "A", 1_200)], True),
        ([turn(2_500)], [("shop", "B", 1_200), ("elsewhere", "A", 1_200), ("shop", "A", 2_600)], True),
    ],
    ids=[
        "at once",
        "a gap",
        "too long a gap",
        "beside it",
        "begins anew",
        "ended",
        "a third one in between",
        "seen to go",
        "shutting down",
        "others, or later",
    ],
)
def test_a_log_goes_on_where_another_one_breaks_off(
    turns: list[Turn], goings: list[tuple[str, str, int]], *, is_one: bool
) -> None:
    assert _goes_on(turns, goings, PAIR) is is_one


def test_logs_one_behind_the_other_have_one_turn_whichever_is_named_first(spark: SparkSession) -> None:
    logs = {("shop", name): Log(*times, {"A": (times[0], "added", times[1], "removed")}) for name, times in LOGS}
    nothing = spark.createDataFrame([], EVENTS)

    assert _turns(nothing, [PAIR, (*PAIR[:2], "web3/7", "web1/7")], logs) == {
        PAIR: [Turn(1_000, "removed", 1_500, "added")],
        (*PAIR[:2], "web3/7", "web1/7"): [Turn(1_000, "removed", 1_000, "added")],
    }


LOGS = (("web1/7", (0, 1_000)), ("web2/7", (1_500, 2_000)), ("web3/7", (1_000, 3_000)))


def test_all_parts_are_called_by_the_one_that_begins_first_and_goes_on_longest() -> None:
    logs = {("shop", name): Log(*times) for name, times in {"a": (5, 9), "b": (0, 3), "c": (0, 4), "d": (0, 9)}.items()}

    assert _joined([("shop", "a", "b"), ("shop", "b", "c")], logs) == [
        ("shop", "a", "c"),
        ("shop", "b", "c"),
        ("shop", "c", "c"),
    ]


def test_a_copied_log_of_a_broker_tells_nothing_twice_and_another_broker_is_another(
    spark: SparkSession, tmp_path: Path
) -> None:
    """The copy has a hole where the log has none, and the other way round; clients come to west by other ports."""
    east = [broker(second, joined("g", f"{second}")) for second in range(0, 500, 20)]
    registers = [broker(second, "register broker[0]to name server 10.0.0.8:9876 OK") for second in range(10, 500, 20)]
    whole = [line for both in zip(east, registers, strict=True) for line in both]
    logs = {
        "east": [*whole[:10], *whole[20:]],
        "copy": [*whole[:30], *whole[40:]],
        "west": [line.replace("10.0.0.2:51234", "10.0.0.2:51235") for line in whole],
    }
    for host, lines in logs.items():
        (tmp_path / host).mkdir()
        (tmp_path / host / "broker.log").write_text("".join(lines))
    events, life = read_events(spark, tmp_path), signs_of_life(read_lines(spark, tmp_path), no_zones(spark))

    same = copies_of(events, life)
    told, lives = as_one(events, same), as_one(life, same).collect()

    assert same == [("default", name, "copy/broker") for name in ("copy/broker", "east/broker")]
    assert told.where("process = 'copy/broker'").count() == told.where("process = 'west/broker'").count() == len(east)
    assert [row["expiries"] for row in looked_of(told).collect()] == [2]
    spoken = {row["process"]: [(part["from_ms"], part["until_ms"]) for part in row["spoken"]] for row in lives}
    assert spoken["copy/broker"] == spoken["west/broker"] == [(MIDNIGHT_MS, MIDNIGHT_MS + 490_000)]
