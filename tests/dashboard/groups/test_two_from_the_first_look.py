"""What two had already when they were looked at first: nobody knows since when, and no place says more than another."""

from __future__ import annotations

import pytest

from dashboard.api.fared import SINCE_EVER, fared, why_not_fared
from dashboard.clusters.models import Cluster
from dashboard.groups.cells import cells_of
from dashboard.groups.lanes import lanes_of
from dashboard.groups.lately import Lately, lately_of
from dashboard.groups.models import Group, Round
from dashboard.groups.owned import shares_in
from dashboard.groups.paragraph import sentence_of
from dashboard.groups.story import worst
from dashboard.pauses.costs import Sum
from dashboard.pauses.queries import pauses_of
from rebalance_engine.events import Departure
from tests.dashboard.groups.test_story import turn
from tests.dashboard.story import T0, held, joined, left, route, seen, told

pytestmark = pytest.mark.usefixtures("cluster")
NOW = T0 + 20_000


def both_have_queue_2() -> None:
    told(route(4), *seen("A"), *seen("B"), held("A", 10, [0, 1, 2]), held("B", 10, [2, 3]))
    turn(20)


def lately() -> Lately:
    Cluster.objects.update(watched_at=NOW)
    group = Group.objects.get(name="g").pk
    return lately_of(groups=[group], now=NOW)[group]


def told_by_round() -> tuple[dict[str, object], str, list[tuple[int | None, int | None]]]:
    """Give a round's figures, its sentence, and what lanes of queue 2 say of two owners."""
    row = Round.objects.get()
    lanes = lanes_of(row, now=NOW)
    found = worst(lanes, shares_in(row=row, now=NOW))
    return found, sentence_of(row, found, now=NOW), [lane.overlap for lane in lanes if lane.queue_id == 2]


def cost_of_overlaps() -> Sum:
    [only] = pauses_of(group=Group.objects.get(name="g"), since=T0, now=NOW).rounds
    assert only.cost is not None
    return only.cost.overlap


def test_what_both_may_have_had_for_ever_has_no_upper_bound_anywhere() -> None:
    both_have_queue_2()
    told(held("A", 2_000, [0, 1]), held("B", 2_010, [2, 3]))
    turn(2_100)

    found, sentence, lanes = told_by_round()
    each = lately()

    assert (found["overlap"], found["overlap_perhaps"], found["overlap_perhaps_queues"]) == (None, None, 1)
    assert "Perhaps 1 queue had two owners; since when is unknown." in sentence
    assert lanes == [(0, None)]
    assert cost_of_overlaps() == Sum(0, None, 1)
    assert (cells_of(each)["overlap"]["text"], cells_of(each)["overlap"]["mark"]) == ("–", "unknown")
    figures = fared(each)
    assert (figures["overlap_ms_low"], figures["overlap_ms_high"]) == (0, None)
    assert why_not_fared(each, figures)["overlap_ms_high"] == SINCE_EVER


@pytest.mark.parametrize("how", ["a member joins", "an owner leaves"])
def test_what_both_had_for_a_while_for_certain_has_one_lower_bound_everywhere(how: str) -> None:
    both_have_queue_2()
    told(held("A", 5_200, [0, 1, 2]), held("B", 5_200, [2, 3]))
    if how == "a member joins":
        told(joined("C", 5_250, low=5_220), held("C", 5_300, []))
        turn(5_300)
        told(held("A", 6_000, [0, 1]), held("B", 6_000, [2]), held("C", 6_500, [3]))
    else:
        turn(5_300)
        told(left("B", 6_000, Departure.UNREGISTERED), held("A", 6_500, [0, 1, 2, 3]))
    turn(6_600)

    found, sentence, lanes = told_by_round()
    each = lately()

    least = lanes[0][0]
    assert least is not None and least >= 5_190
    assert (lanes[0], found["overlap"], found["overlap_older_queues"]) == ((least, None), None, 1)
    assert cost_of_overlaps() == Sum(least, None, 1)
    assert "1 queue had two owners since before it." in sentence
    assert cells_of(each)["overlap"]["text"].replace("\u00a0", " ") == f"≥ {least / 1_000:.1f} s"
    assert "since when a queue may have had two is unknown" in cells_of(each)["overlap"]["note"]


def test_what_went_on_for_longer_than_is_looked_back_is_known() -> None:
    both_have_queue_2()
    for at in (1_000, 1_300_000):
        told(held("A", at, [0, 1, 2]), held("B", at, [2, 3]))
        turn(at + 10)
    Cluster.objects.update(watched_at=T0 + 1_300_000)
    group = Group.objects.get(name="g").pk

    each = lately_of(groups=[group], now=T0 + 1_300_000)[group]

    assert (each.is_since_ever, cells_of(each)["overlap"]["text"].replace("\u00a0", " ")) == (False, "10 min 00 s")
