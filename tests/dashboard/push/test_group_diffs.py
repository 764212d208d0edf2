from __future__ import annotations

from dataclasses import replace
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dashboard.groups.showing import runs_of
from dashboard.push.group_diffs import OutOfStep, apply, step
from dashboard.push.messages import GroupDiff, GroupSnapshot, GroupState, Queues, RoundCell, decode, encode
from dashboard.push.runs import pack
from rebalance_engine.group import GroupView, Member
from rebalance_engine.model import MessageQueue
from rebalance_engine.ownership import Ownership
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

    with pytest.raises(OutOfStep, match="members \\(1,\\) get other queues, but there are 1"):
        apply(replace(old, members=(cell("A"),)), message)
    with pytest.raises(OutOfStep, match="without a snapshot"):
        apply(None, message)
    with pytest.raises(OutOfStep, match="member number 2 goes, but there are 2"):
        apply(old, replace(message, gone=(2, 1)))
    with pytest.raises(OutOfStep, match="'B' comes to place 4 of 2"):
        apply(old, replace(message, put=(cell("B"),), places=(4,)))
    with pytest.raises(OutOfStep, match="what 'B' holds changed, but it is unknown"):
        apply(replace(old, members=(cell("A"), cell("B", held=None))), replace(message, held=message.target))


def test_members_in_another_order_are_a_snapshot() -> None:
    old = GroupState(head(), (), (cell("A"), cell("B")), (), ())

    assert isinstance(lead(old, replace(old, members=old.members[::-1])), GroupSnapshot)


@pytest.mark.parametrize("strategy", ["AVG", "AVG_BY_CIRCLE", "CONSISTENT_HASH", "STICKY", "STICKY_ACROSS_TOPICS"])
@pytest.mark.parametrize("members", [50, 100, 200, 500, 1_000])
def test_a_join_in_a_group_of_10_000_queues_is_less_than_2_kilobytes(members: int, strategy: str) -> None:
    luck = Random(7)
    clients = sorted(java_id(luck) for _ in range(members))
    held = targets(clients, strategy)
    newcomers = {"first": f"0{java_id(luck)}", "middle": f"{clients[members // 2]}0", "last": f"99{java_id(luck)}"}
    before = group(clients, held, held, round_of(4, clients, closed_at=1_700_000_000_000))

    for where, newcomer in newcomers.items():
        wanted = targets([*clients, newcomer], strategy, held)
        joined = group([*clients, newcomer], wanted, held, round_of(5, [newcomer]))
        settled = group([*clients, newcomer], wanted, wanted, round_of(5, [newcomer], closed_at=1_700_000_003_000))
        for old, new in ((before, joined), (joined, settled)):
            message = lead(old, new)
            assert message is not None
            data = encode(message)
            received = decode(data)

            assert len(data) < 2_000, where
            assert isinstance(received, GroupDiff)
            assert apply(old, received) == new


def java_id(luck: Random) -> str:
    """As Java clients name themselves: their address, process and nanoTime."""
    address = ".".join(str(luck.randrange(256)) for _ in range(3))
    return f"10.{address}@{luck.randrange(1, 60_000)}#{luck.randrange(10**15, 10**16)}"


def round_of(number: int, who: list[str], *, closed_at: int | None = None) -> RoundCell:
    evidence = tuple(f"{client} joined: broker-a and broker-b list it" for client in who[:20])
    state, unsettled = ("closed", 0) if closed_at else ("open", 9_800)
    opened_at = 1_700_000_000_000
    return RoundCell(
        number, state, "member joined", opened_at, closed_at, number, 9_800, unsettled, evidence, (), opened_at - 400
    )


def group(members: list[str], wanted: Ownership, taken: Ownership, latest: RoundCell | None) -> GroupState:
    target, held = runs_of(wanted), runs_of(taken)
    return GroupState(
        replace(head(), round=latest),
        (Queues("orders", "broker-a", (0, 5_000)), Queues("orders", "broker-b", (0, 5_000))),
        tuple(cell(name, target.get(name, ()), held.get(name, ())) for name in sorted(members)),
        (),
        (),
    )


def targets(members: list[str], strategy: str, previous: Ownership | None = None) -> Ownership:
    queues = [MessageQueue("orders", broker, number) for broker in ("broker-a", "broker-b") for number in range(5_000)]
    view = GroupView.of("g", queues, (Member(client_id=name) for name in members))
    return target(view, Plan(strategy=strategy), previous)


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
