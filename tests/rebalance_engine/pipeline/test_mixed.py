from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from rebalance_engine.pipeline import clients, events, holds
from rebalance_engine.pipeline.mixed import mixed_of
from tests.rebalance_engine.pipeline.frames import QUEUE, added, java5, no_zones, persisted, read_lines, result

pytestmark = pytest.mark.spark
Q0, Q1 = QUEUE.format("east", 0), QUEUE.format("west", 1)


def life(client: str, queue: str, begin: int, end: int, *, pid: int = 1) -> str:
    said = [(begin, added("g", queue)), (begin + 0.1, result("g", client, [queue], members=2))]
    said += [(at, persisted("g", client, queue, 1)) for at in range(begin + 5, end, 5)]
    return "".join(java5(at, text, pid=pid) for at, text in said)


def test_clients_that_are_there_at_once_in_one_folder_are_named(spark: SparkSession, tmp_path: Path) -> None:
    """Pods of the pid 1 in folders of their own are told apart, and so are pids, and who comes after another."""
    logs = {
        "together/a.log": life("A", Q0, 0, 60),
        "together/b.log": life("B", Q1, 10, 60),
        "pods/x/a.log": life("C", Q0, 0, 60),
        "pods/y/a.log": life("D", Q1, 10, 60),
        "pids/a.log": life("E", Q0, 0, 60, pid=1) + life("F", Q1, 10, 60, pid=2),
        "after/a.log": life("G", Q0, 0, 20) + life("H", Q0, 200, 260),
    }
    for name, text in logs.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    lines = read_lines(spark, tmp_path)
    told = events.events_of(lines, no_zones(spark)).localCheckpoint()
    changes = clients.changes_of(told).localCheckpoint()
    spans = holds.spans_of(told, changes, events.signs_of_life(lines, no_zones(spark)))

    found = mixed_of(changes, spans).collect()

    assert [(row["group"], row["host"], row["folder"], row["clients"]) for row in found] == [
        ("g", "together", "together", 2)
    ]
