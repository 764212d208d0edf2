"""``evenkeel recompute`` beside stock members: their own logs say that they rebalance at once, and nobody leaves."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta, timezone, tzinfo
from functools import partial
from pathlib import Path

import pytest

from rebalance_engine.remoting.requests.brokers import GetConsumerConnectionList
from rebalance_engine.remoting.requests.changes import UpdateAndCreateTopic
from tests.cluster.contract import Cluster, queues_of
from tests.cluster.lines import Client
from tests.cluster.members import Option, evenkeel, java_consumers
from tests.cluster.processes import Program, wait_until
from tests.matrix.conftest import CLUSTERS

pytestmark = [pytest.mark.java, pytest.mark.slow]
GROUP, TOPIC, QUEUES, MORE = "recomputed", "recomputed", 2, (4, 6, 8, 10)  # queues of the topic on each broker
WITHIN_MS = 2_000
IN_UTC = "-Duser.timezone=UTC"
BEIJING = timezone(timedelta(hours=8))  # 5.x clients log in GMT+8 wherever they are: ``rmq.client.logback.xml``
NOTICE = "the consumer group: recomputed changed, rebalance immediately"


@pytest.mark.parametrize("cluster", CLUSTERS, indirect=True, scope="session")
def test_stock_members_rebalance_at_once_and_stay_members(
    cluster: Cluster, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Members hear of new queues by routes each second, but divide them each 20 s only: the probe lets them do it.

    Where a member's own turn came between the routes and the order nothing is seen, and the topic gets more queues
    again: each order sets the turns anew, so that the next ones are 20 s away.
    """
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    folder = cluster.folder / "recomputed"
    cluster.create_topic(TOPIC, QUEUES)
    options: dict[str, Option] = {"namesrv": cluster.namesrv, "group": GROUP, "topics": TOPIC, "poll": 1_000}
    members = [java_consumers(cluster.java, [{**options, "name": each}], folder, [IN_UTC]) for each in ("one", "two")]
    zone = BEIJING if cluster.java.startswith("5.") else UTC
    command = None
    try:
        is_divided(members, queues_of(cluster, TOPIC, QUEUES))
        before = connections(cluster)
        for more in MORE:
            widen(cluster, more)
            for member in members:
                known = partial(knows_all, folder, member, more)
                wait_until(known, within_s=60, what=f"{member.name} knowing the new queues")
            told_before = {member.name: len(notices(folder, member, zone)) for member in members}

            words = ["recompute", "--namesrv", cluster.namesrv, "--group", GROUP, "--yes", "--json"]
            command = evenkeel(words, f"command-{more}", folder)
            wait_until(partial(has_ended, command), within_s=60, what="the command ending")

            receipt = json.loads(command.output.read_text())
            assert receipt["is_taken"] is True, command.last_words()
            assert receipt["members_before"] == receipt["members_after"] == sorted(each.client_id() for each in members)
            assert connections(cluster) == before
            is_divided(members, queues_of(cluster, TOPIC, more))
            ordered = receipt["ordered_at"]
            settled = {member.name: settled_at(member, more) for member in members}
            if min(settled.values()) >= ordered:
                break
        assert min(settled.values()) >= ordered, "each time a member's own turn came before the order"
        for member in members:
            [noticed, *_] = notices(folder, member, zone)[told_before[member.name] :]
            assert 0 <= noticed - ordered <= WITHIN_MS
            assert 0 <= settled[member.name] - noticed <= WITHIN_MS
            assert settled[member.name] - ordered <= WITHIN_MS
    finally:
        for program in [*members, *([] if command is None else [command])]:
            program.kill()


def is_divided(members: list[Client], queues: frozenset[str]) -> None:
    size = len(queues) // len(members)
    wait_until(
        lambda: (
            frozenset[str]().union(*(each.held() for each in members)) == queues
            and all(len(each.held()) == size for each in members)
        ),
        within_s=90,
        what="both having their share",
    )


def has_ended(program: Program) -> bool:
    return not program.runs


def settled_at(member: Client, queues: int) -> int:
    """Give when it first had its share of so many queues on each broker, in ms since 1970."""
    return int(str(next(seen for seen in member.seen("held") if len(own(seen)) == queues)["ms"]))


def own(seen: object) -> list[str]:
    assert isinstance(seen, dict)
    return [queue for queue in seen["queues"] if queue.startswith(TOPIC)]


def widen(cluster: Cluster, queues: int) -> None:
    """Give the topic more queues on each broker."""
    change = UpdateAndCreateTopic(topic=TOPIC, read_queue_nums=queues, write_queue_nums=queues, perm=6)
    for address in cluster.addresses.values():
        cluster.ask(address, change)


def log_lines(folder: Path, member: Client) -> list[str]:
    log = folder / member.names[0] / "logs" / "rocketmqlogs" / "rocketmq_client.log"
    return log.read_text(errors="replace").splitlines() if log.exists() else []


def knows_all(folder: Path, member: Client, queues: int) -> bool:
    """Ask whether its log says that it has learned of the new queues of both brokers."""
    news = [line for line in log_lines(folder, member) if f"the topic[{TOPIC}] route info changed" in line]
    return bool(news) and news[-1].partition(",new[")[2].count(f"readQueueNums={queues},") == 2


def notices(folder: Path, member: Client, zone: tzinfo) -> list[int]:
    """Give when its log says that it was told to rebalance immediately, in ms since 1970."""
    stamps = [line[:23].replace(",", ".") for line in log_lines(folder, member) if NOTICE in line]
    return [int(datetime.fromisoformat(each).replace(tzinfo=zone).timestamp() * 1000) for each in stamps]


def connections(cluster: Cluster) -> dict[str, set[str]]:
    """Name the members that each broker lists."""
    return {
        name: {
            one.client_id
            for one in cluster.ask(address, GetConsumerConnectionList(consumer_group=GROUP)).body.connection_set
        }
        for name, address in cluster.addresses.items()
    }
