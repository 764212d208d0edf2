"""One run on a real cluster, seen by the watcher while it goes on and told from the logs that it left: one story.

The control room's figures are bounds, because it looks from time to time. What the logs tell of the same handoff lies
inside them, where one line tells it: the line may come a little after what it tells, never before. Where the logs tell
bounds too (a client that shuts down, a death that only brokers saw), both have a moment in common. No bound is open.
Neither side tells a handoff, a coming or a going that the other has not.

Of stock clients the control room tells no first pull: of a pause only that it was no shorter than nobody had the queue;
nor for how long nothing was consumed, whose lock was refused, or what came twice. These it leaves unknown.
"""

from __future__ import annotations

import shutil
from collections import defaultdict
from pathlib import Path

import pytest
from django.db.models import Min, Q, QuerySet
from pyspark.sql import SparkSession
from pytest_django import Settings
from redis import Redis

from dashboard.groups.models import Group, Handoff, Holding, LockRefusal, Member, Round, RoundCause
from rebalance_engine.pipeline.jobs import Asked, run_logs
from rebalance_engine.pipeline.progress import Progress
from rebalance_engine.pipeline.reports import read_table
from rebalance_engine.pipeline.sources import find_files
from rebalance_engine.pipeline.wording import Row
from tests.cluster.contract import Cluster
from tests.dashboard.conftest import redis, redis_server  # noqa: F401 - fixtures
from tests.matrix.room import Room, ms
from tests.matrix.test_control_room import QUEUES, cast
from tests.rebalance_engine.pipeline.conftest import spark  # noqa: F401 - a fixture

pytestmark = [pytest.mark.java, pytest.mark.spark, pytest.mark.slow, pytest.mark.django_db(transaction=True)]

GROUP = "toldtwice"
SETTLES_WITHIN_S = 180  # told, too, while the machine is busy
APART_MS = 5_000  # logs take what follows within 3 s for one round, by clocks of brokers that tell seconds
SECOND_MS = 1_000
WRITTEN_WITHIN_MS = 250  # after it changed its table a client writes its line: a look may come between
Way = tuple[str, str, int, str, str]
Bounds = tuple[int | None, int | None]  # at least, at most; None: unknown


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
    clients = _play(cluster, Room(cluster, redis, GROUP), homes)
    tables = _from_logs(cluster, spark, homes, tmp_path)

    live, told = _live(), defaultdict(list)
    for row in sorted(tables["handoffs"], key=lambda row: _number(row, "taken_ms")):
        told[_way(row)].append(row)

    assert len({way for way in told if not way[0].startswith("%RETRY%")}) >= 2 * QUEUES
    assert {way: len(ones) for way, ones in live.items()} == {way: len(rows) for way, rows in told.items()}
    assert list(_halves(clients)) == []
    pairs = [pair for way, ones in live.items() for pair in zip(told[way], ones, strict=True)]
    assert "\n".join(said for row, one in pairs for said in _outside(row, one)) == ""

    assert "\n".join(said for client in clients for said in (*_unlike(client, tables), *_idle(client, tables))) == ""
    assert [
        f"{one}: {one.round}, {row}" for row, one in pairs if not _are_of_one_cause(row, one, tables, clients)
    ] == []
    assert [row for row in tables["handoffs"] if row["lock_wait_ms"] is not None or row["duplicates_least"]] == []
    assert not LockRefusal.objects.filter(group__name=GROUP).exists()
    assert Group.objects.get(name=GROUP).duplicate_messages is None
    assert set(Round.objects.filter(group__name=GROUP).values_list("twice", flat=True)) == {None}


def _live() -> dict[Way, list[Handoff]]:
    """Give what was seen live, from one member to another, in its order."""
    live = defaultdict(list)
    rows = Handoff.objects.filter(round__group__name=GROUP).exclude(from_client="").exclude(to_client="")
    for one in rows.select_related("round").order_by("round__number", "dropped_at"):
        live[one.topic, one.broker, one.queue_id, one.from_client, one.to_client].append(one)
    return live


