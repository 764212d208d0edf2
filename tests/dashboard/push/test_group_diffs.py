from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dashboard.groups.showing import runs_of
from dashboard.push.group_diffs import OutOfStep, apply, step
from dashboard.push.messages import GroupDiff, GroupSnapshot, GroupState, Queues, decode, encode
from dashboard.push.runs import pack
from rebalance_engine.group import GroupView, Member
from rebalance_engine.model import MessageQueue
from rebalance_engine.plan import Plan, target
from tests.dashboard.push.states import cell, head, states


def lead(old: GroupState | None, new: GroupState) -> GroupSnapshot | GroupDiff | None:
    return step(old, new, stream="group-1", seq=2, at=5)


@given(st.lists(states, min_size=1, max_size=5))
def test_a_browser_that_applies_every_step_has_the_newest_state(history: list[GroupState]) -> None:
    shown: GroupState | None = None
    before: GroupState | None = None
    for state in history:
        message = lead(before, state)
        if message is not None:
            received = decode(encode(message))
            assert isinstance(received, GroupSnapshot | GroupDiff)
            shown = apply(shown, received)
        before = state

    assert shown == history[-1]


def test_nothing_new_is_no_message() -> None:
    state = GroupState(head(), (), (cell("A"),), (), ())

    assert lead(state, state) is None


def test_a_diff_that_does_not_follow_is_refused() -> None:
    old = GroupState(head(), (), (cell("A"), cell("B")), (), ())
    new = replace(old, members=(cell("A"), cell("B", target=(0, 1))))
    message = lead(old, new)
    assert isinstance(message, GroupDiff)

    with pytest.raises(OutOfStep, match="'B' got other queues, but is no member"):
        apply(replace(old, members=(cell("A"),)), message)
    with pytest.raises(OutOfStep, match="without a snapshot"):
        apply(None, message)


@pytest.mark.parametrize("strategy", ["AVG", "AVG_BY_CIRCLE", "CONSISTENT_HASH"])
@pytest.mark.parametrize("newcomer", ["10.0.0.000@1", "10.0.0.025@1", "10.0.0.999@1"])
def test_a_join_in_a_group_of_10_000_queues_is_less_than_2_kilobytes(strategy: str, newcomer: str) -> None:
    clients = [f"10.0.0.{number:03}@{1000 + number}" for number in range(10, 60)]

    def state(members: list[str], held_by: list[str]) -> GroupState:
        targets = owners(members, strategy)
        held = owners(held_by, strategy)
        return GroupState(
            head(),
            (Queues("orders", "east", (0, 10_000)),),
            tuple(cell(name, targets.get(name, ()), held.get(name, ())) for name in sorted(members)),
            (),
            (),
        )

    before, after = state(clients, clients), state([*clients, newcomer], clients)
    message = lead(before, after)

    assert message is not None
    assert len(encode(message)) < 2_000
    assert apply(before, message) == after


def owners(members: list[str], strategy: str) -> dict[str, tuple[int, ...]]:
    view = GroupView.of(
        "g",
        (MessageQueue("orders", "east", number) for number in range(10_000)),
        (Member(client_id=name) for name in members),
    )
    return runs_of(target(view, Plan(strategy=strategy)))


def test_the_runs_of_an_ownership_are_those_of_its_lists() -> None:
    given_owners = owners(["A", "B", "C"], "AVG")

    assert given_owners["A"] == pack(list(range(3_334)))
