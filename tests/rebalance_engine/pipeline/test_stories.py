from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

from rebalance_engine.pipeline.schemas import HANDOFFS, ROUNDS
from rebalance_engine.pipeline.stories import clues_of, of_kind, stories_of, tell
from tests.rebalance_engine.pipeline.frames import (
    QUEUE,
    added,
    java5,
    persisted,
    read_events,
    read_holds,
    removed,
    result,
)


def span(client: str, begin: int, end: int, **more: object) -> dict[str, object]:
    row: dict[str, object] = {
        "topic": "orders",
        "broker": "east",
        "queue_id": 0,
        "client_id": client,
        "process": client,
    }
    return {**row, "layout": "java5", "ended": "released", "from_ms": begin, "until_ms": end, **more}


def clue(what: str, at: int, **more: object) -> dict[str, object]:
    row: dict[str, object] = {"what": what, "at_ms": at, "process": "east", "client_id": None, "queue_id": None}
    return {**row, "topic": None, "broker": None, "number": None, **more}


def kinds(rows: list[tuple[str, dict[str, Any]]], kind: str) -> list[dict[str, Any]]:
    return [body for name, body in rows if name == kind]


def test_a_groups_story_has_rounds_handoffs_stretches_and_loads() -> None:
    spans = [span("A", 1_000, 60_000), span("B", 60_400, 90_000)]
    clues = [clue("joined", 500, client_id="A"), clue("joined", 59_000, client_id="B")]

    told = list(tell(spans, clues))

    assert [row["cause"] for row in kinds(told, "round")] == ["member joined", "member joined"]
    (handoff,) = kinds(told, "handoff")
    assert (handoff["from_client"], handoff["to_client"], handoff["round"]) == ("A", "B", 2)
    assert (handoff["unowned_ms"], handoff["pause_ms"], handoff["pause_is"]) == (400, 900, "at least")
    (stretch,) = kinds(told, "stretch")
    assert (stretch["at_ms"], stretch["until_ms"], stretch["clients"]) == (60_000, 60_400, [])
    assert {row["client"] for row in kinds(told, "member load")} == {"A", "B"}


def test_a_handoff_from_a_member_that_shuts_down_says_between_which_moments_it_was_let_go() -> None:
    spans = [span("A", 1_000, 63_000, ended="stopped", until_after_ms=60_000), span("B", 60_400, 90_000)]

    pulled = {"process": "B", "topic": "orders", "broker": "east", "queue_id": 0, "number": 4}

    told = list(tell(spans, [clue("joined", 500, client_id="A"), clue("first pull", 61_000, **pulled)]))

    (handoff,) = kinds(told, "handoff")
    assert (handoff["released_after_ms"], handoff["released_ms"]) == (60_000, 63_000)
    assert (handoff["overlap_least_ms"], handoff["overlap_ms"]) == (0, 2_600)
    assert (handoff["unowned_ms"], handoff["unowned_most_ms"]) == (0, 400)
    assert (handoff["pause_ms"], handoff["pause_is"]) == (0, "at least")
    (stretch,) = kinds(told, "stretch")
    assert (stretch["clients"], stretch["stopping_ms"]) == (["A", "B"], 2_600)


def test_a_killed_member_is_a_cause_by_itself() -> None:
    told = list(tell([span("A", 1_000, 60_000, ended="lost")], []))

    assert [row["cause"] for row in kinds(told, "round")] == ["held changed", "connection closed"]


@pytest.mark.spark
def test_stories_become_tables(spark: SparkSession, tmp_path: Path) -> None:
    queue = QUEUE.format("east", 0)
    for host, lines in {
        "web1": [java5(1, added("g", queue)), java5(1.1, result("g", "A", [queue])),
                 java5(60, persisted("g", "A", queue, 9, every=False)), java5(60, removed("g", queue))],
        "web2": [java5(60.4, added("g", queue)), java5(60.5, result("g", "B", [queue]))],
    }.items():  # fmt: skip
        (tmp_path / host).mkdir()
        (tmp_path / host / "a.log").write_text("".join(lines))
    events, spans = read_events(spark, tmp_path), read_holds(spark, tmp_path).localCheckpoint()

    stories = stories_of(spans, clues_of(events, events, spans)).localCheckpoint()

    (handoff,) = of_kind(stories, "handoff", HANDOFFS).collect()
    assert (handoff["cluster"], handoff["group"], handoff["day"]) == ("default", "g", "2026-11-21")
    assert (handoff["from_client"], handoff["to_client"], handoff["unowned_ms"]) == ("A", "B", 400)
    assert of_kind(stories, "round", ROUNDS).count() == 1
