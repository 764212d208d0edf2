import pytest

from dashboard.groups.deciding import Past, decide
from dashboard.groups.models import Group
from dashboard.groups.queries import look_at
from dashboard.groups.rules import Rule
from tests.dashboard.story import T0, held, joined, route, seen, told, uses

NOTHING = Past(None, b"", None, 0)


@pytest.mark.usefixtures("cluster")
def test_a_strategy_that_needs_to_be_told_more_has_no_target() -> None:
    told(route(2), *seen("A"), uses("A", 1, "MACHINE_ROOM"))

    decision = decide(look_at(group=Group.objects.get()), NOTHING, (), T0 + 5)

    assert decision.rule == Rule(
        None, why="the strategy MACHINE_ROOM divides by what members' programs say, unknown here"
    )
    assert (decision.outcome, decision.converged) == (None, None)


@pytest.mark.usefixtures("cluster")
def test_a_first_look_opens_no_round_however_unlike_held_and_target_are() -> None:
    told(route(4), *seen("A"), *seen("B"), held("A", 1, [3]), held("B", 1, [3]))

    decision = decide(look_at(group=Group.objects.get()), NOTHING, (), T0 + 5)

    assert decision.rounds.open is None
    assert decision.converged is False


@pytest.mark.usefixtures("cluster")
def test_a_target_of_members_that_differ_is_what_they_end_up_with() -> None:
    told(route(4), *seen("A"), *seen("B"), uses("B", 1, "AVG_BY_CIRCLE"), held("A", 2, [0, 1]), held("B", 2, [1, 3]))

    decision = decide(look_at(group=Group.objects.get()), NOTHING, (), T0 + 5)

    assert decision.converged
    assert decision.target.owner.tolist() == [0, 0, -1, 1]
    kinds = {finding.kind.value for finding in decision.findings}
    assert kinds == {"strategy mismatch", "orphan queue", "double owner"}


@pytest.mark.usefixtures("cluster")
def test_a_look_is_computed_alike_whoever_joined_it() -> None:
    told(route(4), joined("A", 0), held("A", 1, [0]))

    assert decide(look_at(group=Group.objects.get()), NOTHING, (), T0 + 5).rule.is_assumed
