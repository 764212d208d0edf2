from __future__ import annotations

import re

import pytest
from django.test import Client

from dashboard.groups.models import Finding, Group
from dashboard.groups.proofs import answered_at_of, proven_at, seen_at_of
from dashboard.groups.templatetags.groups import proof_at
from tests.dashboard.groups.test_story import settle, turn
from tests.dashboard.story import T0, held, missed, told

pytestmark = pytest.mark.usefixtures("cluster")


def orphan() -> Finding:
    settle()
    told(held("A", 3_000, [0, 1]), held("B", 4_000, [2]))
    turn(4_100)
    told(held("A", 44_000, [0, 1]), held("B", 45_000, [2]))
    turn(45_100)
    return Finding.objects.get(kind="orphan queue", cleared_at=None)


def test_a_finding_is_as_old_as_the_oldest_answer_on_which_it_rests() -> None:
    row = orphan()
    group = row.group
    assert group is not None

    seen = seen_at_of(groups=[group.pk])

    assert seen == {group.pk: T0 + 44_000}
    assert proof_at(row, seen) == proof_at(row, T0 + 44_000) == T0 + 44_000

    told(held("A", 60_000, [0, 1]), held("B", 61_000, [2]))  # nothing changed: no rebalance comes of it
    assert seen_at_of(groups=[group.pk]) == {group.pk: T0 + 60_000}


def test_what_rests_on_something_else_or_on_nothing_has_no_such_age() -> None:
    assert proven_at("storm", T0, T0) is None
    assert proven_at("orphan queue", None, T0) is None
    row = Finding(kind="storm", group=Group(pk=1))
    assert proof_at(row, {1: T0}) is proof_at(row, "") is None


def test_the_api_and_the_pages_tell_it(admin_client: Client) -> None:
    row = orphan()

    [found] = admin_client.get(f"/api/v1/groups/{row.group_id}/findings").json()["rows"]
    [same] = admin_client.get("/api/v1/findings").json()["rows"]
    page = admin_client.get(f"/groups/{row.group_id}/").content.decode()
    overview = admin_client.get("/").content.decode()

    assert found["seen_at"] == same["seen_at"] == T0 + 44_000
    for shown in (page, overview):
        assert re.search("as of [^\n]{0,200}22:14:04", shown)


def test_a_row_is_as_old_as_the_oldest_answer_of_those_who_answer() -> None:
    row = orphan()
    told(missed("B", 50_000), held("A", 61_000, [0, 1]))

    assert answered_at_of(groups=[row.group_id or 0]) == {row.group_id: T0 + 61_000}
    assert seen_at_of(groups=[row.group_id or 0]) == {row.group_id: T0 + 45_000}
