from __future__ import annotations

from typing import Any

from dashboard.plans.picturing import picture, picture_of
from dashboard.plans.questions import Question
from dashboard.plans.trying import Known, try_out
from dashboard.push.runs import unpack
from rebalance_engine.group import GroupView, Member
from rebalance_engine.model import MessageQueue
from rebalance_engine.ownership import Ownership

QUEUES = [MessageQueue("orders", broker, number) for broker in ("east", "west") for number in range(2)]
VIEW = GroupView.of(
    "g",
    QUEUES,
    [
        Member(client_id="A", held=tuple(QUEUES[:2]), strategy="AVG"),
        Member(client_id="B", held=tuple(QUEUES[2:]), strategy="AVG"),
    ],
)


def drawn(question: Question) -> dict[str, Any]:
    return picture_of(try_out(VIEW, question, Known({})))


def members(shown: dict[str, Any], kind: str) -> dict[str, list[int]]:
    return {cell["client"]: unpack(cell[kind]).tolist() for cell in shown["members"]}


def test_both_maps_have_the_queues_and_clients_of_before_and_after() -> None:
    shown = drawn(Question(add=("C",), remove=("A",), broker=("-east", "north")))

    assert [(part["broker"], part["ids"]) for part in shown["queues"]] == [
        ("east", (0, 2)),
        ("north", (0, 2)),
        ("west", (0, 2)),
    ]
    assert members(shown, "held") == {"A": [0, 1], "B": [4, 5], "C": []}
    assert members(shown, "target") == {"A": [], "B": [2, 3], "C": [4, 5]}
    assert (unpack(shown["comes"]).tolist(), unpack(shown["goes"]).tolist()) == ([2, 3], [0, 1])
    assert (shown["joins"], shown["leaves"]) == (["C"], ["A"])


def test_without_a_target_only_what_is_held_is_there() -> None:
    shown = drawn(Question(strategy="MACHINE_ROOM"))

    assert shown["head"]["is_target_known"] is False
    assert members(shown, "target") == {"A": [], "B": []}
    assert members(shown, "held") == {"A": [0, 1], "B": [2, 3]}


def test_a_group_without_queues_is_an_empty_picture() -> None:
    empty = GroupView.of("g", [], [])
    nobody = Ownership.nobody(empty.queues, empty.clients)

    shown = picture(empty, nobody, empty, None, clients=((), ()))

    assert (shown["queues"], shown["members"]) == ([], [])
