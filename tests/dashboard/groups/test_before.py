from __future__ import annotations

import pytest

from dashboard.groups.before import knew_all_before
from dashboard.groups.models import Group, Round
from dashboard.groups.pictured import Load, loads_of
from dashboard.groups.rebalancing import rebalance_once
from rebalance_engine.events import Fact
from tests.dashboard.story import T0, held, joined, left, listed, route, seen, told

pytestmark = pytest.mark.usefixtures("cluster")


def rebalance(at: int) -> None:
    rebalance_once(group=Group.objects.get(name="g").pk, now=T0 + at)


@pytest.mark.parametrize("knew", [True, False])
def test_all_was_known_before_a_round_where_every_member_had_answered(knew: bool) -> None:
    told(route(4), *seen("A"), *seen("B"), held("A", 10, [0, 1]), *([held("B", 10, [2])] if knew else []))
    rebalance(20)
    told(joined("C", 5_000, low=4_000))
    rebalance(5_100)

    row = Round.objects.order_by("number").last()

    assert row is not None
    assert knew_all_before(row) is knew


def test_of_a_round_whose_state_before_was_not_kept_nothing_was_known() -> None:
    assert not knew_all_before(Round(before=b""))


def first(*facts: Fact, at: int) -> Round:
    told(*facts)
    rebalance(at)
    return Round.objects.get()


def test_who_was_listed_before_the_first_round_is_told_though_nothing_was_shown_yet() -> None:
    row = first(route(4), *seen("A"), *seen("B"), held("A", 10, [0, 1, 2, 3]), joined("C", 5_000), at=5_100)

    assert (row.number, bytes(row.before), row.members_before) == (1, b"", ["A", "B"])
    assert loads_of(row) == [Load("A", 4, 4), Load("B", None, None), Load("C", None, None)]


def test_who_went_in_the_first_round_was_there_before_and_had_what_it_let_go() -> None:
    told(route(4), *seen("A"), *seen("B"), held("A", 10, [0, 1]), held("B", 10, [2, 3]))
    row = first(left("B", 5_000), held("A", 6_000, [0, 1, 2, 3]), at=6_100)

    assert row.members_before == ["A", "B"]
    assert [(load.client, load.before) for load in loads_of(row)] == [("A", 2), ("B", 2)]


def test_who_was_a_member_before_a_round_that_only_joins_are_known_of_is_unknown_and_not_nobody() -> None:
    row = first(route(4), joined("A", 5_000), at=5_100)

    assert row.members_before is None


def test_that_nobody_was_a_member_is_told_where_it_was_seen() -> None:
    told(route(4), listed(0))
    rebalance(100)
    row = first(joined("A", 5_000), at=5_100)

    assert row.members_before == []
