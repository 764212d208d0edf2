"""Each bit of a time without owner is told by one round: that in which it was seen to begin."""

from __future__ import annotations

import pytest

from dashboard.groups.account import Account, account_of, figures_of
from dashboard.groups.bands import EVER
from dashboard.groups.claims import Claim, claims_of, others, reach_of
from dashboard.groups.elsewhere import Place
from dashboard.groups.models import Group, Round
from dashboard.groups.owned import places_of
from dashboard.groups.paragraph import sentence_of
from dashboard.groups.shares import Share, Window
from rebalance_engine.events import Departure
from tests.dashboard.groups.test_elsewhere import had
from tests.dashboard.groups.test_story import settle
from tests.dashboard.story import T0, held, joined, left, listed, missed, told

FIRST, SECOND = Window(0, 20, 1, 60, number=1), Window(20, 40, 1, 60, has_last=True, number=2, low=15)
BOTH = [FIRST, SECOND]


@pytest.mark.parametrize(
    ("seen", "outer", "claims"),
    [
        ([(25, 30)], [(10, 30)], [Claim(2, 10, 30, 25)]),  # possible since the first, seen in the second
        ([(18, 30)], [(10, 30)], [Claim(1, 10, 30, 18)]),
        ([(18, 30)], [(18, 30)], [Claim(2, 18, 30, 18)]),  # exactly, since the second may have begun
        ([(5, 8), (25, 30)], [(2, 30)], [Claim(1, 2, 8, 5), Claim(2, 8, 30, 25)]),
        ([], [(10, 25)], [Claim(2, 10, 25, 25)]),  # somebody was seen with it then
        ([], [(10, 40)], [Claim(2, 10, 40, 40)]),
        ([], [(10, 50)], [Claim(None, 10, 50, 50)]),
    ],
)
def test_a_time_is_of_the_round_in_which_it_was_seen_to_begin_with_what_was_possible_before(
    seen: list[tuple[int, int]], outer: list[tuple[int, int]], claims: list[Claim]
) -> None:
    assert claims_of(seen, outer, BOTH) == claims


def test_a_round_reaches_as_far_as_it_claims_and_tells_nothing_of_what_others_do() -> None:
    claims = [Claim(1, 2, 8, 5), Claim(2, 8, 45, 25), Claim(2, EVER, 3, 25)]

    assert reach_of(SECOND, claims, (20, 40), 50) == (8, 45)
    assert reach_of(FIRST, claims, (0, 20), 50) == (0, 20)
    assert others(FIRST, claims, (0, 20)) == (Claim(2, 8, 45, 25), Claim(2, EVER, 3, 25))
    assert others(SECOND, claims[:2], (4, 45)) == (Claim(1, 2, 8, 5),)


def accounts(at: int) -> dict[int, Account]:
    rows = Round.objects.select_related("group__cluster").order_by("number")
    return {row.number: account_of(row=row, now=T0 + at) for row in rows}


def told_by(at: int, place: Place) -> list[int]:
    """Number the rounds that tell of a queue's time without owner, as handoffs or beyond them."""
    return [
        number
        for number, each in accounts(at).items()
        if any(lane.place == place and lane.unowned != (0, 0) for lane in each.lanes)
        or any((row.topic, row.broker, row.queue_id) == place and row.unowned != (0, 0) for row in each.rest)
    ]


@pytest.fixture
def silent_for_three_rounds(cluster: object) -> Group:
    """A tells nothing while C comes and B goes; it is seen to be lost much later, and C has its queues."""
    assert cluster
    group = settle()
    told(joined("C", 5_000, low=4_900), listed(5_000, "A", "B", "C"), held("C", 5_100, []), at=5_100)
    silently({"B": [2, 3], "C": []}, 6_000)
    told(left("B", 20_000, Departure.UNREGISTERED), at=20_000)
    silently({"C": []}, 20_000)
    silently({"C": [2, 3]}, 22_000)
    told(left("A", 40_000, Departure.HEARTBEAT_EXPIRED), at=40_000)
    had({"C": [2, 3]}, 40_000)
    had({"C": [0, 1, 2, 3]}, 41_000)
    return group


def silently(have: dict[str, list[int]], at: int) -> None:
    told(missed("A", at))
    had(have, at)


