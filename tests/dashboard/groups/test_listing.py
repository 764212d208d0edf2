from __future__ import annotations

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from dashboard.clusters.models import Cluster
from dashboard.groups.listing import (
    PAGE,
    STRIP_MS,
    Wish,
    beside_their_maps,
    list_groups,
    listed,
    may_see,
    smalls,
)
from dashboard.groups.models import Finding, Group
from dashboard.groups.rebalancing import rebalance_once
from dashboard.groups.small import NOBODY
from dashboard.people.roles import Access, Role, Scope
from rebalance_engine.events import EXACT, ProgressSeen, QueueProgress
from tests.dashboard.story import EAST, T0, held, joined, missed, queue, route, seen, told

ALL = Access("a", (Scope(Role.VIEWER),))


@pytest.fixture
def groups(cluster: Cluster) -> Cluster:
    """One in order, one with an orphan, one that was never looked at."""
    told(route(4), *seen("A"), held("A", 10, [0, 1, 2, 3]), *seen("B", group="orphaned"))
    told(held("B", 10, [0, 1, 2], group="orphaned"))
    for group in Group.objects.all():
        rebalance_once(group=group.pk, now=T0 + 20)
    Group.objects.create(cluster=cluster, name="new", added_at=T0)
    return cluster


def names(cluster: Cluster, access: Access = ALL, **wish: object) -> list[str]:
    page = list_groups(clusters=[cluster], access=access, wish=Wish(**wish), now=T0)  # type: ignore[arg-type] # as a view has them
    return [each.row.group for each in page.rows]


def test_the_gravest_comes_first(groups: Cluster) -> None:
    assert names(groups) == ["orphaned", "new", "g"]
    assert names(groups, sort="name") == ["g", "new", "orphaned"]
    assert names(groups, sort="queues")[-1] == "new"


def test_groups_are_searched_and_filtered(groups: Cluster) -> None:
    assert names(groups, search="ORPH shop") == ["orphaned"]
    assert names(groups, search="without owner") == ["orphaned"]
    assert names(groups, only="owners") == ["orphaned"]
    assert names(groups, only="unknown") == ["new"]
    assert names(groups, search="nothing like it") == []


def test_a_group_with_a_finding_of_any_kind_is_found_by_it(groups: Cluster) -> None:
    Finding.objects.all().delete()
    group = Group.objects.get(name="g")
    columns = {"subject": "B", "subject_key": "B", "sentence": "B is idle", "proof": ["p"], "origin": "derived"}
    Finding.objects.create(cluster=groups, group=group, kind="idle consumer", suspected_at=T0, **columns)

    assert names(groups, only="findings") == ["g"]
    assert names(groups, only="owners") == ["orphaned"]


def test_those_who_are_the_furthest_behind_come_first_and_the_unknown_last(groups: Cluster) -> None:
    for name, waiting in (("g", 3), ("orphaned", 7)):
        queues = (QueueProgress(queue=queue(0), end=9, committed=9 - waiting),)
        told(ProgressSeen(at=T0, source=EAST, exactness=EXACT, group=name, broker="east", queues=queues))

    assert names(groups, sort="lag") == ["orphaned", "g", "new"]
    assert names(groups, search="orders/east B") == ["orphaned"]


def test_a_group_with_an_open_round_is_found_as_rebalancing_whatever_else_is_the_matter(groups: Cluster) -> None:
    told(joined("C", 5_000, "orphaned", low=4_000))
    rebalance_once(group=Group.objects.get(name="orphaned").pk, now=T0 + 5_100)

    page = list_groups(clusters=[groups], access=ALL, wish=Wish(only="moving"), now=T0)

    [each] = page.rows
    assert (each.row.group, each.state.kind == "moving") == ("orphaned", False)
    assert page.counts["moving"] == 1


def test_figures_count_what_the_person_may_see(groups: Cluster) -> None:
    page = list_groups(clusters=[groups], access=ALL, wish=Wish(only="moving"), now=T0)

    assert page.counts == {"all": 3, "findings": 1, "owners": 1, "moving": 0, "unknown": 1}
    assert (page.members, page.queues, page.found, page.pages) == (2, 8, 0, 1)
    assert names(groups, Access("b", (Scope(Role.VIEWER, "*", "g"),))) == ["g"]


