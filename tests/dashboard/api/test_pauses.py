from __future__ import annotations

import csv
import io

import pytest
from django.test import Client

from dashboard.common.clock import now_ms
from dashboard.groups.models import Group, LagStep
from tests.dashboard.api.conftest import Get
from tests.dashboard.pauses.rows import add_handoff, add_round, pulled


@pytest.fixture
def now() -> int:
    return now_ms() // 10_000 * 10_000


def step(group: Group, began_at: int, lag: int | None) -> None:
    LagStep.objects.create(group=group, broker="east", began_at=began_at, at=began_at, lag=lag, most=lag)


def test_lag_over_time_says_where_it_is_unknown(get: Get, group: Group, now: int) -> None:
    step(group, now - 3 * 86_400_000, 1)
    step(group, now - 60_000, 7)
    step(group, now - 30_000, None)

    page = get(f"/groups/{group.pk}/lag", since=now - 70_000)

    assert [(row["at"], row["lag"], row["unknown"]) for row in page["rows"]] == [
        (now - 70_000, 1, {}),
        (now - 60_000, 7, {}),
        (now - 30_000, None, {"lag": "not every broker told its offsets"}),
    ]
    assert [row["lag"] for row in get(f"/groups/{group.pk}/lag", until=now - 40_000)["rows"]] == [1, 7]


def test_lag_comes_as_a_table_too(client: Client, get: Get, group: Group, now: int) -> None:
    assert get("/clusters")
    step(group, now - 60_000, 7)

    text = client.get(f"/api/v1/groups/{group.pk}/lag?format=csv").content.decode()

    assert list(csv.reader(io.StringIO(text)))[1:] == [[str(now - 60_000), "7"]]


def test_costs_are_added_up_by_cause_or_deploy(client: Client, get: Get, group: Group, now: int) -> None:
    first = add_round(group, 11, now - 60_000, superseded_by=12, members_before=["A", "B"])
    add_handoff(first, 0, **pulled(first, 1_000, 1_200))
    second = add_round(group, 12, now - 50_000, who="D", wave=11)
    add_handoff(second, 1)
    for number, who in ((13, "A"), (14, "B")):
        add_round(group, number, now - 54_000 + number * 1_000, who=who, cause="member left")
    add_round(group, 15, now - 3_000, who="X", cause="route changed", closed_at=None, told_at=None, state="open")

    by_cause = {row["cause"]: row for row in get(f"/groups/{group.pk}/costs", window="1h")["rows"]}
    [deploy] = get(f"/groups/{group.pk}/costs", by="deploy")["rows"]

    cost = by_cause["member joined"]
    assert (cost["rounds"], cost["moves"]) == ([11, 12], 4)
    assert (cost["paused"], cost["unowned"]) == ({"low": 1_800, "high": None}, {"low": 1_600, "high": 2_400})
    assert cost["unknown"] == {"paused": "of some queues the end is not known", "longest": cost["unknown"]["longest"]}
    still = by_cause["route changed"]
    assert (still["moves"], still["unknown"]["moves"]) == (None, "a round of it is not over")
    assert (cost["left"], still["left"], still["unknown"]["left"]) == (0, None, "a round of it is not over")
    assert deploy["rounds"] == [11, 12, 13, 14]
    text = client.get(f"/api/v1/groups/{group.pk}/costs?format=csv&window=1h").content.decode()
    assert next(csv.DictReader(io.StringIO(text)))["unowned_high"] == "2400"
