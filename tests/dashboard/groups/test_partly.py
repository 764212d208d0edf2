"""Two processes of one client id: a broker asks one of them, and what the other one holds nobody knows."""

from __future__ import annotations

import pytest

from dashboard.groups.first.map import first_map
from dashboard.groups.models import Finding, Group, Round
from dashboard.groups.queries import look_at, view_of
from dashboard.groups.rebalancing import rebalance_once
from dashboard.groups.showing import row_of, row_shown
from dashboard.groups.small import UNKNOWN, figures_of, shrink
from dashboard.groups.table import in_words
from dashboard.groups.words import state_of
from dashboard.push.messages import GroupState
from dashboard.push.publish import group_state
from rebalance_engine.events import Fact
from tests.dashboard.story import T0, held, joined, listed, route, seen, told

pytestmark = pytest.mark.usefixtures("cluster")
WHY = "A has 2 connections, of which only one can be asked"


def shown(*facts: Fact, at: int) -> tuple[Group, GroupState]:
    told(*facts)
    group = Group.objects.get()
    rebalance_once(group=group.pk, now=T0 + at)
    group.refresh_from_db()
    state = group_state(group=group.pk)
    assert state is not None
    return group, state


def asked_in_part() -> tuple[Group, GroupState]:
    """A is there twice; the process that was asked holds two of four queues, twice for long enough to confirm it."""
    twice = [route(4), *seen("A"), *seen("B"), listed(5, "A", "A", "B")]
    shown(*twice, held("A", 10, [0, 1]), held("B", 10, [3]), at=20)
    return shown(listed(39_000, "A", "A", "B"), held("A", 40_000, [0, 1]), held("B", 40_000, [3]), at=40_100)


def test_nobody_is_said_to_have_no_owner_or_two_and_the_cause_leads() -> None:
    group, state = asked_in_part()
    words = "1 of 2 members has several connections, of which only one can be asked"

    assert [fault.kind for fault in state.faults] == ["duplicate client id"]
    assert not Finding.objects.filter(kind="orphan queue").exists()
    for row in (row_of(group), row_shown(state, group=group, at=T0)):
        assert (row.orphans, row.doubles, row.silent, row.partial, row.is_converged) == (None, None, 0, 1, None)
        assert (state_of(row).kind, state_of(row).words) == ("unknown", words)


def test_map_and_table_show_what_nobody_is_known_to_hold_as_unknown() -> None:
    _, state = asked_in_part()

    rows = in_words(state, {}).rows
    small = shrink(state)

    assert [(row.kind, row.is_told) for row in rows][2] == ("unknown", False)
    assert rows[2].words == "unknown: not each connection of a member can be asked"
    assert (small.faults[2], figures_of(state)["partial"]) == (UNKNOWN, 1)
    drawn = first_map(state, {"now": T0 + 41_000, "seen": [], "left": [], "away": [], "moves": []}, []).drawn
    assert drawn is not None
    assert ([(row.held, row.is_partial) for row in drawn.rows], drawn.heading) == ([(2, True), (1, False)], "held")
    assert [text.words for text in drawn.marks.words] == ["?"]


def test_the_view_of_a_state_that_was_shown_knows_as_little() -> None:
    group, state = asked_in_part()

    assert view_of(state).silent == look_at(group=group).view.silent == {"A"}
    assert view_of(state).held is not None


def test_a_round_says_why_it_is_unknown_whether_it_is_over() -> None:
    asked_in_part()
    shown(joined("C", 60_000), *seen("C", 60_001), listed(60_000, "A", "A", "B", "C"), held("C", 60_100, []), at=60_200)

    row = Round.objects.get()

    assert (row.closed_at, row.unknown_members, row.waits_for) == (None, ["A"], WHY)


def test_an_orphan_that_was_confirmed_before_is_said_to_be_unjudged_and_stands_behind_its_cause() -> None:
    shown(route(4), *seen("A"), *seen("B"), listed(5, "A", "B"), held("A", 10, [0, 1]), held("B", 10, [3]), at=20)
    shown(held("A", 40_000, [0, 1]), held("B", 40_000, [3]), at=40_100)

    _, state = shown(listed(50_000, "A", "A", "B"), at=50_100)

    assert [fault.kind for fault in state.faults] == ["duplicate client id", "orphan queue"]
    assert state.faults[1].sentence.endswith(f"whether one does now is unknown: {WHY}.")
    assert state.faults[1].proof[0] == WHY


def test_once_it_is_there_alone_all_is_known_again() -> None:
    asked_in_part()

    group, state = shown(listed(70_000, "A", "B"), held("A", 71_000, [0, 1]), held("B", 71_000, [3]), at=71_100)

    assert (state.head.orphans, row_of(group).partial) == (1, 0)
    assert [fault.kind for fault in state.faults] == ["orphan queue"]
