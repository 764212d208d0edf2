from __future__ import annotations

import csv
import json
from collections.abc import Sequence

from dashboard.plans.answers import costly, describe, is_handoff, loads, moves_csv
from dashboard.plans.costs import NO_COSTS, Expected
from dashboard.plans.questions import Question
from dashboard.plans.trying import Known, Trial, try_out
from rebalance_engine.diff import Move, MoveCause
from rebalance_engine.group import GroupView, Member
from rebalance_engine.model import MessageQueue

QUEUES = [MessageQueue("orders", "east", number) for number in range(4)]


def trial(question: Question, *, strategy: str = "AVG", names: Sequence[str] = "AB") -> Trial:
    half = len(QUEUES) // 2
    members = [
        Member(client_id=name, strategy=strategy, held=tuple(QUEUES[n * half : (n + 1) * half]))
        for n, name in enumerate(names)
    ]
    return try_out(GroupView.of("g", QUEUES, members), question, Known({}))


def test_a_dry_run_is_told_in_plain_values() -> None:
    told = describe(
        trial(Question(add=("C",), remove=("A",), queues=("orders/east/3",))),
        cluster="shop",
        at=7,
        expected={MoveCause.OWNER_LEFT: Expected(10, 20, is_pause=True, handoffs=5)},
    )

    assert json.loads(json.dumps(told)) == told
    assert (told["writes"], told["from"], told["strategy"]) == (False, "held", "AVG")
    assert told["members"] == [
        {"client_id": "A", "before": 2, "after": None, "is_new": False, "is_gone": True},
        {"client_id": "B", "before": 2, "after": 2, "is_new": False, "is_gone": False},
        {"client_id": "C", "before": None, "after": 1, "is_new": True, "is_gone": False},
    ]
    assert told["queues"] == [
        {"queue": "orders/east/0", "before": ["A"], "after": ["B"]},
        {"queue": "orders/east/1", "before": ["A"], "after": ["B"]},
        {"queue": "orders/east/2", "before": ["B"], "after": ["C"]},
        {"queue": "orders/east/3", "before": ["B"], "after": None},
    ]
    assert told["expected_pause"] == {
        "owner left": {"is": "pause", "median_low_ms": 10, "median_high_ms": 20, "of_handoffs": 5},
        "new owner joined": None,
        "reshuffled": None,
    }
    assert [one["strategy"] for one in told["strategies"]][:2] == ["AVG", "AVG_BY_CIRCLE"]  # type: ignore[attr-defined] # a list of objects
    assert told["strategies"][0]["loads"] == {"B": 2, "C": 1}  # type: ignore[index] # likewise
    assert told["strategies"][-1]["loads"] is None  # type: ignore[index] # it cannot be computed


def test_what_cannot_be_known_is_none_and_never_zero() -> None:
    told = describe(trial(Question(), strategy="com.shop.Mine"), cluster="shop", at=7, expected=NO_COSTS)

    assert told["moves"] is told["unowned"] is told["skew"] is None
    assert set(told["expected_pause"].values()) == {None}  # type: ignore[attr-defined] # an object
    assert told["why_not"] == "the strategy com.shop.Mine is not known here"
    assert all(each["after"] is None for each in told["queues"])  # type: ignore[attr-defined] # a list of objects
    assert [load.after for load in loads(trial(Question(), strategy="com.shop.Mine"))] == [None, None]


def test_moves_are_a_table_that_computes_nothing() -> None:
    rows = list(csv.reader(moves_csv(trial(Question(remove=("=1+1",)), names=("=1+1", "B"))).splitlines()))

    assert rows[0] == ["topic", "broker", "queue", "from", "to", "cause"]
    assert rows[1] == ["orders", "east", "0", "'=1+1", "B", "owner left"]
    assert moves_csv(trial(Question(), strategy="x")).splitlines() == [",".join(rows[0])]


def test_moves_from_somebody_to_somebody_come_first_and_cost_a_pause() -> None:
    handoff = Move(QUEUES[3], "A", "B", MoveCause.RESHUFFLED)
    lost, taken = Move(QUEUES[0], "A", None, MoveCause.LET_GO), Move(QUEUES[1], None, "B", MoveCause.TAKEN_UP)

    assert costly([taken, lost, handoff]) == [handoff, lost, taken]
    assert [is_handoff(move) for move in (handoff, lost, taken)] == [True, False, False]
