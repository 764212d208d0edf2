"""A time without an owner is told by the round in which the queue was let go, wherever rounds are told."""

from __future__ import annotations

import pytest
from django.test import Client

from dashboard.clusters.models import Cluster
from dashboard.groups.elsewhere import LetGo, told_by
from dashboard.groups.ending import tell_ended
from dashboard.groups.models import Group
from dashboard.pauses.costs import Between, Sum
from dashboard.pauses.queries import pauses_of
from rebalance_engine.events import Departure
from tests.dashboard.groups.test_story import settle, turn
from tests.dashboard.story import T0, held, joined, left, listed, seen, told

NOW = T0 + 30_000
GONE = Departure.UNREGISTERED
NONE = Sum(0, 0, 0)


@pytest.fixture
def group(cluster: Cluster) -> Group:
    """A group that all members left; 10.1 s later C has all of its queues."""
    group = settle()
    told(
        held("A", 4_990, [0, 1]),
        held("B", 4_990, [2, 3]),
        left("A", 5_000, GONE),
        left("B", 5_000, GONE),
        listed(5_000),
    )
    turn(5_010)
    tell_ended(group=group.pk, now=T0 + 5_020)
    told(joined("C", 14_900, low=14_800), *seen("C", 14_900)[1:], listed(14_900, "C"), held("C", 15_100, [0, 1, 2, 3]))
    turn(15_110)
    tell_ended(group=group.pk, now=T0 + 15_120)
    assert group.cluster_id == cluster.pk
    return group


def test_what_a_round_left_without_owner_stands_in_no_later_round(group: Group, admin_client: Client) -> None:
    first, second = (admin_client.get(f"/api/v1/groups/{group.pk}/rounds/{number}").json() for number in (1, 2))

    assert first["longest_unowned"] == {"low": 9_800, "high": 10_110}
    assert first["longest_pause"] == {"low": 9_800, "high": None}
    assert "Queues that it let go had no owner beyond its end, until somebody took them." in first["sentence"]
    assert (second["longest_unowned"], second["unowned_queues"], second["unowned_perhaps_queues"]) == (None, 0, 0)
    assert second["longest_pause"] == {"low": 0, "high": 0}
    assert second["sentence"].endswith("4 queues had no owner since earlier rounds, which tell for how long: 1.")
    pages = [admin_client.get(f"/groups/{group.pk}/{part}").content.decode() for part in ("rounds/2/", "")]
    assert all("10.1 s" not in page.split('class="paragraph"')[-1].split("</p>")[0] for page in pages)


def test_pauses_say_what_the_rounds_say(group: Group) -> None:
    first, second = (each.cost for each in pauses_of(group=group, since=T0, now=NOW).rounds)

    assert first is not None
    assert second is not None
    assert (first.longest, first.unowned) == (Between(9_800, None), Sum(4 * 9_800, 4 * 10_110, 0))
    assert (second.longest, second.unowned, second.paused) == (Between(0, 0), NONE, NONE)


def test_a_window_that_begins_later_counts_it_no_more_than_the_page(group: Group) -> None:
    [second] = pauses_of(group=group, since=T0 + 10_000, now=NOW).rounds

    assert second.cost is not None
    assert (second.number, second.cost.unowned, second.cost.paused) == (2, NONE, NONE)


def test_the_moves_of_a_later_round_do_not_tell_it_either(group: Group, admin_client: Client) -> None:
    rows = admin_client.get(f"/api/v1/groups/{group.pk}/rounds/2/moves").json()["rows"]

    assert [(row["from_client"], row["to_client"], row["unowned_low"]) for row in rows] == [(None, "C", None)] * 4


@pytest.mark.parametrize(
    ("let_go", "told"),
    [
        ((1, 0, 10_000), 1),
        ((3, 0, 10_000), None),  # by itself
        ((1, 0, 4_000), None),  # it was taken before
        ((1, 7_000, 9_000), None),  # it was let go later
    ],
)
def test_it_is_another_rounds_where_that_one_let_it_go_and_nobody_had_taken_it(
    let_go: tuple[int, int, int], told: int | None
) -> None:
    assert told_by([LetGo(*let_go)], 3, (5_000, 6_000)) == told


@pytest.fixture
def back_and_forth(cluster: Cluster) -> Group:
    """A lets queue 1 go as C joins, and takes it again as C goes, which supersedes the first round."""
    group = settle()
    assert group.cluster_id == cluster.pk
    told(joined("C", 5_000, low=4_900), *seen("C", 5_000)[1:], listed(5_000, "A", "B", "C"), held("C", 5_100, []))
    had({"A": [0, 1], "B": [2, 3], "C": []}, at=5_900)
    had({"A": [0], "B": [2, 3], "C": []}, at=6_000)
    had({"A": [0], "B": [2, 3], "C": []}, at=9_990)
    told(left("C", 10_000, GONE), at=10_000)
    had({"A": [0], "B": [2, 3]}, at=10_000)
    had({"A": [0], "B": [2, 3]}, at=11_900)
    had({"A": [0, 1], "B": [2, 3]}, at=12_000)
    return group


def had(have: dict[str, list[int]], at: int) -> None:
    told(listed(at, *have), *(held(client, at, own) for client, own in have.items()), at=at)
    turn(at + 10)
    tell_ended(group=Group.objects.get().pk, now=T0 + at + 20)


def test_what_its_own_member_took_again_in_a_later_round_is_told_by_the_one_in_which_it_let_go(
    back_and_forth: Group, admin_client: Client
) -> None:
    first, second = (
        admin_client.get(f"/api/v1/groups/{back_and_forth.pk}/rounds/{number}").json() for number in (1, 2)
    )

    assert first["longest_unowned"] == {"low": 5_890, "high": 6_100}
    assert (second["longest_unowned"], second["unowned_queues"]) == (None, 0)
    assert "1 queue had no owner since an earlier round, which tells for how long: 1." in second["sentence"]
    assert [row["queue_id"] for row in first["beyond"]] == [1]
    assert second["beyond"] == []


def test_pauses_say_of_it_what_the_rounds_say(back_and_forth: Group) -> None:
    first, second = (each.cost for each in pauses_of(group=back_and_forth, since=T0, now=NOW).rounds)

    assert first is not None and second is not None
    assert (first.unowned.low, first.longest.low) == (5_890, 5_890)
    assert (second.unowned, second.longest, second.paused) == (NONE, Between(0, 0), NONE)
