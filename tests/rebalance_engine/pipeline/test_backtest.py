from dataclasses import replace

import pytest
from pyspark.sql import SparkSession

from rebalance_engine.model import MessageQueue
from rebalance_engine.pipeline import schemas
from rebalance_engine.pipeline.backtest import AS_HELD, TRIED, as_held, backtest_of, recommend, replay, replay_rows
from rebalance_engine.pipeline.record import Ended, Hold, Known, Paused, Recorded, State, recorded_of, states_of
from tests.rebalance_engine.pipeline.test_measures import frame, handoff, opened
from tests.rebalance_engine.pipeline.test_record import ROUNDS, known

QUEUES = tuple(MessageQueue("orders", "east", number) for number in range(12))
STATES = [
    State(0, ("A",), QUEUES),
    State(1000, ("A", "B"), QUEUES),
    State(3000, ("A", "B", "C"), QUEUES),
    State(4000, ("B", "C"), QUEUES),
]


def paused(mean_ms: float) -> Recorded:
    """Whoever gave a queue away paused as long, unless it was lost."""
    return Recorded(paused={ended: Paused(10, 10, 10 * mean_ms) for ended in (Ended.RELEASED, Ended.STOPPED)})


def test_the_strategies_that_need_nothing_but_a_record_are_tried() -> None:
    assert {"AVG", "AVG_BY_CIRCLE", "CONSISTENT_HASH", "STICKY"} <= set(TRIED)
    assert not {"CONFIG", "MACHINE_ROOM"} & set(TRIED)


def test_a_replay_counts_what_the_engine_moves() -> None:
    """AVG gives blocks of 12, then 6 + 6, then 4 + 4 + 4, then 6 + 6: 6, then 2 + 4, then 4 + 2 queues change hands."""
    told = replay(STATES, "AVG", paused(250))

    assert (told.steps, told.handoffs, told.pause_ms) == (4, 18, 4500.0)
    assert replay(STATES, "STICKY", paused(250)).handoffs == 14


def test_skew_and_idle_members_are_weighted_by_time() -> None:
    few = QUEUES[:3]
    told = replay(
        [State(0, ("A", "B"), few), State(3000, ("A", "B", "C", "D"), few), State(4000, ("A",), few)], "AVG", Recorded()
    )

    assert told.mean_skew == pytest.approx((3 * (2 / 1.5) + 1 * (1 / 0.75)) / 4)
    assert (told.idle, told.pause_ms) == (0.25, None)


def test_fewer_handoffs_at_the_same_evenness_are_recommended_with_the_evidence() -> None:
    best, says = recommend([replay(STATES, name, paused(2_500)) for name in TRIED], "AVG")

    assert best == "STICKY"
    assert "14 handoffs instead of 18" in says
    assert "pauses shorter by an estimated 10.0 s" in says
    assert "must follow a plan" in says


@pytest.mark.parametrize(("handoffs", "paused_ms"), [(14, 250.0), (96, 60_000.0)])
def test_for_a_second_of_pauses_or_a_few_handoffs_in_a_hundred_no_strategy_is_changed(
    handoffs: int, paused_ms: float
) -> None:
    now = replace(replay(STATES, "AVG", paused(paused_ms)), handoffs=18 if handoffs == 14 else 100)
    now = replace(now, pause_ms=now.handoffs * paused_ms)
    other = replace(now, strategy="STICKY", handoffs=handoffs, pause_ms=handoffs * paused_ms)

    best, says = recommend([now, other], "AVG")

    assert best == "AVG"
    assert says.startswith(f"keep AVG: none is clearly better: STICKY has {handoffs} handoffs instead of ")


def test_a_strategy_that_hands_nothing_over_pauses_for_no_time_and_must_save_ten_seconds_all_the_same() -> None:
    """A comes to four others that have a queue each: STICKY leaves it idle, as any strategy does."""
    queues, others = QUEUES[:4], tuple("bcde")
    states = [State(0, others, queues), State(10_000, ("a", *others), queues), State(100_000, ("a", *others), queues)]
    recorded = Recorded(moves=4, paused={Ended.RELEASED: Paused(4, 4, 400.0)})

    replays = [replay(states, name, recorded) for name in TRIED]
    best, says = recommend(replays, "AVG")

    told = {one.strategy: (one.handoffs, one.pause_ms) for one in replays}
    assert (told["AVG"], told["STICKY"]) == ((4, 400.0), (0, 0.0))
    assert (best, says) == (
        "AVG",
        "keep AVG: none is clearly better: STICKY has 0 handoffs instead of 4, pauses shorter by an estimated 400 ms",
    )
    assert recorded.pause_of({Ended.RELEASED: 2, Ended.LOST: 0}) == 200.0
    assert recorded.pause_of({Ended.RELEASED: 2, Ended.LOST: 1}) is None


def test_an_uneven_strategy_is_not_recommended_however_little_it_moves() -> None:
    now = replay(STATES, "AVG", paused(250))

    best, says = recommend([now, replace(now, strategy="CONSISTENT_HASH", handoffs=1, mean_skew=1.8)], "AVG")

    assert (best, says.split(":")[0]) == ("AVG", "keep AVG")


def test_an_unknown_strategy_is_compared_with_what_was_held_and_said_to_be_unknown() -> None:
    holds = [Hold(queue, "A" if n < 11 else "B", 0, 4000) for n, queue in enumerate(QUEUES)]
    held = as_held(STATES[1:], holds, Recorded(moves=30, paused={Ended.RELEASED: Paused(20, 20, 50_000)}))

    best, says = recommend([held, *(replay(STATES, name, paused(2_500)) for name in TRIED)], "MINE")

    assert held.mean_skew == pytest.approx((2 * (11 / 6) + 1 * (11 / 4)) / 3)
    assert held.idle == pytest.approx(1 / 3)
    assert best != "AVG"
    assert "instead of 20 that happened (strategy: MINE)" in says


