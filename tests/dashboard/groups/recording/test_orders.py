from __future__ import annotations

import pytest

from dashboard.groups.models import Group, Round, RoundCause
from dashboard.groups.rebalancing import rebalance_once
from rebalance_engine.events import EXACT, CommandFinished, CommandOrdered, CommandOutcome, Fact, Origin, Source
from tests.dashboard.story import T0, held, joined, route, seen, told

pytestmark = pytest.mark.usefixtures("cluster")
BY_HAND = Source(origin=Origin.OPERATOR, detail="group.recompute")


def ordered(
    at: int, outcome: CommandOutcome = CommandOutcome.DONE, *, verb: str = "group.recompute", group: str = "g"
) -> list[Fact]:
    """An order from its beginning to its end."""
    order = CommandOrdered(
        at=T0 + at,
        source=BY_HAND,
        exactness=EXACT,
        command="7",
        verb=verb,
        author="ada",
        deadline=T0 + at + 9,
        group=group,
        reason="a member lags",
    )
    return [order, CommandFinished(at=T0 + at + 5, source=BY_HAND, exactness=EXACT, command="7", outcome=outcome)]


@pytest.fixture
def group() -> Group:
    """Two members of which one has let a queue go, and does not know that it should have it."""
    told(route(4), *seen("A"), *seen("B"), held("A", 10, [0, 1]), held("B", 10, [2]))
    found = Group.objects.get()
    rebalance_once(group=found.pk, now=T0 + 20)
    return found


def test_what_changes_after_an_order_is_a_round_that_was_ordered(group: Group) -> None:
    told(held("A", 94_900, [0, 1]), held("B", 94_900, [2]), *ordered(95_000))
    told(held("B", 95_600, [2, 3]))
    rebalance_once(group=group.pk, now=T0 + 95_700)

    row = Round.objects.get()
    assert (row.cause, row.opened_at) == ("manual", T0 + 95_600)
    (cause,) = row.causes.all()
    assert cause.evidence == "ada had members notified to compute anew, by order 7: a member lags"
    assert cause.origin == "operator"


def test_an_order_that_is_told_after_its_round_was_seen_is_its_cause_still(group: Group) -> None:
    told(held("A", 94_900, [0, 1]), held("B", 94_900, [2]))
    told(held("B", 95_600, [2, 3]))
    rebalance_once(group=group.pk, now=T0 + 95_700)
    assert Round.objects.get().cause == "held changed"
    told(held("A", 96_000, [0, 1]), held("B", 96_000, [2, 3]))
    rebalance_once(group=group.pk, now=T0 + 96_100)
    assert Round.objects.get().state == "closed"

    told(*ordered(95_000))
    rebalance_once(group=group.pk, now=T0 + 100_000)

    row = Round.objects.get()
    assert (row.cause, [cause.cause for cause in row.causes.all()]) == ("manual", ["manual"])


def test_an_order_after_which_nothing_changes_is_no_round_and_leaves_all_as_it_was(group: Group) -> None:
    told(held("A", 94_900, [0, 1]), held("B", 94_900, [2]), *ordered(95_000))
    before = Group.objects.get().is_converged

    rebalance_once(group=group.pk, now=T0 + 95_700)

    assert not Round.objects.exists()
    assert Group.objects.get().is_converged is before is False


@pytest.mark.parametrize(
    "facts",
    [
        ordered(95_000, CommandOutcome.REFUSED),
        ordered(95_000, CommandOutcome.FAILED),
        ordered(95_000, verb="group.delete"),
        ordered(95_000, group="unheard of"),
        ordered(95_000)[:1],
        ordered(95_000)[1:],
    ],
)
def test_an_order_that_let_nobody_compute_is_no_cause(group: Group, facts: list[Fact]) -> None:
    told(*facts)

    assert not RoundCause.objects.exists()
    assert list(Group.objects.all()) == [group]


def test_who_joins_at_the_same_time_is_the_cause(group: Group) -> None:
    told(held("A", 94_900, [0, 1]), held("B", 94_900, [2]), *ordered(95_000), joined("C", 95_100))
    told(held("B", 95_600, [2, 3]))
    rebalance_once(group=group.pk, now=T0 + 95_700)

    assert Round.objects.get().cause == "member joined"
