"""What the simulator made happen is recovered from logs in the formats of all clients."""

from collections import Counter
from dataclasses import dataclass
from functools import reduce
from itertools import permutations
from typing import Any

import pytest
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812 - the name that PySpark's own documentation uses

from rebalance_engine.events import (
    Departure,
    Duplicates,
    Fact,
    PresenceGone,
    PresenceSeen,
    QueueDropped,
    QueuePulled,
    QueueTaken,
)
from rebalance_engine.model import MessageQueue
from rebalance_engine.pipeline import clients, events, holds, stories, zones
from tests.rebalance_engine.pipeline.frames import read_lines
from tests.rebalance_engine.pipeline.runs import as_holds
from tests.rebalance_engine.pipeline.written import Logs, play

pytestmark = [pytest.mark.spark]
SCENARIO = """
seed 7
broker east 5.5.0
broker west 5.5.0
topic orders 4
group AVG concurrent
listener 5..40 fails 0
latency 1..12
producer P 5.5.0 every 500
sends until 100000
0 start A {profile}
20000 start B {profile}
40000 start C {profile}
60000 stop B
75000 kill C
95000 start D {profile}
ends at 120000
"""
PROFILES = {"java5": "java-5.5.0", "java4": "java-4.9.7", "cpp": "cpp", "go": "go"}
RESOLUTION_MS = {"java5": 1, "java4": 1, "cpp": 1, "go": 1000}
UNSAID_MS = 2_500  # where no line of the client tells an end, a broker's second and its noticing do


@dataclass
class Recovered:
    """What was written in one layout, and what is told of it: holds, and the group's story by kinds of rows."""

    facts: list[Fact]
    logs: Logs
    holds: list[Any]
    story: dict[str, list[dict[str, Any]]]


@pytest.fixture(scope="module")
def told(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Recovered]:
    """Give what is told by layout; each is a cluster with hosts of its own, in one go."""
    place, played, written, frames = tmp_path_factory.mktemp("written"), {}, {}, []
    for layout, profile in PROFILES.items():
        played[layout] = play(SCENARIO.format(profile=profile))
        written[layout] = Logs(place / layout, dict.fromkeys("ABCD", layout), prefix=f"{layout}-")
        written[layout].write(played[layout])
        frames.append(read_lines(spark, place / layout, layout))
    found = reduce(DataFrame.unionByName, frames).localCheckpoint()
    # C++ lines do not tell when a member joined: the zone of its hosts is given.
    given = spark.createDataFrame(zones.given_zones({f"cpp-{client}": "+00:00" for client in "ABCD"}), zones.ZONES)
    inferred = zones.infer_zones(found).where(F.col("layout") != "cpp")
    said = events.events_of(found, inferred.unionByName(given).localCheckpoint()).localCheckpoint()
    changes = clients.changes_of(said).localCheckpoint()
    life = events.signs_of_life(found, inferred.unionByName(given))
    spans = holds.spans_of(said, changes, life).localCheckpoint()
    rows, clues = by_cluster(spans), by_cluster(stories.clues_of(said, changes, spans, life))
    return {
        layout: Recovered(played[layout], written[layout], rows[layout], story_of(rows[layout], clues[layout]))
        for layout in PROFILES
    }


def by_cluster(frame: DataFrame) -> dict[str, list[Any]]:
    rows: dict[str, list[Any]] = {layout: [] for layout in PROFILES}
    for row in frame.collect():
        rows[row["cluster"]].append(row.asDict())
    return rows


def story_of(spans: list[Any], clues: list[Any]) -> dict[str, list[dict[str, Any]]]:
    assert [row for row in spans if row["from_ms"] is None] == []
    story: dict[str, list[dict[str, Any]]] = {"round": [], "handoff": [], "return": []}
    for kind, row in stories.tell(spans, clues):
        story.setdefault(kind, []).append(row)
    return story


@pytest.mark.parametrize("layout", PROFILES)
def test_what_was_simulated_is_recovered_whole(told: dict[str, Recovered], layout: str) -> None:
    logs = told[layout].logs
    found = as_holds(told[layout].holds)

    ended = {key: sorted(spans) for key, spans in logs.truth.items()}
    for (client, queue), since in logs.since.items():
        ended.setdefault(("g", *queue, client), []).append((since, 0, "open"))
    assert {key: len(spans) for key, spans in found.items()} == {key: len(spans) for key, spans in ended.items()}
    for key, spans in ended.items():
        for seen, true in zip(found[key], sorted(spans), strict=True):
            assert abs(seen[0] - true[0]) <= RESOLUTION_MS[layout], (key, seen, true)
            if true[2] == "released":
                assert seen[2] == "released"
                assert abs(seen[1] - true[1]) <= RESOLUTION_MS[layout], (key, seen, true)
            elif true[2] != "open":
                assert abs(seen[1] - true[1]) <= UNSAID_MS, (key, seen, true)


@pytest.mark.parametrize("layout", PROFILES)
def test_every_round_and_move_of_what_was_simulated_is_told(told: dict[str, Recovered], layout: str) -> None:
    recovered = told[layout]

    after = [sorted(row["members_after"]) for row in recovered.story["round"]]
    assert after == [["A"], ["A", "B"], ["A", "B", "C"], ["A", "C"], ["A"], ["A", "D"]]
    told_rounds = [(row["cause"], row["who"]) for row in recovered.story["round"]]
    assert told_rounds == [(cause, [client]) for _, cause, client in comings_and_goings(recovered)]
    figures = [(row["moves"], row["handoffs"], row["above_fewest"]) for row in recovered.story["round"]]
    assert figures == true_figures(recovered)
    assert figures[0][0] and figures[-1][1]  # there is something to compare
    moved: dict[MessageQueue, list[tuple[str, str]]] = {}
    for row in sorted(recovered.story["handoff"], key=lambda row: int(row["taken_ms"])):
        queue = MessageQueue(row["topic"], row["broker"], row["queue_id"])
        moved.setdefault(queue, []).append((row["from_client"], row["to_client"]))
    assert moved == {queue: [(one.giver, one.taker) for one in those] for queue, those in moves(recovered).items()}


