from __future__ import annotations

import pytest

from dashboard.groups.models import Finding, Group
from dashboard.groups.past import shown_at
from dashboard.push.messages import Cell, GroupState
from dashboard.push.models import Step
from rebalance_engine.events import Missing
from tests.dashboard.groups.test_past import group, turn  # noqa: F401 - a fixture
from tests.dashboard.story import T0, held, joined, missed, told


def state_at(group: Group, at: int) -> GroupState:  # noqa: F811
    Step.objects.all().delete()
    shown = shown_at(group=group, at=T0 + at)
    assert shown is not None
    assert not shown.is_exact
    return shown.state


def cells(state: GroupState) -> dict[str, Cell]:
    return {cell.client: cell for cell in state.members}


def test_between_rounds_held_is_target(group: Group) -> None:  # noqa: F811
    state = state_at(group, 30_000)

    assert {client: cell.held for client, cell in cells(state).items()} == {"A": (0, 2), "B": (2, 1), "C": (3, 1)}
    assert (state.head.is_target_known, state.head.is_converged) == (True, True)
    assert (state.head.orphans, state.head.doubles) == (0, 0)
    assert state.head.round is not None
    assert (state.head.round.number, state.head.round.state) == (1, "closed")


def test_while_a_group_was_changing_its_target_is_unknown(group: Group) -> None:  # noqa: F811
    told(*[held(client, 63_000, mine) for client, mine in (("B", [0, 1, 2]), ("C", [3]))], at=63_000)
    turn(63_000)

    state = state_at(group, 61_000)

    assert list(cells(state)) == ["B", "C"]
    assert (state.head.is_target_known, state.head.is_converged) == (False, None)
    assert state.head.orphans == 2
    assert state.head.round is not None
    assert (state.head.round.number, state.head.round.closed_at) == (2, None)


def test_two_owners_of_the_past_are_known_only_where_both_told_of_that_time(group: Group) -> None:  # noqa: F811
    told(held("B", 63_000, [2, 3]), at=63_000)
    turn(65_000)

    unknown = state_at(group, 64_000).head
    told(held("B", 66_000, [2, 3]), held("C", 66_000, [3]), at=66_000)
    turn(66_000)
    known = state_at(group, 64_000).head

    assert (unknown.doubles, unknown.perhaps_twice) == (None, (3, 1))
    assert (known.doubles, known.perhaps_twice) == (1, ())


def test_who_did_not_answer_before_is_unknown_until_it_tells_anything(group: Group) -> None:  # noqa: F811
    told(missed("B", 70_000, missing=Missing.TIMEOUT), at=70_000)
    turn(70_000)
    told(joined("D", 71_000), at=71_000)  # a round opens, before which B is silent
    turn(71_000)
    told(held("B", 90_000, [0, 1, 2]), at=90_000)
    turn(90_000)
    told(joined("E", 95_000), at=95_000)
    turn(95_000)

    state = state_at(group, 75_000)

    assert cells(state)["B"].held is None
    assert cells(state)["D"].held is None
    assert (state.head.orphans, state.head.is_converged) == (None, None)
    assert cells(state_at(group, 91_000))["B"].held == (0, 3)


def test_findings_are_as_they_were_then(group: Group) -> None:  # noqa: F811
    Finding.objects.all().delete()
    told_of = {"cluster": group.cluster, "group": group, "origin": "derived", "proof": ["seen"]}
    times = {"early": (10_000, 20_000, 40_000), "there": (20_000, 50_000, None), "late": (31_000, None, None)}
    for name, (suspected, confirmed, cleared) in times.items():
        Finding.objects.create(
            kind="idle consumer",
            subject=name,
            subject_key=name,
            sentence=f"{name}.",
            suspected_at=T0 + suspected,
            confirmed_at=None if confirmed is None else T0 + confirmed,
            cleared_at=None if cleared is None else T0 + cleared,
            **told_of,
        )

    faults = state_at(group, 30_000).faults

    assert [(fault.subject, fault.confirmed_at) for fault in faults] == [("early", T0 + 20_000), ("there", None)]


@pytest.mark.parametrize("at", [5_500, 30_000, 61_000])
def test_what_is_put_together_holds_what_was_held(group: Group, at: int) -> None:  # noqa: F811
    exact = shown_at(group=group, at=T0 + at)
    assert exact is not None
    told(*[held(client, 63_000, mine) for client, mine in (("B", [0, 1, 2]), ("C", [3]))], at=63_000)
    turn(63_000)

    state = state_at(group, at)

    assert {name: cell.held or () for name, cell in cells(state).items()} == {
        name: cell.held or () for name, cell in cells(exact.state).items()
    }
