from __future__ import annotations

import pytest
from django.test import Client

from dashboard.groups.models import Group
from dashboard.groups.rebalancing import rebalance_once
from tests.dashboard.api.conftest import Get
from tests.dashboard.groups.recording.test_lag import BEGIN
from tests.dashboard.groups.recording.test_lag import behind as lagging
from tests.dashboard.story import T0, held, missed, told

WHERE = ("", "/members", "/queues", "/findings", "/rounds/1", "/rounds/1/moves")


def test_a_group_comes_as_it_was_shown_then(get: Get, group: Group) -> None:
    before, between, now = (get(f"/groups/{group.pk}", at=at) for at in (T0 + 100, T0 + 5_300, ""))

    assert (before["members"], before["round"], before["at"], before["state_at"]) == (2, None, T0 + 100, T0 + 20)
    assert (between["members"], between["round"], between["round_closed_at"]) == (3, 1, None)
    assert between["is_converged"] is not True
    assert (now["members"], now["round"], now["is_converged"]) == (3, 1, True)
    assert before["unknown"]["seq"] == "it is not kept of past instants"
    assert before["cluster"] == now["cluster"]


def test_a_group_was_as_far_behind_as_its_queues_were_then(get: Get, group: Group) -> None:
    told(lagging(9_000, (9, 6), (9, 9)))
    before, then = (get(f"/groups/{group.pk}", at=at) for at in (BEGIN + 8_999, BEGIN + 9_000))
    told(lagging(25_000, (9, 8), (9, 7), (9, 9), (9, 9)))
    whole, again = (get(f"/groups/{group.pk}", at=at) for at in (BEGIN + 25_000, BEGIN + 24_999))

    shown = ("lag", "lag_low", "lag_at")
    assert [before[name] for name in shown] == [None, None, None]
    assert before["unknown"]["lag"] == "it is not kept of that instant"
    assert [then[name] for name in shown] == [again[name] for name in shown] == [None, 3, BEGIN + 9_000]
    assert then["unknown"]["lag"] == "not known of every queue"
    assert [whole[name] for name in shown] == [3, 3, BEGIN + 25_000]
    assert "lag" not in whole["unknown"]


def test_members_come_as_they_were_known_then(get: Get, group: Group) -> None:
    told(missed("B", 9_000))
    rebalance_once(group=group.pk, now=T0 + 9_100)

    before = get(f"/groups/{group.pk}/members", at=T0 + 100)["rows"]
    after = {row["client_id"]: row for row in get(f"/groups/{group.pk}/members", at=T0 + 9_100)["rows"]}

    assert [(row["client_id"], row["held"], row["target"]) for row in before] == [("A", 2, 2), ("B", 2, 2)]
    assert (after["B"]["held"], after["B"]["missing"]) == (None, "timeout")
    assert after["B"]["unknown"]["held"] == "it did not answer: timeout"
    assert before[0]["unknown"]["held_seen_at"] == "it is not kept of past instants"
    assert before[0]["version"] == "V5_5_0"
    table = get(f"/groups/{group.pk}/members", at=T0 + 100, format="csv", size=1)
    assert [line.split(",")[0] for line in table.splitlines()] == ["client_id", "A", "B"]
    assert [row["client_id"] for row in get(f"/groups/{group.pk}/members", at=T0 + 100, page=2, size=1)["rows"]] == [
        "B"
    ]


def test_what_was_wrong_then_comes_as_it_was_shown(get: Get, group: Group) -> None:
    told(held("A", 8_000, [0]))
    rebalance_once(group=group.pk, now=T0 + 8_100)
    told(held("A", 9_000, [0, 1]))
    rebalance_once(group=group.pk, now=T0 + 9_100)

    def kinds(at: object) -> list[str]:
        return [row["kind"] for row in get(f"/groups/{group.pk}/findings", at=at)["rows"]]

    assert kinds(T0 + 8_100) == ["orphan queue"]
    assert kinds(T0 + 9_100) == kinds("") == []


def test_a_round_comes_as_it_stood_then(get: Get, group: Group) -> None:
    row = get(f"/groups/{group.pk}/rounds/1", at=T0 + 5_300)
    now = get(f"/groups/{group.pk}/rounds/1")

    assert (row["state"], row["closed_at"], row["at"]) == ("open", None, T0 + 5_300)
    assert now["state"] == "closed"
    then = get(f"/groups/{group.pk}/rounds/1/moves", at=T0 + 6_100)["rows"]
    assert [(each["dropped_at"] is None, each["taken_at"]) for each in then] == [(False, None)]
    assert get(f"/groups/{group.pk}/rounds/1/moves")["rows"][0]["taken_at"] == T0 + 6_500


def test_a_round_that_was_not_the_latest_then_is_not_found(get: Get, client: Client, group: Group) -> None:
    assert get(f"/groups/{group.pk}")["round"] == 1

    answer = client.get(f"/api/v1/groups/{group.pk}/rounds/1", {"at": str(T0 + 100)})

    assert answer.status_code == 404
    assert "there was no round yet" in answer.json()["problem"]


@pytest.mark.parametrize("where", WHERE)
@pytest.mark.parametrize(("at", "words"), [("soon", "is no instant"), ("2999-01-01", "is still to come")])
def test_an_instant_that_is_none_is_refused_everywhere(
    get: Get, client: Client, group: Group, where: str, at: str, words: str
) -> None:
    assert get(f"/groups/{group.pk}{where}")

    answer = client.get(f"/api/v1/groups/{group.pk}{where}", {"at": at})

    assert (answer.status_code, words in answer.json()["problem"]) == (400, True)
