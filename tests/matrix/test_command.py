"""The ``evenkeel`` command beside stock clients: its lines, its queues, its end."""

from __future__ import annotations

import pytest

from tests.cluster.contract import Cluster, queues_of
from tests.cluster.members import Option, evenkeel, java_consumers
from tests.cluster.processes import wait_until
from tests.matrix.conftest import CLUSTERS

pytestmark = [pytest.mark.java, pytest.mark.slow]
TOPIC, QUEUES, COUNT = "typed", 2, 40
ENDS_WITHIN_S = 20


@pytest.mark.parametrize("cluster", CLUSTERS, indirect=True, scope="session")
@pytest.mark.parametrize("orderly", [False, True], ids=["concurrent", "orderly"])
def test_the_command_shares_a_group_with_java(cluster: Cluster, orderly: bool) -> None:
    name = "typed-orderly" if orderly else "typed"
    folder = cluster.folder / name
    queues = queues_of(cluster, cluster.create_topic(name, QUEUES), QUEUES)
    options: dict[str, Option] = {"namesrv": cluster.namesrv, "group": name, "topics": name, "orderly": orderly}
    java = java_consumers(cluster.java, [{**options, "name": "java"}], folder)
    where = ["--namesrv", cluster.namesrv, "--topic", name]
    consume = ["consume", *where, "--group", name, "--name", "python", "--strategy", "AVG", "--from", "first"]
    python = evenkeel([*consume, *(["--orderly"] if orderly else [])], "python", folder)
    produce = evenkeel(["produce", *where, "--count", str(COUNT), "--rate", "40"], "produce", folder)
    try:
        for client in (java, python):
            client.wait("started")
        assert python.client_id().endswith("@python")
        wait_until(
            lambda: java.held() | python.held() == queues and len(java.held()) == len(python.held()) == QUEUES,
            within_s=60,
            what="both having their share",
        )
        wait_until(lambda: not produce.runs, within_s=60, what="the end of the producer")
        sent = {(seen["queue"], seen["offset"]) for seen in produce.seen("sent")}
        # on a busy machine an answer may come after the 3 s that it is waited for: the message is stored all the same
        assert len(sent) + len(produce.seen("failed")) == COUNT
        assert len(sent) > COUNT / 2, produce.last_words()
        wait_until(
            lambda: {(got.queue, got.offset) for client in (java, python) for got in client.got()} >= sent,
            within_s=60,
            what="all messages being consumed",
        )

        python.stop(ENDS_WITHIN_S)

        assert python.seen()[-1]["saw"] == "stopped"
        wait_until(lambda: java.held() == queues, within_s=60, what="Java having all queues")
    finally:
        for program in (produce, java, python):
            program.kill()
