from __future__ import annotations

from typing import Any

import pytest
from pytest_django import DjangoAssertNumQueries

from dashboard.clusters.models import Cluster
from dashboard.groups.models import Group
from dashboard.pauses import queries
from dashboard.pauses.costs import Between, Sum
from dashboard.pauses.queries import DEPLOY_GAP_MS, WINDOWS_MS, by_cause, deploys, pauses_of, window_of
from tests.dashboard.pauses.rows import add_handoff, add_round, pulled
from tests.dashboard.story import T0

HOUR = WINDOWS_MS["1h"]


@pytest.fixture
def group(cluster: Cluster) -> Group:
    return Group.objects.create(cluster=cluster, name="g", added_at=T0)


def test_rounds_of_a_window_cost_what_their_handoffs_say(group: Group) -> None:
    old = add_round(group, 1, T0 - 2 * HOUR)
    add_handoff(old, 0)
    row = add_round(group, 2, T0)
    add_handoff(row, 0, **pulled(row, 1_300, 1_700))
    add_handoff(row, 1)

    read = pauses_of(group=group, since=T0 - HOUR, now=T0 + 10_000)

    [only] = read.rounds
    assert (only.number, only.who, only.cause) == (2, "C", "member joined")
    assert only.cost is not None
    assert only.cost.longest == Between(1_300, None)
    assert (only.cost.paused, only.cost.unowned) == (Sum(2_100, None, 1), Sum(1_600, 2_400, 0))
    assert (read.queues, read.is_whole) == (("orders/east/0", "orders/east/1"), True)


def test_a_round_that_is_not_over_costs_nobody_knows_what(group: Group) -> None:
    add_round(group, 1, T0, closed_at=None, told_at=None, state="open")

    read = pauses_of(group=group, since=T0 - HOUR, now=T0 + 10_000)

    [only], [joined] = read.rounds, by_cause(read.rounds, read.handoffs)
    assert only.cost is None
    assert (joined.cost.longest, joined.cost.paused) == (Between(), Sum(0, None, 2))


def test_beside_a_round_that_is_not_over_others_of_its_cause_cost_at_least_what_they_cost(group: Group) -> None:
    add_handoff(add_round(group, 1, T0), 0)
    add_round(group, 2, T0 + 9_000, closed_at=None, told_at=None, state="open")

    read = pauses_of(group=group, since=T0 - HOUR, now=T0 + 10_000)

    [joined] = by_cause(read.rounds, read.handoffs)
    assert (joined.cost.longest, joined.cost.unowned) == (Between(800), Sum(800, None, 2))


def test_a_handoff_whose_drop_nobody_saw_stands_where_it_was_taken(group: Group) -> None:
    row = add_round(group, 1, T0)
    nothing = dict.fromkeys(("dropped_at", "dropped_low", "dropped_high", "unowned_low", "unowned_high"))
    add_handoff(row, 0, **nothing, from_client="")
    add_handoff(row, 1, **nothing, from_client="", taken_at=None, taken_low=None, taken_high=None)

    first, second = pauses_of(group=group, since=T0 - HOUR, now=T0 + 10_000).handoffs

    assert (first.at, first.is_seen, first.pause.is_known) == (T0 + 1_000, False, False)
    assert second.at == T0


def test_causes_and_deploys_are_added_up(group: Group) -> None:
    changes = [("A", "member left"), ("A2", "member joined"), ("B", "member left"), ("B2", "member joined")]
    for number, (who, cause) in enumerate(changes, 1):
        row = add_round(group, number, T0 + number * 10_000, who=who, cause=cause, members_before=["A", "B", "C"])
        add_handoff(row, number, **pulled(row, 1_000, 2_000))
    left = add_round(group, 5, T0 + 40_001 + DEPLOY_GAP_MS, cause="member left")
    add_handoff(left, 9, **pulled(left, 50_000, 50_000))
    read = pauses_of(group=group, since=T0 - HOUR, now=T0 + 400_000)

    causes, [deploy] = by_cause(read.rounds, read.handoffs), deploys(read.rounds, read.handoffs)

    assert [(each.cause, each.rounds) for each in causes] == [("member left", (1, 3, 5)), ("member joined", (2, 4))]
    assert (deploy.rounds, deploy.cost.paused) == ((1, 2, 3, 4), Sum(4_000, 8_000, 0))
    assert (deploy.began_at, deploy.ended_at) == (T0 + 10_000, T0 + 44_000)


