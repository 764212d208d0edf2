"""What stock clients do besides sending and consuming: transactions, replies, names within a namespace."""

from __future__ import annotations

import pytest

from tests.cluster.contract import Cluster
from tests.cluster.lines import Client
from tests.cluster.members import Option, java_consumers, java_conversation, java_producer, java_transactions
from tests.cluster.processes import wait_until
from tests.matrix.conftest import CLUSTERS

pytestmark = [
    pytest.mark.java,
    pytest.mark.slow,
    pytest.mark.parametrize("cluster", CLUSTERS, indirect=True, scope="session"),
]
COMMITTED, QUEUES = {"commit-1", "commit-2", "later-commit-3"}, 2
BODIES = ["commit-1", "rollback-1", "later-commit-3", "later-rollback-4", "commit-2"]
LATER = {"later-commit-3", "later-rollback-4"}
GIVEN_S = 90  # a member whose first rebalance finds it unknown yet has another one 20 s later
NAMESPACE, MESSAGES = "shop", 10


def test_what_a_java_producer_commits_is_seen_and_what_it_rolls_back_is_not(cluster: Cluster) -> None:
    topic, folder = cluster.create_topic("transacted", QUEUES), cluster.folder / "transacted"
    options: dict[str, Option] = {"namesrv": cluster.namesrv, "topic": topic, "bodies": ",".join(BODIES)}
    consumer = java_consumers(
        cluster.java,
        [{"name": "after", "namesrv": cluster.namesrv, "group": "transacted", "topics": topic}],
        folder,
    )
    producer = java_transactions(cluster.java, {**options, "name": "before", "group": "deciding"}, folder)
    try:
        sent = producer.wait("sent", count=len(BODIES))
        # not two checks of any: one is asked about again until its answer came, and so is any that ended late
        wait_until(lambda: checked(producer) >= LATER, within_s=GIVEN_S, what="a check of each that was left open")
        wait_until(
            lambda: {got.body for got in consumer.got()} >= COMMITTED, within_s=GIVEN_S, what="what was committed"
        )
    finally:
        producer.kill()
        consumer.kill()

    assert {one["status"] for one in sent} == {"SEND_OK"}
    assert {one["topic"] for one in producer.seen("checked")} == {topic}
    assert {got.body for got in consumer.got()} == COMMITTED


def checked(producer: Client) -> set[object]:
    return {one["body"] for one in producer.seen("checked")}


def test_whoever_asks_gets_the_reply(cluster: Cluster) -> None:
    topic = cluster.create_topic("asking", QUEUES)
    options: dict[str, Option] = {"namesrv": cluster.namesrv, "topic": topic, "group": "asking", "name": "both"}
    client = java_conversation(cluster.java, {**options, "count": 3}, cluster.folder / "asking")
    try:
        replies = client.wait("replied", count=3, within_s=120)
        client.wait("stopped")
    finally:
        client.kill()

    assert [reply["body"] for reply in replies] == [f"re: question {number}" for number in range(3)]
    assert not client.seen("not replied")


def test_a_namespace_is_a_part_of_every_name(cluster: Cluster) -> None:
    inside = cluster.create_topic(f"{NAMESPACE}%parcels", QUEUES)
    folder = cluster.folder / "parcels"
    options: dict[str, Option] = {"namesrv": cluster.namesrv, "namespace": NAMESPACE}
    consumer = java_consumers(
        cluster.java, [{**options, "name": "inside", "group": "parcels", "topics": "parcels"}], folder
    )
    outside = java_consumers(
        cluster.java,
        [{"name": "plain", "namesrv": cluster.namesrv, "group": f"{NAMESPACE}%others", "topics": inside}],
        folder,
    )
    producer = java_producer(
        cluster.java,
        {**options, "name": "sender", "group": "senders", "topic": "parcels", "count": MESSAGES, "timeout": 20_000},
        folder,
    )
    wanted = {f"m-{number}" for number in range(MESSAGES)}
    try:
        producer.wait("sent", count=MESSAGES)
        wait_until(
            lambda: all({got.body for got in client.got()} == wanted for client in (consumer, outside)),
            within_s=GIVEN_S,
            what="both consumers having all messages",
        )
    finally:
        for client in (consumer, outside, producer):
            client.kill()