def _halves(clients: list[str]) -> QuerySet[Handoff]:
    """Give what was seen live to be let go to nobody, or taken from nobody, but by A, who was there before others."""
    half = Handoff.objects.filter(Q(from_client="") | Q(to_client=""), round__group__name=GROUP)
    of_others = RoundCause.objects.filter(group__name=GROUP, client_id__in=clients)
    return half.exclude(~Q(round__in=of_others.values("round")), from_client="")


def _play(cluster: Cluster, room: Room, homes: Path) -> list[str]:
    """A comes, B joins, B is killed, C joins, C stops; each when all is settled and told. Give B and C."""
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
                    and not of_group.filter(last_cause_at__gte=ms() - APART_MS).exists()
                ),
                what,
                within_s=SETTLES_WITHIN_S,
            )
            before = of_group.count()

        a = group.start("A")
        everything = 2 * QUEUES
        room.until(
            lambda: (
                len(room.held(a.client_id())) == everything
                and room.is_settled()
                and not of_group.filter(last_cause_at__gte=ms() - APART_MS).exists()
            ),
            "A having all",
        )
        before = of_group.count()
        b = group.start("B")
        settle({a.client_id(), b.client_id()}, "B having its share")
        b.kill()
        settle({a.client_id()}, "A having B's share")
        c = group.start("C")
        settle({a.client_id(), c.client_id()}, "C having its share")
        c.stop()
        settle({a.client_id()}, "A having C's share")
        return [b.client_id(), c.client_id()]


def _from_logs(cluster: Cluster, spark: SparkSession, homes: Path, folder: Path) -> dict[str, list[Row]]:  # noqa: F811
    source, target = folder / "logs", folder / "told"
    for home in [*homes.iterdir(), *(cluster.folder / broker for broker in cluster.addresses)]:
        for log in (home / "logs" / "rocketmqlogs").glob("*.log"):
            if log.name in ("rocketmq_client.log", "broker.log") and log.stat().st_size:
                (source / home.name).mkdir(parents=True, exist_ok=True)
                shutil.copy(log, source / home.name)
    run_logs(spark, Asked(source=source, target=target), find_files(source), Progress(print))
    names = ("handoffs", "rounds", "events", "member_loads")
    return {name: [row for row in read_table(target / name) if row["group"] == GROUP] for name in names}


def _number(row: Row, name: str) -> int:
    return int(str(row[name]))


def _way(row: Row) -> Way:
    return (
        str(row["topic"]),
        str(row["broker"]),
        int(str(row["queue_id"])),
        str(row["from_client"]),
        str(row["to_client"]),
    )


def _released(row: Row) -> Bounds:
    """Say when the logs have it that the giver let go: at one moment, or between two."""
    at = _number(row, "released_ms")
    return at if row["released_after_ms"] is None else _number(row, "released_after_ms"), at


def _cause_of(giver: object, taker: object, clients: list[str]) -> RoundCause:
    """Give why a queue went from one to another: whichever of both came to take it, or went and left it."""
    (client,) = {str(giver), str(taker)} & set(clients)
    causes = RoundCause.objects.filter(group__name=GROUP, client_id=client).order_by("at", "pk")
    return list(causes.select_related("round"))[0 if client == taker else -1]


def _meet(told: Bounds, seen: Bounds, *, early_ms: int = 0, late_ms: int = 0) -> bool:
    """Ask whether what the logs tell lies in what was seen, which has both bounds; of two bounds, whether they meet.

    It may truly be so much less, or more, than the logs tell.
    """
    (begin, end), (low, high) = told, seen
    if low is None or high is None or begin is None or end is None:
        return False
    return end + late_ms >= low and begin - early_ms <= high


