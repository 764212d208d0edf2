"""Changes of brokers and routes that several looks saw, and the rounds that they make."""

import pytest

from rebalance_engine.events import Cause
from rebalance_engine.rounds import ROUTES_TOLD_MS, Happening
from tests.rebalance_engine.test_rounds import T, go_on, happened


def between(cause: Cause, low: int, after: int) -> Happening:
    """A change that a look saw; the look before was at ``low``."""
    return Happening(T + after, cause, None, low=T + low)


@pytest.mark.parametrize("cause", [Cause.ROUTE_CHANGED, Cause.BROKER_GONE])
def test_looks_that_may_have_seen_one_change_of_routes_or_brokers_are_one_round(cause: Cause) -> None:
    both = go_on(None, between(cause, -29_000, 0), between(cause, -26_000, 4_400), after=4_400)
    assert both.open is not None
    assert (both.ended, len(both.open.happenings)) == ((), 2)

    later = go_on(both.open, between(cause, 0, 30_500), last=1, after=30_500)  # the look before showed the first one

    assert [each.superseded_by for each in later.ended] == [2]


def test_a_change_of_routes_that_is_known_exactly_is_not_the_same_as_one_before_it() -> None:
    after = go_on(None, between(Cause.ROUTE_CHANGED, -9, 0), happened(Cause.ROUTE_CHANGED, 4_400), after=4_400)

    assert [each.superseded_by for each in after.ended] == [2]


def test_a_change_of_routes_is_seen_within_the_time_in_which_every_route_is_asked_for() -> None:
    first = between(Cause.ROUTE_CHANGED, -9, 0)

    assert go_on(None, first, between(Cause.ROUTE_CHANGED, -T, ROUTES_TOLD_MS), after=ROUTES_TOLD_MS).ended
    assert not go_on(None, first, between(Cause.ROUTE_CHANGED, -T, ROUTES_TOLD_MS - 1), after=ROUTES_TOLD_MS).ended
