from __future__ import annotations

from dashboard.clusters.models import Cluster
from dashboard.groups.models import Group, Round
from dashboard.groups.rebalancing import rebalance_once
from dashboard.groups.whose import MOST_NAMED, cause_with_names, whose, words_of
from tests.dashboard.story import T0, held, joined, left, route, seen, told


def test_who_joined_and_who_left_is_named_round_by_round(cluster: Cluster) -> None:
    told(route(4), *seen("A"), held("A", 10, [0, 1, 2, 3]))
    group = Group.objects.get()
    rebalance_once(group=group.pk, now=T0 + 20)
    told(joined("B", 5_000, low=4_000), held("B", 5_100, []))
    rebalance_once(group=group.pk, now=T0 + 5_200)
    told(left("B", 60_000))
    rebalance_once(group=group.pk, now=T0 + 60_100)

    names = whose(rounds=Round.objects.filter(group=group))

    by_number = {row.number: names.get(row.pk) for row in Round.objects.all()}
    assert by_number == {1: "B", 2: "B"}
    assert cluster.name == "shop"


def test_of_many_the_first_are_named_and_the_others_counted() -> None:
    assert words_of([*"ABCDE"]) == "A, B and 3 more"
    assert words_of([*"AB"][:MOST_NAMED]) == "A, B"


def test_a_name_from_outside_cannot_turn_the_line() -> None:
    assert words_of(["\u202eevil"]) == "⟨U+202E⟩evil"
    assert cause_with_names("member left", words_of(["x" * 100])) == f"member left: {'x' * 16}…{'x' * 15}"
