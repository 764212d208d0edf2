"""Java consumers of one group on a real cluster disagree, hang, fail and flap: the watcher finds each fault."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from dashboard.groups.models import Finding, Flow
from rebalance_engine.remoting.requests.changes import UpdateAndCreateTopic
from tests.cluster.contract import Cluster
from tests.cluster.lines import Client
from tests.cluster.members import Option, java_consumers, java_producer
from tests.dashboard.conftest import redis, redis_server  # noqa: F401 - fixtures
from tests.matrix.room import Room
from tests.matrix.test_control_room import Open, on_a_real_cluster, open_room  # noqa: F401 - a fixture

pytestmark = [pytest.mark.java, pytest.mark.slow, pytest.mark.django_db(transaction=True)]
GROUP, QUEUES, HOURS_MS = "faulty", 2, 3_600_000
FIRST, WITHOUT_END, A_SECOND = 40, 100_000, 8
LATE_S = 240  # a minute of standing still, confirmed 20 s later; the machine is busy


@on_a_real_cluster
def test_a_watcher_finds_each_fault_of_a_real_group(cluster: Cluster, open_room: Open, tmp_path: Path) -> None:  # noqa: F811
    cast = _Cast(cluster, tmp_path)
    try:
        with open_room(GROUP) as room:
            a = cast.start("A")
            cast.send(FIRST, "first")
            room.until(lambda: room.members() == {a.client_id()} and room.is_settled(), "A having all")
            a.wait("got", count=FIRST, within_s=120)
            room.until(_all_is_committed, "all being committed")
            assert list(Finding.objects.filter(cleared_at=None)) == []  # nothing is wrong with a group that is well

            cast.start("B", topics=f"{cast.topic},{cast.other}", takes=HOURS_MS, strategy="AVG_BY_CIRCLE")
            cast.start("A", fail=1_000, retries=1, folder="again")
            room.until(lambda: len(room.members()) == 2, "B being a member")
            cast.keep_sending("second")
            cast.close(cast.other, "broker-a")
            for _ in range(3):
                cast.flap(room)

            for kind in (
                "strategy mismatch",
                "subscription mismatch",
                "duplicate client id",
                "retry topic unowned",
                "flapping",
                "no permission",
                "stuck listener",
                "retry topic growing",
                "dead letters growing",
            ):
                room.until(_confirmed(kind), f"{kind} being confirmed", within_s=LATE_S)
            assert "gets nowhere with" in room.page()
    finally:
        cast.end()


class _Cast:
    def __init__(self, cluster: Cluster, folder: Path) -> None:
        self.cluster, self.folder = cluster, folder
        self.topic = cluster.create_topic("topic-faulty", QUEUES)
        self.other = cluster.create_topic("other-faulty", QUEUES)
        self.clients: list[Client] = []

    def start(self, name: str, *, folder: str = "", **options: Option) -> Client:
        common: dict[str, Option] = {"namesrv": self.cluster.namesrv, "group": GROUP, "topics": self.topic}
        home = self.folder / (folder or f"{name}-{len(self.clients)}")
        home.mkdir()
        client = java_consumers("5.5.0", [{**common, "name": f"{name}-{GROUP}", **options}], home)
        self.clients.append(client)
        client.wait("started", within_s=120)
        return client

    def send(self, count: int, prefix: str) -> None:
        self._producer(prefix, count=count).wait("stopped", within_s=120)

    def keep_sending(self, prefix: str) -> None:
        """Send until the end: what is to grow grows for as long as it takes a busy machine to look twice."""
        self._producer(prefix, count=WITHOUT_END, rate=A_SECOND).wait("started", within_s=120)

    def _producer(self, prefix: str, **options: Option) -> Client:
        home = self.folder / prefix
        home.mkdir()
        common: dict[str, Option] = {"namesrv": self.cluster.namesrv, "topic": self.topic, "name": prefix}
        common |= {"prefix": prefix, "quiet": True}
        common |= {"timeout": 20_000}  # what is shown is what is found, not how long a busy broker takes
        producer = java_producer("5.5.0", {**common, **options}, home)
        self.clients.append(producer)
        return producer

    def flap(self, room: Room) -> None:
        flapping = self.start("F")
        room.until(lambda: flapping.client_id() in room.members(), "F being a member")
        flapping.kill()
        room.until(lambda: flapping.client_id() not in room.members(), "F being gone")

    def close(self, topic: str, broker: str) -> None:
        """Let nobody read a topic on a broker."""
        self.cluster.ask(
            self.cluster.addresses[broker],
            UpdateAndCreateTopic(
                topic=topic,
                read_queue_nums=QUEUES,
                write_queue_nums=QUEUES,
                perm=2,
            ),
        )

    def end(self) -> None:
        for client in self.clients:
            client.kill()


def _all_is_committed() -> bool:
    rows = list(Flow.objects.filter(group__name=GROUP))
    return len(rows) == 2 and not any(row.standings for row in rows)


def _confirmed(kind: str) -> Callable[[], bool]:
    return Finding.objects.filter(kind=kind, group__name=GROUP, confirmed_at__isnull=False).exists