def test_many_groups_come_in_pages_with_the_same_number_of_queries(cluster: Cluster) -> None:
    Group.objects.bulk_create(Group(cluster=cluster, name=f"g{n:04}", added_at=T0) for n in range(2 * PAGE + 1))

    with CaptureQueriesContext(
        connection,
    ) as queries:
        page = list_groups(clusters=[cluster], access=ALL, wish=Wish(page=99), now=T0)

    assert (page.number, page.pages, len(page.rows)) == (3, 3, 1)
    assert len(queries) == 2


def test_the_small_picture_has_map_and_rounds(groups: Cluster) -> None:
    group = Group.objects.get(name="g")
    told(joined("C", 5_000, low=4_000), held("C", 5_100, []))
    rebalance_once(group=group.pk, now=T0 + 5_200)

    found = smalls(groups=[group.pk, 999], now=T0 + 6_000)

    assert found[group.pk]["map"] == {"columns": 4, "bands": ((0, 1, 2, 3), ()), "faults": (1, 1, 1, 1)}
    assert [each["cause"] for each in found[group.pk]["rounds"]] == ["member joined"]  # type: ignore[attr-defined] # a list
    assert found[group.pk]["latest"]["who"] == "C"  # type: ignore[index] # a round
    assert found[999] == {"map": None, "figures": {}, "rounds": [], "latest": None}
    del groups


def test_a_row_says_what_its_map_shows_though_the_group_was_rebalanced_in_between(groups: Cluster) -> None:
    page = list_groups(clusters=[groups], access=ALL, wish=Wish(search="orphaned"), now=T0)
    told(held("B", 5_000, [0, 1, 2, 3], group="orphaned"))
    rebalance_once(group=page.rows[0].row.id, now=T0 + 5_100)

    small = smalls(groups=[page.rows[0].row.id], now=T0 + 6_000)
    shown = beside_their_maps(page, small).rows[0]

    assert page.rows[0].row.orphans == 1
    assert shown.row.orphans == 0
    assert "without owner" not in shown.state.words
    assert NOBODY not in small[shown.row.id]["map"]["faults"]  # type: ignore[index] # of a map


def test_who_joined_is_named_long_after_its_round_left_the_strip(groups: Cluster) -> None:
    group = Group.objects.get(name="g")
    told(joined("C", 5_000, low=4_000), held("C", 5_100, []), held("A", 5_100, [0, 1]))
    rebalance_once(group=group.pk, now=T0 + 5_200)
    told(held("A", 9_000, [0, 1]), held("C", 9_000, [2, 3]))
    rebalance_once(group=group.pk, now=T0 + 9_100)
    later = T0 + 2 * STRIP_MS

    page = list_groups(clusters=[groups], access=ALL, wish=Wish(), now=T0)
    small = smalls(groups=[each.row.id for each in page.rows], now=later)
    page = beside_their_maps(page, small)

    assert small[group.pk]["rounds"] == []
    assert [each.who for each in page.rows if each.row.id == group.pk] == ["C"]


def test_while_somebody_is_silent_two_owners_are_at_least_so_many(groups: Cluster) -> None:
    assert list_groups(clusters=[groups], access=ALL, wish=Wish(), now=T0).rows[-1].doubles_at_least == ""
    group = Group.objects.get(name="g")
    told(*seen("C", 5_000), *seen("D", 5_000), held("C", 5_100, [0]), missed("D", 5_200))
    told(held("A", 5_250, [0, 1, 2, 3]))
    rebalance_once(group=group.pk, now=T0 + 5_300)

    found = listed(group=Group.objects.get(name="g"))

    assert found.doubles_at_least == "≥\u00a01"
    assert found.state.words.startswith("at least 1 of 4")


def test_one_group_is_listed_as_all_are(groups: Cluster) -> None:
    group = Group.objects.get(name="g")

    assert listed(group=group).state.kind == "quiet"
    assert may_see(group, groups, ALL)
    assert not may_see(group, groups, Access("n", ()))