@pytest.mark.parametrize(
    "changes",
    [
        [("broker-a", "broker gone"), ("broker-a", "broker back"), ("broker-b", "broker gone")],
        [("A", "member left"), ("A", "member joined"), ("A", "member left"), ("A", "member joined")],
        [("E", "member joined"), ("F", "member joined"), ("G", "member joined")],
        [("A", "member left"), ("E", "member joined"), ("B", "member left"), ("F", "member joined")],
        [
            *[("A", "member left"), ("E", "member joined"), ("B", "member left"), ("F", "member joined")],
            *[("C", "member left"), ("G", "member joined"), ("E", "member left")],
        ],
    ],
    ids=["brokers restart", "one member flaps", "members are added", "half is replaced", "a group scales by itself"],
)
def test_what_is_no_deploy(group: Group, changes: list[tuple[str, str]]) -> None:
    for number, (who, cause) in enumerate(changes, 1):
        wave: dict[str, Any] = {"superseded_by": number + 1, "wave": 1} if number < len(changes) else {"wave": 1}
        there = ["A", "B", "C", "D"] if number == 1 else None
        add_round(group, number, T0 + number * 10_000, who=who, cause=cause, members_before=there, **wave)
    read = pauses_of(group=group, since=T0 - HOUR, now=T0 + 100_000)

    assert deploys(read.rounds, read.handoffs) == []


def test_members_that_restart_under_their_ids_are_a_deploy(group: Group) -> None:
    for number, who in enumerate("ABC"):
        there = sorted(set("ABCD") - {who})
        at = T0 + number * 20_000
        add_round(
            group, 2 * number + 1, at, who=who, cause="member left", members_before=list("ABCD"), members_after=there
        )
        add_round(group, 2 * number + 2, at + 9_000, who=who, members_before=there, members_after=list("ABCD"))
    read = pauses_of(group=group, since=T0 - HOUR, now=T0 + 100_000)

    assert [each.rounds for each in deploys(read.rounds, read.handoffs)] == [(1, 2, 3, 4, 5, 6)]


def test_the_window_is_the_first_with_a_round(group: Group) -> None:
    add_round(group, 1, T0)
    group.refresh_from_db()

    assert window_of(group=group, asked="", now=T0 + 5 * HOUR) == ("6h", T0 - HOUR)
    assert window_of(group=group, asked="7d", now=T0)[0] == "7d"
    assert window_of(group=group, asked="x", now=T0 + 40 * 24 * HOUR)[0] == "24h"


def test_what_is_too_much_is_left_out_whole_rounds_at_a_time(group: Group, monkeypatch: pytest.MonkeyPatch) -> None:
    for number in (1, 2, 3):
        row = add_round(group, number, T0 + number * 10_000)
        add_handoff(row, 0)
        add_handoff(row, 1)

    monkeypatch.setattr(queries, "MOST_HANDOFFS", 3)
    some = pauses_of(group=group, since=T0, now=T0 + 100_000)
    monkeypatch.setattr(queries, "MOST_ROUNDS", 1)
    few = pauses_of(group=group, since=T0, now=T0 + 100_000)

    assert ([each.number for each in some.rounds], len(some.handoffs), some.is_whole) == ([1, 3], 2, False)
    assert ([each.number for each in few.rounds], few.is_whole) == ([3], False)


def test_questions_do_not_grow_with_the_rounds(
    group: Group, django_assert_max_num_queries: DjangoAssertNumQueries
) -> None:
    for number in range(1, 6):
        add_handoff(add_round(group, number, T0 + number * 10_000), 0)

    with django_assert_max_num_queries(32):
        pauses_of(group=group, since=T0, now=T0 + 100_000)
