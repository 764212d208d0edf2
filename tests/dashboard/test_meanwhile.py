"""What is stored while a group is rebalanced, and clocks that do not agree: a join is one round all the same."""

from __future__ import annotations

from typing import Any

import pytest
from django.db import connection
from django.db.models import F

from dashboard.groups import rebalancing
from dashboard.groups.models import Group, Round, RoundCause
from dashboard.groups.queries import Look, look_at
from dashboard.groups.rebalancing import rebalance_once
from rebalance_engine.events import EXACT, Cause, DropReason, Fact, QueueDropped, QueueTaken
from tests.dashboard.story import REPORT, T0, held, joined, left, queue, route, seen, told, uses

pytestmark = pytest.mark.usefixtures("cluster")


def turn(at: int) -> Group:
    """Rebalance the group of these tests, and give its row."""
    group = Group.objects.get(name="g")
    rebalance_once(group=group.pk, now=T0 + at)
    group.refresh_from_db()
    return group


def settle() -> None:
    """Two members share four queues by AVG, as they should."""
    told(route(4), *seen("A"), *seen("B"), held("A", 10, [0, 1]), held("B", 10, [2, 3]))
    turn(20)


@pytest.mark.parametrize("late_ms", [1, 1_870, 30_000, 59_000])
def test_a_join_is_one_round_though_the_rebalances_clock_is_behind_what_was_seen(late_ms: int) -> None:
    settle()
    told(joined("C", 5_000, low=4_000), held("C", 5_300, []), held("A", 6_000, [0, 1]), held("B", 6_500, [2]))
    told(held("C", 7_000, [3]), held("A", 7_100, [0, 1]))
    turn(7_100 - late_ms)
    told(left("C", 138_000), held("A", 138_100, [0, 1]), held("B", 138_200, [2, 3]))
    turn(138_300)

    rounds = Round.objects.order_by("number").values_list("number", "cause", "superseded_by", "move_count")
    assert list(rounds) == [(1, "member joined", None, 1), (2, "member left", None, 1)]


def test_what_a_clock_that_is_ahead_told_before_a_round_closed_is_no_round_of_its_own() -> None:
    settle()
    fixed: dict[str, Any] = {"source": REPORT, "exactness": EXACT, "group": "g", "queue": queue(3)}
    told(
        joined("C", 5_000, low=4_000),
        QueueDropped(at=T0 + 35_000, client="B", reason=DropReason.NOT_IN_TARGET, **fixed),
    )
    told(QueueTaken(at=T0 + 36_000, client="C", **fixed))
    told(held("A", 7_000, [0, 1]), held("B", 7_000, [2]), held("C", 7_000, [3]))
    turn(7_200)
    told(uses("A", 9_000, "AVG"), held("A", 9_000, [0, 1]), *seen("A", 9_100))
    Group.objects.update(inputs_version=F("inputs_version") + 1)
    turn(9_200)

    rounds = Round.objects.values_list("number", "cause", "closed_at", "settled_at", "move_count")
    assert list(rounds) == [(1, "member joined", T0 + 7_200, T0 + 36_000, 1)]


def test_the_clock_is_asked_when_everything_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    settle()
    told(joined("C", 5_000, low=4_000), held("C", 5_300, []), held("A", 6_000, [0, 1]), held("B", 6_500, [2]))
    told(held("C", 7_000, [3]))
    times = [T0 + 5_130]

    def look_for_long(*, group: Group) -> Look:
        times.append(T0 + 7_050)
        return look_at(group=group)

    monkeypatch.setattr(rebalancing, "look_at", look_for_long)
    rebalance_once(group=Group.objects.get().pk, now=lambda: times[-1])

    assert Round.objects.get().closed_at == T0 + 7_000


@pytest.mark.parametrize(
    "facts",
    [(joined("C", 5_000, low=4_000),), (left("B", 5_000), held("A", 5_900, [0, 1, 2, 3]))],
    ids=["join", "leave"],
)
def test_a_change_that_is_stored_after_the_causes_were_read_is_no_change_without_a_cause(
    facts: tuple[Fact, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    settle()
    told(held("A", 4_000, [0]))
    reads = list[bool]()

    def look_later(*, group: Group) -> Look:
        told(*facts)
        reads.append(group.inputs_version < Group.objects.get().inputs_version)
        return look_at(group=group)

    monkeypatch.setattr(rebalancing, "look_at", look_later)
    decision = rebalance_once(group=Group.objects.get().pk, now=T0 + 6_000)

    assert reads == [True, False]
    assert decision is not None
    assert Cause.HELD_CHANGED not in {Cause(each.cause) for each in Round.objects.all()}
    assert not RoundCause.objects.filter(round=None).exists()


@pytest.mark.django_db(transaction=True)
def test_a_group_whose_inputs_change_all_the_time_is_read_while_nobody_may_store_any(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    settle()
    told(joined("C", 5_000))
    was_locked = list[bool]()

    def look_later(*, group: Group) -> Look:
        was_locked.append(connection.in_atomic_block)
        if not was_locked[-1]:
            told(joined(f"D{len(was_locked)}", 5_000 + len(was_locked)))
        return look_at(group=group)

    monkeypatch.setattr(rebalancing, "look_at", look_later)
    group = turn(6_000)

    assert was_locked == [False] * rebalancing.MOST_READS + [True]
    assert group.done_version == group.inputs_version
    assert Round.objects.get().causes.count() == 1 + rebalancing.MOST_READS
