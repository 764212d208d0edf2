from dataclasses import replace

import pytest
from pyspark.sql import SparkSession

from rebalance_engine.model import MessageQueue
from rebalance_engine.pipeline import schemas
from rebalance_engine.pipeline.backtest import TRIED, State, backtest_of, recommend, replay, replay_rows, states_of
from tests.rebalance_engine.pipeline.test_measures import frame, handoff, opened

QUEUES = tuple(MessageQueue("orders", "east", number) for number in range(12))
STATES = [
    State(0, ("A",), QUEUES),
    State(1000, ("A", "B"), QUEUES),
    State(3000, ("A", "B", "C"), QUEUES),
    State(4000, ("B", "C"), QUEUES),
]


def test_the_strategies_that_need_nothing_but_a_record_are_tried() -> None:
    assert {"AVG", "AVG_BY_CIRCLE", "CONSISTENT_HASH", "STICKY"} <= set(TRIED)
    assert not {"CONFIG", "MACHINE_ROOM"} & set(TRIED)


def test_a_replay_counts_what_the_engine_moves() -> None:
    """AVG gives blocks of 12, then 6 + 6, then 4 + 4 + 4, then 6 + 6: 6, then 2 + 4, then 4 + 2 queues change hands."""
    told = replay(STATES, "AVG", 250.0)

    assert (told.steps, told.handoffs, told.pause_ms) == (4, 18, 4500.0)
    assert replay(STATES, "STICKY", 250.0).handoffs == 14


def test_skew_and_idle_members_are_weighted_by_time() -> None:
    few = QUEUES[:3]
    told = replay(
        [State(0, ("A", "B"), few), State(3000, ("A", "B", "C", "D"), few), State(4000, ("A",), few)], "AVG", None
    )

    assert told.mean_skew == pytest.approx((3 * (2 / 1.5) + 1 * (1 / 0.75)) / 4)
    assert (told.idle, told.pause_ms) == (0.25, None)


def test_fewer_handoffs_at_the_same_evenness_are_recommended_with_the_evidence() -> None:
    best, says = recommend([replay(STATES, name, 250.0) for name in TRIED], "AVG")

    assert best == "STICKY"
    assert "14 handoffs instead of 18" in says
    assert "1.0 s of pauses less" in says
    assert "must follow a plan" in says


def test_an_uneven_strategy_is_not_recommended_however_little_it_moves() -> None:
    now = replay(STATES, "AVG", 250.0)

    best, says = recommend([now, replace(now, strategy="CONSISTENT_HASH", handoffs=1, mean_skew=1.8)], "AVG")

    assert (best, says.split(":")[0]) == ("AVG", "keep AVG")


def test_states_take_the_queues_that_were_known_at_their_time() -> None:
    route = {"topic": "orders", "broker": "east", "queue_id": 0, "from_ms": 0, "until_ms": 50_000}
    rounds = [
        opened(1, 1_000, members_after=["A"]),
        opened(2, 49_000, members_after=["B"]),
        opened(3, 90_000, members_after=["C"]),
    ]

    told = states_of(rounds, [route, {**route, "queue_id": 1, "from_ms": 40_000}])

    assert [(state.members, len(state.queues)) for state in told] == [(("A",), 1), (("B",), 2)]


def test_a_group_without_a_record_gives_no_rows() -> None:
    assert list(replay_rows([], [])) == []


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
            {"group": group, "topic": "orders", "broker": "east", "queue_id": n, "from_ms": 0, "until_ms": 90_000}
            for group in "gh"
            for n in range(4)
        ),
    )
    handoffs = frame(spark, schemas.HANDOFFS, handoff(60_100, "A", "B"))

    rows = backtest_of(rounds, spans, handoffs, frame(spark, schemas.EVENTS)).collect()

    assert {(row["group"], row["strategy"]) for row in rows} == {(group, name) for group in "gh" for name in TRIED}
    assert sorted(row["group"] for row in rows if row["is_best"]) == ["g", "h"]
    assert {row["handoffs"] for row in rows if row["group"] == "g" and row["strategy"] == "AVG"} == {2}
