"""One run on a real cluster, seen by the watcher while it goes on and told from the logs that it left: one story.

The control room's figures are bounds, because it looks from time to time. What the logs tell of the same handoff, to
the millisecond of a client's line, lies inside them; and neither side tells a take or a drop that the other has not.
"""

from __future__ import annotations

import shutil
from collections import defaultdict
from pathlib import Path

import pytest
from django.db.models import Q, QuerySet
from pyspark.sql import SparkSession
from pytest_django import Settings
from redis import Redis

from dashboard.groups.models import Handoff, Holding, Round
from rebalance_engine.pipeline.jobs import Asked, run_logs
from rebalance_engine.pipeline.reports import Row, read_table
from rebalance_engine.pipeline.sources import find_files
from tests.cluster.contract import Cluster
from tests.dashboard.conftest import redis, redis_server  # noqa: F401 - fixtures
from tests.matrix.room import Room
from tests.matrix.test_control_room import QUEUES, cast
from tests.rebalance_engine.pipeline.conftest import spark  # noqa: F401 - a fixture

pytestmark = [pytest.mark.java, pytest.mark.spark, pytest.mark.slow, pytest.mark.django_db(transaction=True)]

GROUP = "toldtwice"
SETTLES_WITHIN_S = 180  # told, too, while the machine is busy
Way = tuple[str, str, int, str, str]


@pytest.mark.parametrize("cluster", ["5.5.0"], indirect=True, scope="session")
def test_what_the_logs_tell_of_a_run_lies_inside_what_was_seen_of_it_live(
    cluster: Cluster,
    redis: Redis,  # noqa: F811
    redis_server: str,  # noqa: F811
    settings: Settings,
    spark: SparkSession,  # noqa: F811
    tmp_path: Path,
) -> None:
    settings.REDIS_URL = redis_server
    homes = tmp_path / "homes"
    _play(cluster, Room(cluster, redis, GROUP), homes)
    handoffs = _from_logs(cluster, spark, homes, tmp_path)

    live = defaultdict(list)
    for one in Handoff.objects.filter(round__group__name=GROUP).exclude(from_client="").exclude(to_client=""):
        live[one.topic, one.broker, one.queue_id, one.from_client, one.to_client].append(one)
    told = defaultdict(list)
    for row in handoffs:
        told[_way(row)].append(row)

    assert len({way for way in told if not way[0].startswith("%RETRY%")}) >= 2 * QUEUES
    assert live.keys() <= told.keys()
    assert "\n".join(said for way in live for said in _outside_all(told[way], live[way])) == ""
    # What a look shows before the one that shows its cause is no handoff of that round live: its two halves are there.
    assert [row for row in handoffs if not (_is_dropped(row) and _is_taken(row))] == []


def _play(cluster: Cluster, room: Room, homes: Path) -> None:
    """A comes, B joins, B is killed, C joins, C stops; each when all is settled and told."""
    with cast(cluster, GROUP, homes) as group, room.open():
        of_group = Round.objects.filter(group__name=GROUP)
        before = 0

        def settle(members: set[str], what: str) -> None:
            nonlocal before
            room.until(
                lambda: (
                    room.members() == members
                    and of_group.count() > before
                    and room.is_settled()
                    and not of_group.filter(told_at=None).exists()
                ),
                what,
                within_s=SETTLES_WITHIN_S,
            )
            before = of_group.count()

        a = group.start("A")
        everything = 2 * QUEUES
        room.until(lambda: len(room.held(a.client_id())) == everything and room.is_settled(), "A having all")
        before = of_group.count()
        b = group.start("B")
        settle({a.client_id(), b.client_id()}, "B having its share")
        b.kill()
        settle({a.client_id()}, "A having B's share")
        c = group.start("C")
        settle({a.client_id(), c.client_id()}, "C having its share")
        c.stop()
        settle({a.client_id()}, "A having C's share")


def _from_logs(cluster: Cluster, spark: SparkSession, homes: Path, folder: Path) -> list[Row]:  # noqa: F811
    source, target = folder / "logs", folder / "told"
    for home in [*homes.iterdir(), *(cluster.folder / broker for broker in cluster.addresses)]:
        for log in (home / "logs" / "rocketmqlogs").glob("*.log"):
            if log.name in ("rocketmq_client.log", "broker.log") and log.stat().st_size:
                (source / home.name).mkdir(parents=True, exist_ok=True)
                shutil.copy(log, source / home.name)
    run_logs(spark, Asked(source=source, target=target), find_files(source), print)
    return [row for row in read_table(target / "handoffs") if row["group"] == GROUP]


def _way(row: Row) -> Way:
    return (
        str(row["topic"]),
        str(row["broker"]),
        int(str(row["queue_id"])),
        str(row["from_client"]),
        str(row["to_client"]),
    )


def _order(one: Handoff) -> int:
    return one.round.number


def _outside_all(rows: list[Row], handoffs: list[Handoff]) -> list[str]:
    in_order = sorted(rows, key=lambda row: int(str(row["taken_ms"])))
    pairs = zip(in_order, sorted(handoffs, key=_order), strict=True)
    return [said for row, one in pairs for said in _outside(row, one)]


def _is_dropped(row: Row) -> bool:
    """Ask whether the giver was seen to let the queue go within bounds that the logs' time lies in."""
    at = row["released_ms"]
    spans = _spans(row, str(row["from_client"])).filter(until__isnull=False, until_high__gte=at)
    return spans.filter(Q(until_low=None) | Q(until_low__lte=at)).exists()


def _is_taken(row: Row) -> bool:
    at = row["taken_ms"]
    spans = _spans(row, str(row["to_client"])).filter(at_high__gte=at)
    return spans.filter(Q(at_low=None) | Q(at_low__lte=at)).exists()


def _spans(row: Row, client: str) -> QuerySet[Holding]:
    return Holding.objects.filter(
        group__name=GROUP,
        member__client_id=client,
        queue__topic__name=str(row["topic"]),
        queue__broker=str(row["broker"]),
        queue__queue_id=int(str(row["queue_id"])),
    )


def _outside(row: Row, one: Handoff) -> list[str]:
    """Name the figures of a handoff that lie outside the bounds of what was seen live, where there is a bound."""
    bounds = {
        "released_ms": (one.dropped_low, one.dropped_high),
        "taken_ms": (one.taken_low, one.taken_high),
        "unowned_ms": (one.unowned_low, one.unowned_high),
        "overlap_ms": (one.overlap_low, one.overlap_high),
        # the logs tell of a pause what it took at least, where no line tells the first pull
        "pause_ms": (one.pause_low if row["pause_is"] == "exact" else None, one.pause_high),
    }
    return [
        f"{one}: {name} is {value}, seen was {low} to {high}"
        for name, (low, high) in bounds.items()
        if isinstance(value := row[name], int)
        and ((low is not None and value < low) or (high is not None and value > high))
    ]
