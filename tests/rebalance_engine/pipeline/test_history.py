import json
from collections import defaultdict
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

from rebalance_engine.eventlog import write
from rebalance_engine.events import DropReason, QueueDropped, QueueTaken
from rebalance_engine.model import MessageQueue
from rebalance_engine.pipeline import clients, holds, schemas, stories
from rebalance_engine.pipeline.events import signs_of_life
from rebalance_engine.pipeline.jobs import Asked, run_logs
from rebalance_engine.pipeline.progress import Progress
from rebalance_engine.pipeline.reports import read_table
from rebalance_engine.pipeline.sources import find_files
from tests.rebalance_engine.pipeline.frames import MIDNIGHT_MS, no_zones, read_events, read_holds, read_lines
from tests.rebalance_engine.pipeline.runs import as_holds
from tests.rebalance_engine.pipeline.test_written import SCENARIO
from tests.rebalance_engine.pipeline.written import GROUP, play

pytestmark = pytest.mark.spark


def fact(event: str, second: float, **fields: Any) -> str:
    source = {"origin": "admin answer", "cluster": "east"}
    at = MIDNIGHT_MS + round(second * 1000)
    record = {"v": 1, "event": event, "at": at, "source": source, "exactness": {"bound": "exact"}, **fields}
    return compact(record)


def compact(record: dict[str, Any]) -> str:
    return json.dumps(record, separators=(",", ":"))


def write_facts(folder: Path, *lines: str) -> None:
    path = folder / "2026-11-21" / "east.jsonl"
    path.parent.mkdir(parents=True)
    path.write_text("".join(f"{line}\n" for line in lines))


def told(spark: SparkSession, folder: Path, *lines: str) -> list[tuple[Any, ...]]:
    write_facts(folder, *lines)
    return sorted(as_told(read_holds(spark, folder).collect()), key=lambda hold: (*hold[:2], hold[2] or 0))


def as_told(rows: Iterable[Any]) -> Iterator[tuple[Any, ...]]:
    """Give queue, client, begin, end, in seconds, and how it ended."""
    for row in rows:
        began = None if row["from_ms"] is None else (row["from_ms"] - MIDNIGHT_MS) / 1000
        yield row["queue_id"], row["client_id"], began, (row["until_ms"] - MIDNIGHT_MS) / 1000, row["ended"]


def test_what_a_member_reports_of_itself_is_taken_as_it_stands_and_once(spark: SparkSession, tmp_path: Path) -> None:
    queue = {"group": "g", "client": "A", "queue": ["orders", "east", 0]}
    taken = fact("QueueTaken", 1, **queue, start_offset=0)

    found = told(
        spark,
        tmp_path,
        taken,
        taken,
        fact("HeldSeen", 2, group="g", client="A", queues=[["orders", "east", 0]], dropped=[]),
        fact("QueueDropped", 5, **queue, reason="not in target", committed_offset=7),
        fact("QueueTaken", 6, **queue, start_offset=7),
        fact("QueueDropped", 9, **queue, reason="lost"),
        fact("QueueTaken", 600, group="g", client="B", queue=["orders", "east", 1]),
        fact("QueueDropped", 601, group="g", client="B", queue=["orders", "east", 1], reason="stopped"),
        fact("MemberSeen", 900, group="g", client="B"),
    )

    assert found == [(0, "A", 1, 5, "released"), (0, "A", 6, 9, "lost"), (1, "B", 600, 601, "stopped")]


def test_looks_are_compared_and_a_first_one_tells_no_beginning(spark: SparkSession, tmp_path: Path) -> None:
    first, second = ["orders", "east", 0], ["orders", "east", 1]

    found = told(
        spark,
        tmp_path,
        fact("HeldSeen", 1, group="g", client="A", queues=[first, second], dropped=[]),
        fact("MemberJoined", 4, group="g", client="B"),
        fact("HeldSeen", 5, group="g", client="A", queues=[first], dropped=[]),
        fact("HeldSeen", 5.5, group="g", client="B", queues=[second], dropped=[]),
        fact("MemberLeft", 20, group="g", client="B", departure="unregistered"),
        fact("HeldSeen", 700, group="g", client="A", queues=[first, second], dropped=[]),
    )

    assert found == [
        (0, "A", None, 700, "open"),
        (1, "A", None, 5, "released"),
        (1, "A", 700, 700, "open"),
        (1, "B", 5.5, 20, "stopped"),
    ]


