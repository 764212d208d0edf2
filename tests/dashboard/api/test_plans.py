from __future__ import annotations

from django.test import Client

from dashboard.groups.models import Group
from tests.dashboard.api.conftest import Get


def test_a_dry_run_says_what_the_page_and_whatif_say(get: Get, client: Client, group: Group) -> None:
    said = get(f"/groups/{group.pk}/plan", add=["D"], strategy="AVG_BY_CIRCLE")
    page = client.get(f"/groups/{group.pk}/plan/", {"add": "D", "strategy": "AVG_BY_CIRCLE", "format": "json"}).json()

    assert {**said, "at": 0} == {**page, "at": 0}
    assert (said["writes"], said["strategy"]) == (False, "AVG_BY_CIRCLE")
    assert get(f"/groups/{group.pk}/plan", remove=["A"], format="csv").startswith("topic,broker,queue,from,to")
    rows = get(f"/groups/{group.pk}/plan", remove=["A"], format="csv", table="strategies")
    assert rows.startswith("strategy,is_chosen,is_own,needs_a_plan,moves")
    assert "moves" not in get(f"/groups/{group.pk}/plan", remove=["A"], table="skew")
    assert client.get(f"/api/v1/groups/{group.pk}/plan", {"table": "nonsense"}).status_code == 422


def test_a_question_that_makes_no_sense_is_refused_with_its_problems(get: Get, client: Client, group: Group) -> None:
    assert get("/clusters")

    answer = client.get(f"/api/v1/groups/{group.pk}/plan", {"remove": "nobody"})

    assert answer.status_code == 422
    assert answer.json()["problems"]
