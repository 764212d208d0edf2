"""Two processes of one pid and one client id, as in containers: real logs, with the lines of their starts taken out."""

import gzip
import re
from collections.abc import Mapping
from pathlib import Path
from typing import cast

import pytest
from pyspark.sql import DataFrame, SparkSession

from rebalance_engine.pipeline.clients import changes_of
from rebalance_engine.pipeline.rebirths import rebirths_of
from tests.rebalance_engine.pipeline.frames import (
    QUEUE,
    added,
    broker,
    closed,
    java5,
    joined,
    persisted,
    put,
    read_events,
    read_holds,
    removed,
    result,
)
from tests.rebalance_engine.pipeline.runs import Key, Span, as_holds, logs, true_holds, truth

pytestmark = [pytest.mark.spark, pytest.mark.slow]
WITHIN_MS = 1_000  # a broker tells a second
PID = re.compile(r"(?m)^(\d{4}-\S+ \S+ +[A-Z]+ +\[)\d+\]")
STARTS = re.compile(r"start beginning|Created a new client Instance|\] start OK")


def as_in_containers(name: str, folder: Path, same: Mapping[str, str], *hosts: str) -> None:
    """Write a run's logs as if all processes had pid 1, and no line told a start.

    Args:
        same: client ids, and what they become.
        hosts: of clients, whose logs alone are written; all where none is named.
    """
    for path in logs(name).rglob("*.gz"):
        text = gzip.decompress(path.read_bytes()).decode()
        for one, other in same.items():
            text = re.sub(rf"{re.escape(one)}(?![\w#])", other, text)
        if path.name == "rocketmq_client.log.gz":
            text = "".join(line for line in PID.sub(r"\g<1>1]", text).splitlines(True) if not STARTS.search(line))
        if not hosts or path.parent.name in hosts or path.parent.name.startswith("broker-"):
            put(folder, f"{path.parent.name}/{path.name.removesuffix('.gz')}", text)


def differing(found: dict[Key, list[Span]], true: Mapping[Key, list[Span]]) -> dict[Key, tuple[list[Span], list[Span]]]:
    """Give what is told otherwise than it was, but for the end of what a shutdown of no line's end leaves open."""

    def is_same(one: Span, other: Span) -> bool:
        return one[2] == other[2] and max(abs(one[0] - other[0]), abs(one[1] - other[1])) <= WITHIN_MS

    return {
        key: (found.get(key, []), true.get(key, []))
        for key in found.keys() | true.keys()
        if len(found.get(key, ())) != len(true.get(key, ()))
        or not all(map(is_same, found[key], true[key]))
    }  # fmt: skip


@pytest.mark.parametrize("is_one_log", [True, False])
def test_who_is_killed_and_comes_back_under_its_pid_and_id_is_two(
    spark: SparkSession, tmp_path: Path, *, is_one_log: bool
) -> None:
    """In one log, or in two: what was lost is lost, and not released when its successor takes it, or another does."""
    ids = truth("scale_out-5.5.0")["client_ids"]
    as_in_containers("scale_out-5.5.0", tmp_path, {ids["c4"]: ids["c3"]})
    if is_one_log:
        whole, rest = tmp_path / "c3" / "rocketmq_client.log", tmp_path / "c4" / "rocketmq_client.log"
        whole.write_text(whole.read_text() + rest.read_text())
        rest.unlink()

    found = as_holds(read_holds(spark, tmp_path).where("from_ms is not null").collect())

    true: dict[Key, list[Span]] = {}
    for (group, topic, name, queue_id, client), spans in true_holds("scale_out-5.5.0").items():
        key = (group, topic, name, queue_id, ids["c3"] if client == ids["c4"] else client)
        true[key] = sorted([*true.get(key, []), *spans])
    assert differing(found, true) == {}


def test_of_three_lives_of_one_container_each_has_its_own_end(spark: SparkSession, tmp_path: Path) -> None:
    """Killed, and back after three seconds; stopped, and back after three more."""
    as_in_containers("many_groups-5.5.0", tmp_path, {}, "r1", "r2")

    found = as_holds(read_holds(spark, tmp_path).where("from_ms is not null").collect())

    true = {key: spans for key, spans in true_holds("many_groups-5.5.0").items() if key[0] == "g_r"}
    assert differing(found, true) == {}


def test_who_connects_anew_and_goes_on_with_what_it_has_is_one(spark: SparkSession, tmp_path: Path) -> None:
    """A removal is lost, and the queue taken anew behind a new connection; what it has besides shows that it lives."""
    first, other = QUEUE.format("east", 0), QUEUE.format("east", 1)
    put(tmp_path, "broker/broker.log", broker(1, joined("g", "A")), broker(20, closed("g", "A")))
    put(tmp_path, "broker/filter.log", broker(21, joined("g", "A")))
    put(
        tmp_path,
        "A/rocketmq_client.log",
        java5(2, added("g", first)),
        java5(2, added("g", other)),
        *(java5(at, persisted("g", "A", queue, 1)) for at in (12, 17, 22, 27) for queue in (first, other)),
        java5(23, added("g", first)),
    )

    ended = {(row.queue_id, row.ended) for row in read_holds(spark, tmp_path).collect()}

    assert not {how for _, how in ended} & {"lost", "stopped"}
    assert (1, "open") in ended


def test_where_nothing_was_taken_again_no_line_is_looked_at(spark: SparkSession, tmp_path: Path) -> None:
    """Of weeks of lines the changes are few."""
    first = QUEUE.format("east", 0)
    lines = (java5(2, added("g", first)), java5(2.5, result("g", "A", [first])), java5(23, removed("g", first)))
    put(tmp_path, "A/rocketmq_client.log", *lines, java5(25, added("g", first)))

    changes = changes_of(read_events(spark, tmp_path))

    nothing = cast(DataFrame, None)  # whoever asks it for anything fails
    assert rebirths_of(changes, nothing, nothing).count() == 0


def test_who_connects_anew_and_lists_what_it_had_besides_is_one_though_it_persists_nothing(
    spark: SparkSession, tmp_path: Path
) -> None:
    """Its queues have no messages yet, and a removal is lost: only its result tells that it has the others still."""
    queues = [QUEUE.format("east", number) for number in range(3)]
    put(tmp_path, "broker/broker.log", broker(1, joined("g", "A")), broker(20, closed("g", "A")))
    put(tmp_path, "broker/filter.log", broker(21, joined("g", "A")))
    begun = (java5(2, added("g", queue)) for queue in queues)
    again = java5(23, added("g", queues[0])), java5(23.1, result("g", "A", queues))
    put(tmp_path, "A/rocketmq_client.log", *begun, java5(2.1, result("g", "A", queues)), *again)

    ended = sorted((row.queue_id, row.ended) for row in read_holds(spark, tmp_path).collect())

    assert ended == [(0, "open"), (0, "released"), (1, "open"), (2, "open")]
