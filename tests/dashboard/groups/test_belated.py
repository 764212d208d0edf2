import pytest

from dashboard.clusters.models import OutboxLine
from dashboard.groups.belated import past_of
from dashboard.groups.models import Group, Handoff, Round, RoundCause
from dashboard.groups.rebalancing import rebalance_once
from rebalance_engine.eventlog import read
from rebalance_engine.events import Cause, RoundOpened
from tests.dashboard.story import T0, held, joined, left, listed, route, seen, told

pytestmark = pytest.mark.usefixtures("cluster")


def rebalance(at: int) -> Group:
    group = Group.objects.get()
    rebalance_once(group=group.pk, now=T0 + at)
    return group


def causes() -> list[tuple[int, str | None]]:
    return list(RoundCause.objects.order_by("at", "pk").values_list("round__number", "client_id"))


def two_rounds() -> None:
    """B joins, and before that is over D joins: the second round supersedes the first."""
    told(route(4), *seen("A"), held("A", 10, [0, 1, 2, 3]))
    rebalance(20)
    told(joined("B", 5_000), held("B", 5_100, []))
    rebalance(5_200)
    told(joined("D", 20_000))
    rebalance(20_100)


def test_an_open_round_is_read_back_with_its_causes() -> None:
    told(route(4), *seen("A"), held("A", 10, [0, 1, 2, 3]))
    rebalance(20)
    told(joined("B", 5_000), joined("C", 5_500))
    group = rebalance(5_600)

    past = past_of(group=group, causes=[], stored=b"")

    assert past.open is not None
    assert past.last_number == past.open.number == 1
    assert [(each.cause, each.client) for each in past.open.happenings] == [
        (Cause.MEMBER_JOINED, "B"),
        (Cause.MEMBER_JOINED, "C"),
    ]


def test_a_late_cause_of_a_superseded_round_goes_to_its_own() -> None:
    two_rounds()
    told(joined("C", 6_000))
    rebalance(20_500)

    assert causes() == [(1, "B"), (1, "C"), (2, "D")]
    rows = Round.objects.order_by("number").values_list("state", "opened_at", "members_before", "members_after")
    assert list(rows) == [
        ("superseded", T0 + 5_000, ["A"], ["A", "B", "C"]),
        ("open", T0 + 20_000, ["A", "B", "C"], None),
    ]


def test_a_round_that_ended_is_told_anew_with_its_late_cause() -> None:
    two_rounds()
    told(joined("C", 6_000))
    rebalance(20_500)

    lines = OutboxLine.objects.filter(line__contains="RoundOpened").order_by("pk").values_list("line", flat=True)
    facts = [fact for fact in map(read, lines) if isinstance(fact, RoundOpened)]
    assert [(fact.round, fact.evidence) for fact in facts] == [
        (1, ("B joined",)),
        (2, ("D joined",)),
        (1, ("B joined", "C joined")),
    ]


def test_a_late_cause_shortly_before_the_open_round_is_its_own() -> None:
    two_rounds()
    told(joined("C", 18_000))
    rebalance(20_500)

    assert causes() == [(1, "B"), (2, "C"), (2, "D")]


def test_a_late_cause_that_left_nothing_to_hand_over_belongs_to_the_round_that_closed() -> None:
    told(route(4), *seen("A"), *seen("B"), listed(0, "A", "B"), held("A", 10, [0, 1]), held("B", 10, [2, 3]))
    rebalance(20)
    told(joined("C", 5_000), held("C", 5_100, []))
    rebalance(5_200)
    told(held("A", 7_000, [0, 1]), held("B", 7_000, [2]), held("C", 7_000, [3]))
    rebalance(7_100)
    assert Round.objects.get().state == "closed"

    told(joined("E", 5_500), left("E", 5_900))
    rebalance(7_200)

    row = Round.objects.get()
    assert causes() == [(1, "C"), (1, "E"), (1, "E")]
    assert (row.state, row.members_after, row.closed_at) == ("closed", ["A", "B", "C"], T0 + 7_000)
    assert (row.told_at, Handoff.objects.count()) == (T0 + 7_200, 1)


def test_a_late_cause_that_leaves_something_to_hand_over_opens_a_round() -> None:
    told(route(4), *seen("A"), held("A", 10, [0, 1, 2, 3]))
    rebalance(20)
    told(joined("B", 5_000), held("A", 6_000, [0, 1]), held("B", 6_000, [2, 3]))
    rebalance(6_100)
    told(joined("C", 5_500))
    rebalance(6_200)

    assert list(Round.objects.order_by("number").values_list("number", "state")) == [(1, "closed"), (2, "open")]
    assert causes() == [(1, "B"), (2, "C")]
