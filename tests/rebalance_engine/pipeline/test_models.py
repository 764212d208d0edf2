from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from rebalance_engine.pipeline.models import models_of, with_owners
from tests.rebalance_engine.pipeline.frames import (
    MIDNIGHT_MS,
    QUEUE,
    added,
    broker,
    java5,
    joined,
    persisted,
    read_events,
    read_holds,
)

pytestmark = pytest.mark.spark
Q0 = QUEUE.format("east", 0)


def put(folder: Path, host: str, *lines: str) -> None:
    (folder / host).mkdir(parents=True)
    (folder / host / "a.log").write_text("".join(lines), newline="")


def starts(group: str, client: str, model: str) -> list[str]:
    """Write how a consumer begins: no line that names its group names it."""
    return [
        java5(1, f"the consumer [{group}] start beginning. messageModel={model}, isUnitMode=false"),
        java5(1.1, f"Created a new client Instance, InstanceIndex:0, ClientID:{client}, ClientConfig:ClientConfig{{}}"),
    ]


def beats(client: str, **models: str) -> str:
    told = (
        f"ConsumerData [groupName={group}, consumeType=CONSUME_PASSIVELY, messageModel={model}, unitMode=false]"
        for group, model in models.items()
    )
    return f"HeartbeatData [clientID={client}, producerDataSet=[], consumerDataSet=[{', '.join(told)}]]"


def test_groups_that_broadcast_or_pop_are_named_with_their_days_and_have_no_owners(
    spark: SparkSession, tmp_path: Path
) -> None:
    """That one broadcasts its start tells of A, its heartbeat of B, a broker of C."""
    put(tmp_path, "web1", *starts("news", "A", "BROADCASTING"), java5(2, added("news", Q0)), java5(9, "x"))
    both = java5(1, beats("B", news="BROADCASTING", orders="CLUSTERING"))
    owned = [java5(2, added("orders", Q0)), java5(3, persisted("orders", "B", Q0, 1))]
    put(tmp_path, "web2", both, java5(2, added("news", Q0)), *owned)
    told = joined("other", "C").replace(" CLUSTERING ", " BROADCASTING ")
    put(tmp_path, "web3", java5(1, persisted("other", "C", Q0, 1)), java5(2, added("other", Q0)))
    put(tmp_path, "east", broker(1, told))
    pop = java5(2, "doRebalance, jobs, add a new pop mq, MessageQueue [topic=t, brokerName=east, queueId=-1]")
    put(tmp_path, "web4", *starts("jobs", "D", "CLUSTERING"), pop)

    events = read_events(spark, tmp_path)
    spans = read_holds(spark, tmp_path)

    assert {(row["day"], row["group"], row["model"]) for row in models_of(events).collect()} == {
        ("2026-11-21", "news", "broadcasting"),
        ("2026-11-21", "other", "broadcasting"),
        ("2026-11-21", "jobs", "POP"),
    }
    assert {(row["group"], row["client_id"]) for row in spans.collect()} == {
        ("news", "A"), ("news", "B"), ("orders", "B"), ("other", "C"),
    }  # fmt: skip
    owners = with_owners(spans, events)
    assert {(row["group"], row["client_id"]) for row in owners.collect()} == {("orders", "B")}


def test_who_broadcasts_holds_its_queues_until_its_processs_last_line(spark: SparkSession, tmp_path: Path) -> None:
    alive = java5(7_000, "NETTY CLIENT PIPELINE: ACTIVE, 10.0.0.9:10911", thread="main")
    put(tmp_path, "web1", *starts("news", "A", "BROADCASTING"), java5(2, added("news", Q0)), alive)
    put(tmp_path, "web2", *starts("news", "B", "BROADCASTING"), java5(2, added("news", Q0)))

    spans = {
        row["client_id"]: (row["until_ms"] - MIDNIGHT_MS, row["ended"]) for row in read_holds(spark, tmp_path).collect()
    }

    assert spans == {"A": (7_000_000, "open"), "B": (2_000, "lost")}
