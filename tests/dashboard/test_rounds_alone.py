"""Random true courses of a group: each round's page tells one story, and no two of them tell the same.

Members are killed and fall silent, and brokers go and come back, while rounds follow each other.
"""

from __future__ import annotations

from collections import Counter
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dashboard.clusters.models import Cluster
from dashboard.groups.account import Account, account_of, figures_of
from dashboard.groups.elsewhere import Place
from dashboard.groups.models import Group, Round
from dashboard.groups.owned import began_at, places_of
from dashboard.groups.pictured import pictures_of
from dashboard.push.models import Step
from tests.dashboard.courses import Course, begin, look
from tests.dashboard.luck import the_same_luck
from tests.dashboard.story import T0

NO_BOUND = 2**60
Known = dict[int, tuple[dict[str, int], bool]]  # of each closed round its bounds, and whether they were open


@pytest.mark.django_db
@the_same_luck(2)
@given(st.integers(0, 2**32))
def test_each_round_tells_one_story_and_none_tells_anothers(seed: int) -> None:
    luck = Random(seed)
    Cluster.objects.all().delete()
    Step.objects.all().delete()
    course = Course(luck, calm=luck.choice([0.05, 0.12, 0.2]))
    course.passes()
    group, known = begin(course), Known()

    for _ in range(luck.choice([12, 20])):
        for _ in range(luck.choice([1, 2, 4, 8])):
            course.passes()
        look(course, group)
        course.passes()
        if luck.random() < 0.15:
            check(course, group, known)
    check(course, group, known)


def check(course: Course, group: Group, known: Known) -> None:
    """Hold all rounds against each other and what is true, and closed ones against what they told before."""
    nobody: Counter[Place] = Counter()
    for row in Round.objects.filter(group=group).select_related("group__cluster").order_by("number"):
        account = account_of(row=row, now=T0 + course.now)
        figures = figures_of(row=row, account=account, twice=None)
        check_figures(account, figures)
        check_before(row, account)
        check_closed(row, account, figures, known)
        places = places_of(account.own.shares)
        for pk, share in account.own.shares.items():
            nobody[places[pk]] += share.unowned.low
    for place, told in nobody.items():
        assert told <= course.lasted(place[1:], 0, course.now, surely=True), (place, told)


def check_figures(account: Account, figures: dict[str, object]) -> None:
    """Hold a round's figures against what stands beside them: handoffs, and what no handoff tells."""
    lanes, rest = account.lanes, [((row.topic, row.broker, row.queue_id), row) for row in account.rest]
    gaps = {lane.place for lane in lanes if lane.is_gap} | {place for place, row in rest if row.unowned[0]}
    maybe_gaps = {lane.place for lane in lanes if lane.is_perhaps_gap}
    maybe_gaps |= {place for place, row in rest if row.is_perhaps_gap}
    assert figures["unowned_queues"] == len(gaps), (figures, gaps)
    assert figures["unowned_perhaps_queues"] == len(maybe_gaps - gaps), (figures, maybe_gaps)
    twos = {lane.place for lane in lanes if lane.is_overlap} | {place for place, row in rest if row.overlap[0]}
    maybe_twos = {lane.place for lane in lanes if lane.is_perhaps_overlap}
    maybe_twos |= {place for place, row in rest if row.is_perhaps_overlap}
    count = {
        name: int(str(value)) for name, value in figures.items() if name.startswith("overlap") and "queues" in name
    }
    assert count["overlap_queues"] + count["overlap_older_queues"] == len(twos), (count, twos)
    perhaps = count["overlap_perhaps_queues"] + count["overlap_perhaps_older_queues"]
    assert perhaps >= len(maybe_twos - twos), (count, maybe_twos)


def check_before(row: Round, account: Account) -> None:
    """Hold the map before a round against its time, and all that it tells to have happened in it."""
    before = pictures_of(row)["before_at"]
    assert began_at(row) <= before, (row.number, before)
    moments = [at for lane in account.lanes if not lane.is_older for at in (lane.dropped_at, lane.taken_at) if at]
    assert all(before <= at for at in moments), (row.number, before, moments)


def check_closed(row: Round, account: Account, figures: dict[str, object], known: Known) -> None:
    """Hold what a round that is over tells against what it told before: its bounds have not grown."""
    if row.closed_at is None:
        return
    bounds = {name: most(figures, name) for name in ("unowned", "overlap")}
    told, was_open = known.get(row.number, (bounds, False))
    assert was_open or all(bounds[name] <= told[name] for name in bounds), (row.number, told, bounds)
    lasts = any(lane.is_waiting or lane.is_shared or lane.is_unknown for lane in account.lanes)
    in_doubt = any(share.is_doubted or share.is_lasting or share.is_shared for share in account.own.shares.values())
    known[row.number] = (bounds, lasts or in_doubt)


def most(figures: dict[str, object], name: str) -> int:
    """Give how long any queue had no owner, or two, at most, as a round's figures say."""
    bounds, perhaps = figures[name], figures[f"{name}_perhaps"]
    high = 0
    if isinstance(bounds, tuple):
        high = NO_BOUND if bounds[1] is None else bounds[1]
    if figures[f"{name}_perhaps_queues"]:
        high = max(high, perhaps if isinstance(perhaps, int) else NO_BOUND)
    return high