@pytest.mark.parametrize("layout", PROFILES)
def test_no_pause_or_duplicate_of_what_was_simulated_is_told_wrongly(told: dict[str, Recovered], layout: str) -> None:
    recovered = told[layout]
    true = {queue: iter(those) for queue, those in moves(recovered).items()}
    most: dict[MessageQueue, list[int | None]] = {}
    for row in sorted(recovered.story["handoff"], key=lambda row: int(row["taken_ms"])):
        queue = MessageQueue(row["topic"], row["broker"], row["queue_id"])
        paused = next(true[queue]).pause_ms
        within = RESOLUTION_MS[layout] if row["ended"] == "released" else UNSAID_MS
        assert row["pause_ms"] <= paused + within, (row, paused)
        if row["pause_is"] == "exact":
            assert abs(row["pause_ms"] - paused) <= within, (row, paused)
    for row in (*recovered.story["handoff"], *recovered.story["return"]):
        queue = MessageQueue(row["topic"], row["broker"], row["queue_id"])
        most.setdefault(queue, []).append(row["duplicates_most"])
    for fact in recovered.facts:
        if isinstance(fact, Duplicates):
            bounds = most.get(fact.queue, [])
            assert None in bounds or sum(filter(None, bounds)) >= fact.count, (fact, bounds)


def comings_and_goings(recovered: Recovered) -> list[tuple[int, str, str]]:
    """Tell from the simulator's facts when who came or went: first at any broker."""
    causes = {Departure.UNREGISTERED: "member left", Departure.CONNECTION_CLOSED: "connection closed"}
    found: dict[tuple[str, str], int] = {}
    for fact in recovered.facts:
        if isinstance(fact, PresenceSeen):
            found.setdefault(("member joined", fact.client), fact.at)
        elif isinstance(fact, PresenceGone):
            found.setdefault((causes[fact.departure], fact.client), fact.at)
    return sorted((at, cause, client) for (cause, client), at in found.items())


def true_figures(recovered: Recovered) -> list[tuple[int, int, int]]:
    """Count moves, handoffs and those above the fewest between each coming or going and the next."""
    bounds = [at // 1000 * 1000 for at, *_ in comings_and_goings(recovered)]  # brokers tell seconds
    figures, before = [], owners_until(recovered, bounds[0])
    for end in (*bounds[1:], recovered.facts[-1].at + 1):
        after = owners_until(recovered, end)
        both = [queue for queue in before.keys() & after.keys() if before[queue] and after[queue]]
        moved = [queue for queue in before.keys() | after.keys() if before.get(queue) != after.get(queue)]
        handed = [queue for queue in both if before[queue] != after[queue]]
        figures.append((len(moved), len(handed), max(0, len(handed) - fewest(before, after, both))))
        before = after
    return figures


def owners_until(recovered: Recovered, end: int) -> dict[MessageQueue, str]:
    """Name the one owner of each queue that has one, when a time ends."""
    owners: dict[MessageQueue, list[str]] = {}
    for fact in recovered.facts:
        if fact.at >= end:
            break
        if isinstance(fact, QueueTaken):
            owners.setdefault(fact.queue, []).append(fact.client)
        elif isinstance(fact, QueueDropped):
            owners[fact.queue].remove(fact.client)
    assert all(len(those) < 2 for those in owners.values())
    return {queue: those[0] for queue, those in owners.items() if those}


def fewest(before: dict[MessageQueue, str], after: dict[MessageQueue, str], both: list[MessageQueue]) -> int:
    """Try every way to give the loads that members have after to them: how few queues change hands at least."""
    members, least = sorted({*after.values()}), 0
    for topic in {queue.topic for queue in both}:
        had = Counter(before[queue] for queue in both if queue.topic == topic)
        gets = Counter(owner for queue, owner in after.items() if queue.topic == topic)
        loads = [gets[member] for member in members]
        ways = permutations(loads)
        kept = max(sum(min(had[member], load) for member, load in zip(members, way, strict=True)) for way in ways)
        least += had.total() - kept
    return least


@dataclass
class Move:
    """A queue's true way from one member to another, and how long nobody pulled."""

    giver: str
    taker: str
    pause_ms: int


def moves(recovered: Recovered) -> dict[MessageQueue, list[Move]]:
    """Tell the moves from the simulator's own facts."""
    owner: dict[MessageQueue, QueueTaken] = {}
    found: dict[MessageQueue, list[Move]] = {}
    for fact in recovered.facts:
        if isinstance(fact, QueueTaken):
            before = owner.get(fact.queue)
            if before is not None and before.client != fact.client:
                pause = first(recovered, QueuePulled, fact) - first(recovered, QueueDropped, before)
                found.setdefault(fact.queue, []).append(Move(before.client, fact.client, max(pause, 0)))
            owner[fact.queue] = fact
    return found


def first(recovered: Recovered, kind: type[QueuePulled | QueueDropped], taken: QueueTaken) -> int:
    """Say when a member first pulled the queue that it had taken, or let it go."""
    return next(
        fact.at
        for fact in recovered.facts
        if isinstance(fact, kind) and (fact.client, fact.queue) == (taken.client, taken.queue) and fact.at >= taken.at
    )
