from __future__ import annotations

import csv
import io

import pytest
from django.test import Client
from pytest_django import DjangoAssertNumQueries

from dashboard.groups.ending import tell_ended
from dashboard.groups.models import Group
from dashboard.groups.rebalancing import rebalance_once
from tests.dashboard.api.conftest import Get
from tests.dashboard.story import T0, held, joined, seen, told


def test_rounds_are_listed_newest_first_and_by_time(get: Get, group: Group) -> None:
    told(joined("D", 60_000, low=59_000), *seen("D", 60_000)[1:], held("D", 60_100, []))
    rebalance_once(group=group.pk, now=T0 + 60_200)

    page = get(f"/groups/{group.pk}/rounds")

    assert [(row["number"], row["state"]) for row in page["rows"]] == [(2, "open"), (1, "closed")]
    assert page["rows"][0]["unknown"]["closed_at"] == "it has not ended yet"
    first = page["rows"][1]
    assert (first["opened_low"], first["opened_at"], first["took_low"]) == (T0 + 4_000, T0 + 5_000, 0)
    assert [row["number"] for row in get(f"/groups/{group.pk}/rounds", until=T0 + 30_000)["rows"]] == [1]
    assert [row["number"] for row in get(f"/groups/{group.pk}/rounds", since=T0 + 30_000)["rows"]] == [2]


def test_a_round_has_its_sentence_its_proof_and_its_loads(get: Get, group: Group) -> None:
    row = get(f"/groups/{group.pk}/rounds/1")

    assert row["sentence"].startswith("C joined")
    assert row["causes"][0]["client_id"] == "C"
    assert row["causes"][0]["at"] == {"at": T0 + 5_000, "low": T0 + 4_000, "high": T0 + 5_000}
    assert [(load["client_id"], load["before"], load["after"]) for load in row["loads"]] == [
        ("A", 2, 2),
        ("B", 2, 1),
        ("C", None, 1),
    ]
    assert (row["unowned_queues"], row["unowned_perhaps_queues"], row["longest_unowned"]) == (0, 1, None)
    assert (row["is_unowned_lasting"], row["is_overlap_lasting"]) == (False, False)
    assert (row["previous"], row["next"]) == (None, None)


def test_a_round_that_is_not_there_is_said(get: Get, client: Client, group: Group) -> None:
    assert get("/clusters")

    answer = client.get(f"/api/v1/groups/{group.pk}/rounds/9")

    assert (answer.status_code, answer.json()["problem"][:20]) == (404, "there is no round 9 ")


def test_moves_and_handoffs_have_bounds_and_say_what_nobody_saw(get: Get, group: Group) -> None:
    tell_ended(group=group.pk, now=T0 + 7_000)

    [move] = get(f"/groups/{group.pk}/rounds/1/moves")["rows"]
    [handoff] = get(f"/groups/{group.pk}/handoffs")["rows"]

    for row in (move, handoff):
        assert (row["queue_id"], row["from_client"], row["to_client"]) == (3, "B", "C")
        assert (row["first_pull_at"], row["pause_high"]) == (None, None)
        assert "members report it" in row["unknown"]["pause_high"]
        assert row["unowned_high"] is not None
    assert handoff["dropped_low"] <= handoff["dropped_at"] <= handoff["dropped_high"]
    assert get(f"/groups/{group.pk}/handoffs", since=T0 + 60_000)["rows"] == []


def test_a_queue_that_nobody_has_taken_yet_waits(get: Get, group: Group) -> None:
    told(joined("D", 60_000, low=59_000), *seen("D", 60_000)[1:], held("D", 60_100, []), held("A", 60_500, [0]))
    rebalance_once(group=group.pk, now=T0 + 60_600)

    [move] = [row for row in get(f"/groups/{group.pk}/rounds/2/moves")["rows"] if row["from_client"] == "A"]

    assert (move["is_waiting"], move["to_client"]) == (True, None)
    assert move["unknown"]["taken_at"] == "it is waited for still"


@pytest.mark.parametrize("where", ["rounds", "rounds/1/moves", "handoffs"])
def test_tables_come_as_csv(get: Get, group: Group, where: str) -> None:
    tell_ended(group=group.pk, now=T0 + 7_000)

    rows = list(csv.DictReader(io.StringIO(get(f"/groups/{group.pk}/{where}", format="csv"))))

    assert len(rows) == 1
    assert "unknown" not in rows[0]


@pytest.mark.parametrize("where", ["rounds", "rounds/1", "rounds/1/moves", "handoffs"])
def test_questions_do_not_grow_with_the_rounds(
    get: Get, client: Client, group: Group, where: str, django_assert_max_num_queries: DjangoAssertNumQueries
) -> None:
    for number in range(1, 5):
        at = 60_000 * number
        told(joined(f"D{number}", at, low=at - 500), *seen(f"D{number}", at)[1:], held(f"D{number}", at + 100, []))
        rebalance_once(group=group.pk, now=T0 + at + 200)
    tell_ended(group=group.pk, now=T0 + 500_000)
    assert get("/clusters")

    with django_assert_max_num_queries(20):
        assert client.get(f"/api/v1/groups/{group.pk}/{where}").status_code == 200