def test_what_looks_alone_do_not_tell_is_unknown_and_no_zero(spark: SparkSession, tmp_path: Path) -> None:
    """No routes, no offsets, no reports of members; facts without the bounds that later versions write."""
    queue = ["orders", "east", 0]
    looks = [
        (100, "A", [queue]),
        (160, "A", [queue]),
        (160, "B", []),
        (220, "A", []),
        (280, "B", []),
        (340, "B", [queue]),
        (400, "B", [queue]),
    ]
    facts = [json.loads(fact("HeldSeen", at, group="g", client=who, queues=held)) for at, who, held in looks]
    write_facts(tmp_path, *(compact({k: v for k, v in one.items() if k != "exactness"}) for one in facts))
    events = read_events(spark, tmp_path)
    changes = clients.changes_of(events).localCheckpoint()
    life = signs_of_life(read_lines(spark, tmp_path), no_zones(spark)).localCheckpoint()
    spans = holds.spans_of(events, changes, life).localCheckpoint()

    told = stories.stories_of(spans, stories.clues_of(events, changes, spans, life)).localCheckpoint()

    (handoff,) = stories.of_kind(told, "handoff", schemas.HANDOFFS).collect()
    # Let go between 160 s and 220 s, taken between 280 s and 340 s.
    assert (handoff["pause_ms"], handoff["pause_is"]) == (60_000, "at least")
    unknown = (
        "first_pull_ms",
        "refused_pulls",
        "lock_wait_ms",
        "silence_most_ms",
        "duplicates_least",
        "duplicates_most",
    )
    assert [handoff[name] for name in unknown] == [None] * len(unknown)
    assert {row["cause"] for row in stories.of_kind(told, "round", schemas.ROUNDS).collect()} == {"held changed"}


def test_routes_and_what_sends_took_are_read(spark: SparkSession, tmp_path: Path) -> None:
    here = {"broker": "east", "read_queues": 4, "write_queues": 4, "permission": 6, "has_master": True}
    sent = {"client": "P", "broker": "east", "latency_ms": 7, "outcome": "ok"}
    write_facts(
        tmp_path,
        fact("RouteSeen", 1, topic="orders", brokers=[here]),
        fact("RouteMissing", 2, topic="orders"),
        fact("BrokerLatency", 3, **sent),
        fact("BrokerLatency", 4, **{**sent, "outcome": "broker error"}),
    )

    rows = read_events(spark, tmp_path).orderBy("at_ms").collect()

    told = [(row["what"], row["topic"], row["queues"], row["broker"], row["number"]) for row in rows]
    assert told == [
        ("route", "orders", ["east|4|6"], None, None),
        ("route", "orders", [], None, None),
        ("sent", None, None, "east", 7),
        ("send failed", None, None, "east", 7),
    ]


@pytest.mark.slow
def test_a_cluster_whose_name_spark_would_hide_is_read_and_written_as_any_other(
    spark: SparkSession, tmp_path: Path
) -> None:
    """Spark and Arrow leave out files whose names begin with an underscore, without a word."""
    source, target = tmp_path / "in", tmp_path / "out"
    queue = {"group": "g", "client": "A", "queue": ["orders", "east", 0]}
    (source / "2026-11-21").mkdir(parents=True)
    lines = (fact("QueueTaken", 1, **queue), fact("QueueDropped", 5, **queue, reason="not in target"))
    (source / "2026-11-21" / "_east.jsonl").write_text("".join(f"{line}\n" for line in lines))

    told = run_logs(spark, Asked(source=source, target=target, cluster="_east"), find_files(source), Progress(print))

    (hold,) = read_table(target / "holds")
    assert (hold["from_ms"], hold["until_ms"]) == (MIDNIGHT_MS + 1_000, MIDNIGHT_MS + 5_000)
    assert (told.records, told.changed["holds"]) == (2, ["_east/2026-11-21"])
    assert [row["file"] for row in read_table(target / "events")] == ["2026-11-21/_east.jsonl"] * 2


@pytest.mark.slow
def test_a_simulated_run_is_recovered_from_its_event_log(spark: SparkSession, tmp_path: Path) -> None:
    facts = play(SCENARIO.format(profile="java-5.5.0"))
    source, target = tmp_path / "in", tmp_path / "out"
    path = source / "2026-11-21" / "east.jsonl"
    path.parent.mkdir(parents=True)
    path.write_text("".join(f"{write(one)}\n" for one in facts))
    since, true = {}, defaultdict(list)
    for one in facts:
        if isinstance(one, QueueTaken):
            since[one.client, one.queue] = one.at
        elif isinstance(one, QueueDropped):
            ended = {DropReason.STOPPED: "stopped", DropReason.LOST: "lost"}.get(one.reason, "released")
            span = (since.pop((one.client, one.queue)), one.at, ended)
            true[(GROUP, *one.queue, one.client)].append(span)

    run_logs(spark, Asked(source=source, target=target), find_files(source), Progress(print))

    found = {}
    for key, spans in as_holds(spark.read.parquet(str(target / "holds")).collect()).items():
        found[key] = [span for span in spans if span[2] != "open"]
        assert (len(found[key]) < len(spans)) == ((key[4], MessageQueue(*key[1:4])) in since)
    assert {key: spans for key, spans in found.items() if spans} == dict(true)
    handoffs = read_table(target / "handoffs")
    assert handoffs
    assert {row["pause_is"] for row in handoffs} >= {"exact"}
