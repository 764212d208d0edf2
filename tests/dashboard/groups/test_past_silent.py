"""B told last at 10 s and again at 40 s; that its answer was missing was noticed at 30 s."""

from __future__ import annotations

import pytest
from django.test import Client

from dashboard.clusters.models import Cluster
from dashboard.groups.models import Group
from dashboard.groups.past import Shown, shown_at
from dashboard.groups.past_silent import as_answered
from dashboard.groups.rebalancing import rebalance_once
from dashboard.people.roles import Role
from tests.dashboard.persons import person
from tests.dashboard.story import T0, held, missed, route, seen, told


@pytest.fixture
def group(cluster: Cluster) -> Group:
    assert cluster.name == "shop"
    told(route(4), *seen("A"), *seen("B"))
    for at in (5_000, 10_000, 20_000, 30_000, 40_000):
        word = missed("B", at) if at == 30_000 else held("B", 10_000 if at == 20_000 else at, [2, 3])
        told(held("A", at, [0, 1]), word)
        rebalance_once(group=Group.objects.get().pk, now=T0 + at + 10)
    return Group.objects.get()


def at(group: Group, ms: int) -> Shown:
    shown = shown_at(group=group, at=T0 + ms)
    assert shown is not None
    return as_answered(shown, group=group, at=T0 + ms)


def of(shown: Shown) -> dict[str, bool]:
    return {cell.client: cell.held is not None for cell in shown.state.members}


def test_what_a_member_had_that_was_silent_is_unknown_from_its_last_word_on(group: Group) -> None:
    before, then, after = at(group, 5_020), at(group, 20_000), at(group, 40_020)

    was_shown = shown_at(group=group, at=T0 + 20_000)
    assert was_shown is not None and of(was_shown) == {"A": True, "B": True}
    assert (of(then), then.told_last) == ({"A": True, "B": False}, {"B": T0 + 10_000})
    assert (then.state.head.is_converged, then.state.head.orphans, then.state.head.doubles) == (None, None, None)
    for each in (before, after):
        assert (of(each), each.told_last, each.state.head.is_converged) == ({"A": True, "B": True}, {}, True)


def test_who_does_not_answer_yet_was_silent_since_its_last_word(group: Group) -> None:
    told(missed("B", 70_000))

    assert (of(at(group, 50_000)), at(group, 50_000).told_last) == ({"A": True, "B": False}, {"B": T0 + 40_000})


def test_that_two_had_a_queue_is_known_of_those_who_answered(group: Group) -> None:
    told(held("A", 50_000, [0, 1, 2]), held("B", 50_000, [2, 3]))
    rebalance_once(group=group.pk, now=T0 + 50_010)
    was_shown = shown_at(group=group, at=T0 + 55_000)
    told(missed("B", 70_000))

    assert was_shown is not None and was_shown.state.head.doubles == 1
    assert at(group, 55_000).state.head.doubles is None


def test_page_and_api_say_who_was_silent_and_since_when(client: Client, group: Group) -> None:
    client.force_login(person(Role.VIEWER))

    page = client.get(f"/groups/{group.pk}/", {"at": T0 + 20_000}).content.decode()
    said = client.get(f"/api/v1/groups/{group.pk}", {"at": T0 + 20_000}).json()
    rows = client.get(f"/api/v1/groups/{group.pk}/members", {"at": T0 + 20_000}).json()["rows"]
    silent = next(row for row in rows if row["client_id"] == "B")

    assert "Nothing is found wrong" not in page
    assert "no answer</span>, since" in page and "22:13:30.000" in page
    assert (said["silent"], said["is_converged"]) == (1, None)
    assert (silent["held"], silent["held_seen_at"]) == (None, T0 + 10_000)
    assert "held_seen_at" not in silent["unknown"]