def test_what_moved_less_in_truth_is_kept_whatever_its_strategy_is_called() -> None:
    held = replace(replay(STATES, "STICKY", paused(250)), strategy=AS_HELD, handoffs=3)

    best, says = recommend([held, *(replay(STATES, name, paused(250)) for name in TRIED)], "unknown")

    assert best == AS_HELD
    assert says.startswith("keep what it has (strategy: unknown): none that is as even")


def test_how_many_queues_there_were_is_unknown_where_nobody_tells_it() -> None:
    rounds = [{**one, "cluster": "c", "group": "g", "moves": 1, "released_handoffs": 2} for one in ROUNDS]

    (row,) = replay_rows(rounds, known((0, 0, 99_000)))

    assert (row["strategy"], row["handoffs"], row["moves"], row["steps"]) == (AS_HELD, 2, 3, 0)
    assert row["says"] == "unknown: no line tells how many queues its topics had"


def test_a_replay_begins_anew_behind_a_state_whose_queues_are_unknown() -> None:
    unknown = [STATES[0], STATES[1], State(2_000, ("A",), None), STATES[2], STATES[3]]

    told = replay(unknown, "AVG", Recorded())

    assert (told.steps, told.handoffs) == (4, 6 + 6)


def test_a_group_without_a_record_gives_no_rows() -> None:
    assert list(replay_rows([], Known())) == []


@pytest.mark.spark
def test_every_group_gets_a_row_for_every_strategy_and_one_recommendation(spark: SparkSession) -> None:
    rounds = frame(
        spark,
        schemas.ROUNDS,
        opened(1, 0, members_after=["A"]),
        opened(2, 60_000, members_after=["A", "B"]),
        {**opened(1, 0, members_after=["X"]), "group": "h"},
    )
    spans = frame(
        spark,
        schemas.SPANS,
        *(
            {"group": group, "topic": "orders", "broker": "east", "queue_id": n, "client_id": client,
             "from_ms": 0, "until_ms": 90_000}
            for group, client in (("g", "A"), ("h", "X"))
            for n in range(4)
        ),
    )  # fmt: skip
    handoffs = frame(spark, schemas.HANDOFFS, handoff(60_100, "A", "B"))
    said = {"what": "result", "layout": "java5", "topic": "orders", "number2": 4, "at_ms": 100}
    events = frame(
        spark,
        schemas.EVENTS,
        {"what": "route changed", "group": None, "topic": "orders", "at_ms": -5, "queues": ["east|4|6"], "number": 0},
        {**said, "client_id": "A", "strategy": "AVG"},
        {**said, "client_id": "X", "strategy": "MINE", "group": "h"},
        {"what": "instance made", "layout": "java5", "group": None, "client_id": "B", "at_ms": 1},
    )

    rows = backtest_of(rounds, spans, handoffs, events).collect()

    names = {*TRIED, AS_HELD}
    assert {(row["group"], row["strategy"]) for row in rows} == {(group, name) for group in "gh" for name in names}
    assert sorted(row["group"] for row in rows if row["is_best"]) == ["g", "h"]
    assert {(row["group"], row["now"]) for row in rows} == {("g", "AVG"), ("h", "MINE")}
    assert {row["handoffs"] for row in rows if row["group"] == "g" and row["strategy"] == "AVG"} == {2}
    assert {row["handoffs"] for row in rows if row["group"] == "g" and row["strategy"] == AS_HELD} == {1}


def test_a_mean_pause_is_that_of_the_handoffs_whose_pause_is_known_of_each_way_in_which_givers_ended() -> None:
    none = {f"{ended.value}_{what}": 0 for ended in Ended for what in ("handoffs", "known", "ms")}
    rows = [{**none, **one, "moves": 1, "lost_handoffs": 10, "lost_known": 2, "lost_ms": 20_000} for one in ROUNDS]

    told = recorded_of(rows)

    assert (told.handoffs, told.pause_of({Ended.LOST: 3})) == (10, 30_000.0)
    assert told.pause_of({Ended.LOST: 3, Ended.RELEASED: 1}) is None
    assert told.pause_of({}) == 0.0


def test_the_queues_of_who_is_lost_cost_what_such_cost_under_every_strategy() -> None:
    holds = [Hold(QUEUES[0], "A", 0, 3_900, is_lost=True), Hold(QUEUES[1], "B", 0, 9_000)]
    rounds: list[dict[str, object]] = [
        {"opened_ms": state.at_ms, "settled_ms": None, "members_after": list(state.members)} for state in STATES
    ]
    states = [replace(state, queues=QUEUES) for state in states_of(rounds, Known(holds=holds))]
    recorded = replace(paused(100), paused={**paused(100).paused, Ended.LOST: Paused(4, 4, 240_000)})

    told = {name: replay(states, name, recorded) for name in ("AVG", "STICKY")}

    assert [state.lost for state in states] == [frozenset(), frozenset(), frozenset(), frozenset("A")]
    assert (told["AVG"].handoffs, told["AVG"].pause_ms) == (18, 14 * 100 + 4 * 60_000)
    assert (told["STICKY"].handoffs, told["STICKY"].pause_ms) == (14, 10 * 100 + 4 * 60_000)