def _outside(row: Row, one: Handoff) -> list[str]:
    """Name the figures of a handoff that do not lie inside the bounds of what was seen live."""
    taken = _number(row, "taken_ms")
    # Who left may have had it still, as nobody asks it any more, and owned it no longer.
    dropped_high = one.dropped_at if one.dropped_high is None and row["ended"] != "released" else one.dropped_high
    moments: dict[str, tuple[Bounds, Bounds]] = {
        "released": (_released(row), (one.dropped_low, dropped_high)),
        "taken": ((taken, taken), (one.taken_low, one.taken_high)),
    }
    lengths: dict[str, tuple[Bounds, Bounds]] = {
        "unowned": (
            (_number(row, "unowned_ms"), _number(row, "unowned_most_ms")),
            (one.unowned_low, one.unowned_high),
        ),
        "overlap": (
            (_number(row, "overlap_least_ms"), _number(row, "overlap_ms")),
            (one.overlap_low, one.overlap_high),
        ),
    }
    outside = [name for name, pair in moments.items() if not _meet(*pair, early_ms=WRITTEN_WITHIN_MS)]
    outside += [
        name
        for name, pair in lengths.items()
        if not _meet(*pair, early_ms=WRITTEN_WITHIN_MS, late_ms=WRITTEN_WITHIN_MS)
    ]
    said = [f"{one}: {name} is {told}, seen was {seen}" for name, (told, seen) in (moments | lengths).items()
            if name in outside]  # fmt: skip
    if (one.pause_low, one.pause_high) != (None, None):
        said.append(f"{one}: of a stock client's pause is told {one.pause_low} to {one.pause_high}")
    if _number(row, "pause_ms") + WRITTEN_WITHIN_MS < (one.unowned_low or 0):
        said.append(f"{one}: paused {row['pause_ms']}, and nobody had it for {one.unowned_low}")
    return said


def _idle(client: str, tables: dict[str, list[Row]]) -> list[str]:
    """Name for how long who came had no queue, where the logs tell otherwise than what was seen: until its first."""
    told = sum(_number(row, "idle_ms") for row in tables["member_loads"] if row["client"] == client)
    member = Member.objects.get(group__name=GROUP, client_id=client)
    first = Holding.objects.filter(group__name=GROUP, member=member).aggregate(low=Min("at_low"), at=Min("at"))
    assert member.at_low is not None
    seen = (max(0, first["low"] - member.at), first["at"] - member.at_low)
    is_in = _meet((told, told), seen, early_ms=SECOND_MS + WRITTEN_WITHIN_MS)  # of its coming a broker tells the second
    return [] if is_in else [f"{client} had nothing for {told}, seen was {seen}"]


def _unlike(client: str, tables: dict[str, list[Row]]) -> list[str]:
    """Name what the logs and the control room tell otherwise of when a client came and went, and of what rounds."""
    causes = list(RoundCause.objects.filter(group__name=GROUP, client_id=client).order_by("at", "pk"))
    rounds = sorted(_rounds_of(client, tables), key=lambda row: _number(row, "opened_ms"))
    if (len(causes), len(rounds)) != (2, 2):
        return [f"{client} came and went: the logs have {rounds}, seen was {causes}"]
    said = []
    for row, cause, what in zip(rounds, causes, (("joined",), ("left", "closed")), strict=True):
        lines = [
            _number(line, "at_ms")
            for line in tables["events"]
            if (line["layout"], line["client_id"]) == ("broker", client) and line["what"] in what
        ]
        told = (_number(row, "opened_ms"), max(lines) + SECOND_MS - 1)
        if not _meet(told, (cause.at_low, cause.at_high)):
            said.append(f"{cause}: the logs have it at {told}, seen was {cause.at_low} to {cause.at_high}")
        assert cause.round is not None
        if row["moves"] != cause.round.move_count:
            said.append(f"{cause}: {row['moves']} queues moved, seen were {cause.round.move_count}")
    return said


def _rounds_of(client: str, tables: dict[str, list[Row]]) -> list[Row]:
    return [row for row in tables["rounds"] if isinstance(row["who"], list) and client in row["who"]]


def _are_of_one_cause(row: Row, one: Handoff, tables: dict[str, list[Row]], clients: list[str]) -> bool:
    """Ask whether both have it that the queue moved because the same client came or went.

    Live, a round may be superseded by one of another cause; the queues that it moved are of the same wave.
    """
    (client,) = {one.from_client, one.to_client} & set(clients)
    is_coming = client == one.to_client
    of_client = sorted(_rounds_of(client, tables), key=lambda row: _number(row, "opened_ms"))
    cause = _cause_of(one.from_client, one.to_client, clients)
    assert cause.round is not None
    of_logs = of_client[0 if is_coming else -1]
    return (row["round"], one.round.wave) == (of_logs["number"], cause.round.wave)
