import sys
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import Any

import pytest
from pyspark.sql import SparkSession

from rebalance_engine.pipeline.events import signs_of_life
from rebalance_engine.pipeline.schemas import HANDOFFS, ROUNDS
from rebalance_engine.pipeline.stories import clues_of, comings, of_kind, stories_of, tell
from tests.rebalance_engine.pipeline.frames import (
    QUEUE,
    added,
    java5,
    no_zones,
    persisted,
    read_events,
    read_holds,
    read_lines,
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
    return {**row, "topic": None, "broker": None, "number": None, "queues": None, **more}


def kinds(rows: list[tuple[str, dict[str, Any]]], kind: str) -> list[dict[str, Any]]:
    return [body for name, body in rows if name == kind]


def test_of_a_group_of_which_nobody_tells_what_it_held_comings_and_goings_are_rounds_still() -> None:
    """Unless nothing is divided among its members, who broadcast, or consume what brokers hand out."""
    clues = [
        clue(what, at + shift, client_id="A", number=1)
        for at in range(0, 50_000, 10_000)
        for shift, what in ((0, "joined"), (5_000, "closed"))
    ]

    told = list(comings(clues))

    assert [row["cause"] for row in kinds(told, "bare round")] == ["member joined", "connection closed"] * 5
    assert len(told) == 10
    assert list(comings([*clues, clue("ownerless", 0)])) == []


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


def test_a_queue_that_nobody_takes_any_more_is_unowned_until_the_input_ends() -> None:
    spans = [span("A", 1_000, 60_000), span("B", 50_000, 90_000, queue_id=1, ended="open")]
    clues = [clue("joined", 500, client_id="A"), clue("input ends", 90_000)]

    (stretch,) = kinds(list(tell(spans, clues)), "stretch")

    assert (stretch["queue_id"], stretch["at_ms"], stretch["until_ms"]) == (0, 60_000, 90_000)
    assert (stretch["clients"], stretch["is_open"], stretch["unheard"]) == ([], True, 0)


def test_queues_of_a_group_that_has_no_member_left_are_deserted_from_its_last_going_on() -> None:
    """A lets its queue go at 60,000, B stops at 70,000: nobody is there then; or C, who has nothing, is."""
    spans = [span("A", 1_000, 60_000), span("B", 50_000, 70_000, queue_id=1, ended="stopped")]
    clues = [clue("joined", 500, client_id="A"), clue("left", 60_000, client_id="A"), clue("input ends", 90_000)]
    idle = clue("joined", 600, client_id="C")

    def told(*more: dict[str, object]) -> list[tuple[int, ...]]:
        rows = kinds(list(tell(spans, [*clues, *more])), "stretch")
        names = ("queue_id", "at_ms", "until_ms", "is_open", "is_deserted")
        return sorted(tuple(row[name] for name in names) for row in rows)

    assert told() == [
        (0, 60_000, 70_000, True, False),
        (0, 70_000, 90_000, True, True),
        (1, 70_000, 90_000, True, True),
    ]
    assert told(idle) == [(0, 60_000, 90_000, True, False), (1, 70_000, 90_000, True, False)]


def test_queues_are_not_deserted_while_a_member_that_was_only_counted_may_have_them() -> None:
    """A is the only member whose log is there; by its last result there are two, or it is alone."""
    spans = [span("A", 1_000, 60_000, ended="stopped")]

    def told(members: int) -> list[tuple[object, ...]]:
        clues = [clue("counted", 1_500, client_id="A", number=members), clue("input ends", 900_000)]
        rows = kinds(list(tell(spans, clues)), "stretch")
        return [(row["at_ms"], row["until_ms"], row["is_deserted"], row["unheard"]) for row in rows]

    assert told(1) == [(60_000, 900_000, True, 0)]
    assert told(2) == [(60_000, 900_000, False, 1)]


def test_time_in_which_a_group_is_off_is_no_pause() -> None:
    """A stops, and hours later B is started. Where A is killed, that is an outage."""
    clues = [clue("joined", 500, client_id="A"), clue("joined", 9_000_000, client_id="B")]
    after = span("B", 9_000_300, 9_050_000)

    def told(ended: str) -> tuple[dict[str, Any], list[tuple[int, ...]]]:
        rows = list(tell([span("A", 1_000, 60_000, ended=ended), after], clues))
        (handoff,) = kinds(rows, "handoff")
        return handoff, [(row["at_ms"], row["until_ms"], row["is_deserted"]) for row in kinds(rows, "stretch")]

    (stopped, cut), (killed, whole) = told("stopped"), told("lost")

    names = ("off_ms", "unowned_ms", "unowned_most_ms", "pause_ms")
    assert [stopped[name] for name in names] == [8_940_000, 300, 300, 800]
    assert cut == [(60_000, 9_000_000, True), (9_000_000, 9_000_300, False)]
    assert [killed[name] for name in names] == [0, 8_940_300, 8_940_300, 8_940_800]
    assert whole == [(60_000, 9_000_300, False)]


@pytest.mark.parametrize(("taker", "kind"), [("B", "handoff"), ("A", "return")])
def test_that_nobody_is_there_while_all_members_are_restarted_is_a_pause(taker: str, kind: str) -> None:
    """A stops, and a minute later B is started, or A again."""
    spans = [span("A", 1_000, 60_000, ended="stopped"), span(taker, 122_000, 200_000, process="later")]
    clues = [clue("joined", 500, client_id="A"), clue("left", 60_000, client_id="A")]
    clues += [clue("joined", 120_000, client_id=taker), clue("input ends", 200_000)]

    told = list(tell(spans, clues))

    (row,) = kinds(told, kind)
    names = ("off_ms", "unowned_ms", "pause_ms", "restart_ms")
    assert [row[name] for name in names] == [0, 62_000, 62_500, 60_000]
    (stretch,) = kinds(told, "stretch")
    assert (stretch["at_ms"], stretch["until_ms"], stretch["is_deserted"]) == (60_000, 122_000, False)


def test_a_queue_out_of_which_brokers_hand_messages_needs_no_owner() -> None:
    spans = [span("A", 1_000, 60_000)]
    popped = [clue("popped", at, topic="orders", process="A", queue_id=-1) for at in (61_000, 80_000)]

    (stretch,) = kinds(list(tell(spans, [clue("joined", 500, client_id="A"), clue("input ends", 90_000), *popped])),
                       "stretch")  # fmt: skip

    assert (stretch["at_ms"], stretch["until_ms"], stretch["is_open"]) == (60_000, 61_000, False)


@pytest.mark.parametrize(
    ("routes", "unowned"),
    [
        ([(500, ["east|4|6"])], [(60_000, 90_000, True)]),
        ([(500, ["east|4|6"]), (59_990, ["west|4|6"])], []),
        ([(500, ["east|4|6"]), (70_000, ["west|4|6"])], [(60_000, 70_000, False)]),
        ([(70_000, []), (80_000, ["east|4|6"])], [(60_000, 70_000, False), (80_000, 90_000, True)]),
        ([(70_000, ["east|4|2"])], [(60_000, 70_000, False)]),
        ([(70_000, ["east|0|6", "west|4|6"])], [(60_000, 70_000, False)]),
    ],
    ids=["there", "gone before", "gone", "gone and back", "not to be read", "fewer queues"],
)
def test_a_queue_that_is_gone_is_not_unowned(
    routes: list[tuple[int, list[str]]], unowned: list[tuple[int, int, bool]]
) -> None:
    told = [clue("route", at, topic="orders", queues=queues) for at, queues in routes]

    rows = kinds(list(tell([span("A", 1_000, 60_000)], [*told, clue("input ends", 90_000)])), "stretch")

    assert [(row["at_ms"], row["until_ms"], row["is_open"]) for row in rows] == unowned


def test_a_queue_is_not_unowned_while_its_broker_is_away_though_somebody_takes_it_afterwards() -> None:
    """East is away from 61,000 to 79,000 and from 79,500 on: A let it go when it saw that, and takes it again."""
    routes = [(500, ["east|4|6", "west|4|6"]), (61_000, ["west|4|6"]), (79_000, ["east|4|6"]), (79_500, [])]
    told = [clue("route", at, topic="orders", queues=queues) for at, queues in routes]
    spans = [span("A", 1_000, 60_000), span("A", 80_000, 90_000), span("B", 40_000, 62_000), span("B", 70_000, 79_200)]

    rows = kinds(list(tell(spans, [*told, clue("input ends", 95_000)])), "stretch")

    edges = [(row["at_ms"], row["until_ms"]) for row in rows]
    assert edges == [(40_000, 60_000), (79_200, 79_500)]
    assert [(row["clients"], row["is_open"]) for row in rows] == [(["A", "B"], False), ([], False)]


def test_what_members_hold_of_whom_only_brokers_tell_is_unknown() -> None:
    """B comes, and A gives the queue up: to B, most likely."""
    clues = [
        clue("joined", 500, client_id="A"),
        clue("joined", 59_000, client_id="B", number=1),
        clue("input ends", 90_000),
    ]

    told = list(tell([span("A", 1_000, 60_000)], clues))

    assert [row["unheard"] for row in kinds(told, "stretch")] == [1]
    assert [row["client"] for row in kinds(told, "member load")] == ["A"]
    assert [row["unheard"] for row in kinds(told, "group load")] == [1]


def test_a_killed_member_is_a_cause_by_itself() -> None:
    told = list(tell([span("A", 1_000, 60_000, ended="lost")], []))

    assert [row["cause"] for row in kinds(told, "round")] == ["held changed", "connection closed"]


def test_a_pause_in_which_a_member_of_no_log_may_have_had_the_queue_is_unknown() -> None:
    clues = [clue("joined", 59_000, client_id="B", number=1), clue("left", 80_000, client_id="B", number=1)]
    spans = [span("A", 1_000, 60_000), span("C", 81_000, 85_000), span("D", 86_000, 90_000)]

    first, second = kinds(list(tell(spans, clues)), "handoff")

    assert (first["pause_ms"], first["pause_is"]) == (None, "unknown")
    assert (first["unowned_ms"], first["unowned_most_ms"]) == (0, 21_000)
    assert (second["pause_ms"], second["pause_is"], second["unowned_ms"]) == (1_500, "at least", 1_000)


def test_a_pause_in_which_a_member_that_was_only_counted_may_have_had_the_queue_is_unknown() -> None:
    """B says at 60,200 that there is a third; no broker tells who that is. At 80,500 it is gone."""
    spans = [
        span("A", 1_000, 60_000),
        span("A", 81_000, 120_000, ended="open"),
        *(span("B", 1_000, 120_000, queue_id=1, ended="open"), span("A", 1_000, 70_000, queue_id=2)),
        span("B", 100_000, 120_000, queue_id=2, ended="open"),
        span("A", 1_000, 120_000, queue_id=3, ended="open"),
    ]
    counted = [(1_500, 2), (60_200, 3), (80_500, 2)]
    clues = [clue("counted", at, client_id="B", number=members) for at, members in counted]
    told = list(tell(spans, [*clues, clue("input ends", 120_000)]))

    ((back,), (there,)) = (kinds(told, kind) for kind in ("return", "handoff"))
    assert (back["queue_id"], back["pause_ms"], back["pause_is"]) == (0, None, "unknown")
    assert (there["queue_id"], there["pause_ms"], there["pause_is"]) == (2, None, "unknown")
    assert [row["unheard"] for row in kinds(told, "stretch")] == [1, 1]
    known = [one for one in clues if one["number"] == 2]
    assert {row["unheard"] for row in kinds(list(tell(spans, [*known, clue("input ends", 120_000)])), "stretch")} == {0}


def test_who_is_only_seen_to_leave_was_there_before() -> None:
    clues = [clue("left", 70_000, client_id="B", number=1), clue("input ends", 90_000)]
    spans = [span("A", 1_000, 60_000), span("A", 65_000, 69_000), span("A", 75_000, 90_000, ended="open")]

    rows = kinds(list(tell(spans, clues)), "stretch")

    assert [(row["at_ms"], row["unheard"]) for row in rows] == [(60_000, 1), (69_000, 1)]


def test_who_was_counted_before_a_brokers_log_began_may_have_had_what_was_let_go() -> None:
    """A and C count a third member until 75,000, and no log names it: the broker's begins at 70,000, or at 0."""
    clues = [clue("joined", 80_000, client_id="D"), clue("input ends", 90_000)]
    clues += [clue("counted", at, client_id=name, number=count) for at, name, count in COUNTED]
    spans = [span("A", 1_000, 60_000), span("C", 76_000, 90_000, ended="open")]
    spans += [span(name, 1_000, 90_000, queue_id=n, ended="open") for n, name in ((1, "A"), (2, "C"))]

    def pause(begin: int) -> tuple[int | None, str]:
        (row,) = kinds(list(tell(spans, [*clues, clue("brokers tell", begin, number=90_000)])), "handoff")
        return row["pause_ms"], row["pause_is"]

    assert pause(70_000) == (None, "unknown")
    assert pause(0) == (16_500, "at least")


COUNTED = [(1_000, "A", 2), (1_100, "C", 2), (59_900, "A", 3), (60_100, "C", 3), (75_500, "A", 2), (76_100, "C", 2)]


def test_a_pause_in_which_a_member_whose_log_was_cut_may_have_had_the_queue_is_unknown() -> None:
    """C is there until 80,000, and its log ends at 50,000: it may have had what A let go at 60,000."""
    clues = [
        clue("joined", 500, client_id="C"),
        clue("closed", 80_000, client_id="C"),
        clue("log ends", 50_000, client_id="C"),
        clue("input ends", 90_000),
    ]
    spans = [
        span("A", 1_000, 60_000),
        span("B", 76_000, 90_000, ended="open"),
        span("C", 2_000, 80_000, queue_id=1, ended="lost"),
        span("A", 70_000, 90_000, queue_id=1, ended="open"),
    ]

    whole = list(tell(spans, [one for one in clues if one["what"] != "log ends"]))
    cut = list(tell(spans, clues))

    known = {row["queue_id"]: row for row in kinds(whole, "handoff")}
    assert (known[0]["pause_ms"], known[1]["overlap_ms"]) == (16_500, 10_000)
    unsure = {row["queue_id"]: row for row in kinds(cut, "handoff")}
    assert {(row["pause_ms"], row["pause_is"], row["unowned_ms"]) for row in unsure.values()} == {(None, "unknown", 0)}
    assert (unsure[0]["unowned_most_ms"], unsure[1]["unowned_most_ms"]) == (16_000, 20_000)
    assert (unsure[0]["overlap_ms"], unsure[1]["overlap_ms"]) == (0, 0)
    assert [row["clients"] for row in kinds(cut, "stretch") if row["unheard"] != 1 and row["at_ms"] < 80_000] == []
    assert [row["unheard"] for row in kinds(cut, "group load")] == [1]
    assert {row["client"] for row in kinds(cut, "member load")} == {"A", "B", "C"}


def test_a_process_that_never_reached_a_broker_was_no_member() -> None:
    """It starts, finds no NameServer, and stops again, before A takes a queue."""
    own = [clue(f"consumer {what}", at, process="web2") for what, at in (("started", 500), ("stopped", 9_000))]
    own[1]["client_id"] = "B"
    reached = clue("reached", 900, process="web2", client_id="B")

    without, with_sign = (
        [(row["cause"], row["who"]) for row in kinds(list(tell([span("A", 20_000, 60_000)], clues)), "round")]
        for clues in (own, [*own, reached])
    )

    assert without == [("held changed", [])]
    assert with_sign == [("member joined", ["B"]), ("member left", ["B"])]


def steps_of(rounds: int) -> int:
    """Count the lines of the pipeline's rooms that run while a story of so many rounds is told."""
    spans, clues = [], []
    for number in range(rounds):
        at, client = number * 60_000, f"B{number // 2}"
        clues += [clue("left" if number % 2 else "joined", at, client_id=client, process=by) for by in ("b1", "b2")]
        holder = "A" if number % 2 else client
        spans += [span(holder, at + 500 + queue, at + 60_400 + queue, queue_id=queue) for queue in range(4)]
    steps = 0

    def count(frame: FrameType, event: str, _argument: object) -> Callable[..., Any] | None:
        nonlocal steps
        steps += event == "line"
        return count if "pipeline" in frame.f_code.co_filename else None

    sys.settrace(count)
    try:
        assert len(kinds(list(tell(spans, clues)), "round")) == rounds
    finally:
        sys.settrace(None)
    return steps


def test_a_story_of_four_times_the_rounds_takes_four_times_the_steps() -> None:
    few, many = steps_of(20), steps_of(80)

    assert many / few < 4.5


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

    life = signs_of_life(read_lines(spark, tmp_path), no_zones(spark))

    stories = stories_of(spans, clues_of(events, events, spans, life)).localCheckpoint()

    (handoff,) = of_kind(stories, "handoff", HANDOFFS).collect()
    assert (handoff["cluster"], handoff["group"], handoff["day"]) == ("default", "g", "2026-11-21")
    assert (handoff["from_client"], handoff["to_client"], handoff["unowned_ms"]) == ("A", "B", 400)
    assert of_kind(stories, "round", ROUNDS).count() == 1
