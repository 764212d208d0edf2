"""A broker that is killed, or hangs, while messages are sent; and offsets that survive it."""

from __future__ import annotations

import pytest

from tests.cluster.contract import Cluster
from tests.matrix.conftest import CLUSTERS
from tests.matrix.faults import (
    ALONE_FOR_MS,
    BROKER,
    LEDGER_AFTER,
    LEDGER_BEFORE,
    PRODUCERS,
    READERS,
    Faulty,
    come_back,
    unexplained,
)

pytestmark = [pytest.mark.java, pytest.mark.slow]
each_cluster = pytest.mark.parametrize("cluster", CLUSTERS, indirect=True, scope="session")


@each_cluster
@pytest.mark.parametrize("version", ALONE_FOR_MS)
def test_a_failed_broker_is_left_alone_for_as_long_as_the_versions_table_says(faulty: Faulty, version: str) -> None:
    told = faulty.between(f"python-{version}", "killed", "restarted")

    backed_off = [
        line for line in told if line["saw"] == "backed off" and line["broker"] == BROKER and line["isolated"]
    ]

    assert {line["backoff_ms"] for line in backed_off} == {ALONE_FOR_MS[version]}


@each_cluster
@pytest.mark.parametrize("producer", PRODUCERS)
def test_the_other_broker_gets_the_messages_meanwhile(cluster: Cluster, faulty: Faulty, producer: str) -> None:
    told = faulty.between(producer, "killed", "restarted")
    version = cluster.java if producer == "java" else producer.removeprefix("python-")

    assert sum(line["saw"] == "sent" and BROKER not in str(line["queue"]) for line in told) >= 30
    failed = [line for line in told if line["saw"] == "failed"]
    assert len(unexplained(failed, faulty.told[producer], version)) <= 3, failed


@pytest.mark.parametrize(
    ("latency_ms", "at_ms", "reason", "explained"),
    [
        (549, 1_100, "connect to 127.0.0.1:1 failed", False),
        (550, 1_100, "connect to 127.0.0.1:1 failed", True),
        (550, 900, "connect to 127.0.0.1:1 failed", False),
        (550, 31_000, "connect to 127.0.0.1:1 failed", True),
        (550, 31_001, "connect to 127.0.0.1:1 failed", False),
        (1_000, 61_000, "connect to 127.0.0.1:1 failed", True),
        (5, 1_100, "CODE: 2  DESC: [TIMEOUT_CLEAN_QUEUE]broker busy", True),
    ],
)
def test_a_failure_is_explained_by_what_the_other_broker_did_and_by_nothing_else(
    latency_ms: int, at_ms: int, reason: str, explained: bool
) -> None:
    failed = {"saw": "failed", "ms": at_ms, "reason": reason, "latency_ms": 3}
    slow = {"saw": "sent", "ms": 1_000, "queue": "stock/broker-a/0", "latency_ms": latency_ms}
    own = {**slow, "queue": f"stock/{BROKER}/0"}

    assert unexplained([failed], [slow, failed], "4.9.7") == ([] if explained else [failed])
    assert unexplained([failed], [own, failed], "4.9.7") == ([] if "busy" in reason else [failed])


@each_cluster
def test_the_broker_is_sent_to_again_after_each_fault(cluster: Cluster, faulty: Faulty) -> None:
    for producer in come_back(cluster):
        for begin in ("restarted", "goes on"):
            told = faulty.between(producer, begin, "hangs" if begin == "restarted" else None)
            assert [line for line in told if line["saw"] == "sent" and BROKER in str(line["queue"])], (producer, begin)
    assert faulty.late == []


@each_cluster
@pytest.mark.parametrize("reader", READERS)
def test_nothing_that_was_acknowledged_is_lost(faulty: Faulty, reader: str) -> None:
    sent = {line["body"] for told in faulty.told.values() for line in told if line["saw"] == "sent"}

    assert len(sent) > 1000
    assert sent - faulty.got[reader] == set()


@each_cluster
@pytest.mark.parametrize("reader", READERS)
def test_offsets_survive_the_restart(faulty: Faulty, reader: str) -> None:
    before, after = faulty.ledger[reader]

    assert sorted(before) == sorted(f"before-{number}" for number in range(LEDGER_BEFORE))
    assert sorted(after) == sorted(f"after-{number}" for number in range(LEDGER_AFTER))