def test_what_may_have_begun_while_its_owner_was_silent_is_told_by_the_round_in_which_it_was_seen_lost(
    silent_for_three_rounds: Group,
) -> None:
    assert [row.superseded_by for row in silent_for_three_rounds.rounds.order_by("number")] == [2, 3, None]

    assert [told_by(42_000, ("orders", "east", number)) for number in (0, 1)] == [[3], [3]]
    assert told_by(42_000, ("orders", "east", 2)) == [2]


def test_what_another_one_had_before_a_round_while_its_owner_was_silent_is_of_no_time_without_owner(
    cluster: object,
) -> None:
    """B has A's queue for a while, in the first round; C has it in the second; A is seen to be lost in the third."""
    assert cluster
    settle()
    silently({"B": [1, 2, 3]}, 6_000)
    silently({"B": [1, 2, 3]}, 15_900)
    silently({"B": [2, 3]}, 16_000)
    told(missed("A", 19_900), joined("C", 20_000, low=19_900), listed(20_000, "A", "B", "C"), at=20_000)
    silently({"B": [2, 3], "C": []}, 20_100)
    silently({"B": [2, 3], "C": [1]}, 21_000)
    told(left("A", 40_000, Departure.HEARTBEAT_EXPIRED), at=40_000)
    had({"B": [0, 2, 3], "C": [1]}, 40_000)

    found = accounts(41_000)

    told_of = {number: max((share.unowned.high for share in ours(each)), default=0) for number, each in found.items()}
    assert told_of == {1: 20_000 - 15_900, 2: 0, 3: 0}
    assert [lane.unowned for lane in found[1].lanes] == [(0, 21_000 - 15_900)]


def test_what_its_own_member_took_again_and_let_go_once_more_in_a_later_round_is_added_up_once(cluster: object) -> None:
    assert cluster
    settle()
    told(joined("C", 5_000, low=4_900), listed(5_000, "A", "B", "C"), held("C", 5_100, []), at=5_100)
    had({"A": [0, 1], "B": [2, 3], "C": []}, at=5_900)
    had({"A": [0], "B": [2, 3], "C": []}, at=6_000)
    had({"A": [0], "B": [2, 3], "C": []}, at=9_990)
    told(left("C", 10_000, Departure.UNREGISTERED), at=10_000)
    had({"A": [0], "B": [2, 3]}, at=11_900)
    had({"A": [0, 1], "B": [2]}, at=12_000)
    had({"A": [0, 1], "B": [2]}, at=13_900)
    had({"A": [0], "B": [2]}, at=14_000)
    had({"A": [0], "B": [2]}, at=14_900)
    had({"A": [0], "B": [1, 2]}, at=15_000)

    first, second = accounts(15_100).values()
    of_one = [share for each in (first, second) for share in ours(each)]

    assert [share.unowned.low for share in of_one] == [5_890, 900]
    assert sum(share.unowned.high for share in of_one) == 6_100 + 1_100
    assert (second.own.rounds, second.own.queues) == ([1], 1)


def ours(account: Account) -> list[Share]:
    places = places_of(account.own.shares)
    return [share for pk, share in account.own.shares.items() if places[pk][2] == 1]


def test_what_perhaps_two_had_since_before_a_round_stands_in_its_figures_as_that(cluster: object) -> None:
    """B takes what A, who is silent, may have still; A is seen to be lost in the next round."""
    assert cluster
    settle()
    told(joined("C", 5_000, low=4_900), listed(5_000, "A", "B", "C"), held("C", 5_100, []), at=5_100)
    silently({"B": [2, 3], "C": []}, 6_000)
    silently({"B": [1, 2, 3], "C": []}, 8_000)
    told(left("A", 40_000, Departure.HEARTBEAT_EXPIRED), at=40_000)
    had({"B": [1, 2, 3], "C": []}, 40_000)
    row = Round.objects.select_related("group__cluster").get(number=2)

    account = account_of(row=row, now=T0 + 41_000)
    figures = figures_of(row=row, account=account, twice=None)

    [lane] = [lane for lane in account.lanes if lane.queue_id == 1]
    assert (lane.is_older, lane.is_perhaps_overlap, lane.unowned) == (True, True, (0, 0))
    assert (figures["overlap_perhaps_queues"], figures["overlap_perhaps_older_queues"]) == (0, 1)
    assert "Perhaps 1 queue had two owners since before it." in sentence_of(row, figures, now=T0 + 41_000)
