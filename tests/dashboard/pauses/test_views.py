from __future__ import annotations

import pytest
from django.test import Client

from dashboard.clusters.models import Cluster
from dashboard.common.clock import now_ms
from dashboard.groups.models import Flow, Group
from dashboard.pauses import views
from dashboard.pauses.lagging import LagOverTime
from dashboard.people.roles import Role
from tests.dashboard.pauses.rows import add_handoff, add_round, pulled
from tests.dashboard.persons import person


@pytest.fixture
def group(client: Client, cluster: Cluster) -> Group:
    client.force_login(person(Role.VIEWER))
    return Group.objects.create(cluster=cluster, name="g", added_at=1)


def test_the_page_says_what_rounds_cost(client: Client, group: Group) -> None:
    now = now_ms()
    first = add_round(group, 1, now - 60_000, superseded_by=2)
    add_handoff(first, 0, **pulled(first, 1_000, 1_000))
    second = add_round(group, 2, now - 50_000, wave=1)
    add_handoff(second, 1)
    add_round(group, 3, now - 1_000, closed_at=None, told_at=None, state="open")

    page = client.get(f"/groups/{group.pk}/pauses/").content.decode()

    assert f'href="/groups/{group.pk}/rounds/1/"' in page
    assert "Round 3 is not over" in page
    assert "≥\u00a01.8\u00a0s" in page
    assert "What deploys cost" in page
    assert "the page of the round counts all of that, and may know no upper bound of it; no sum here has it." in page
    assert "how far it is behind is unknown" in page


def test_queues_that_all_members_left_are_not_said_to_have_moved(client: Client, group: Group) -> None:
    row = add_round(group, 1, now_ms() - 60_000, cause="member left", members_before=["A"], members_after=[])
    add_handoff(row, 0, to_client="", taken_at=None, taken_low=None, taken_high=None)

    page = " ".join(client.get(f"/groups/{group.pk}/pauses/").content.decode().split())

    assert page.count('<span class="dim">2 left without owner</span>') == 2  # of the round, and of its cause
    assert '"moves": 0, "left": 2' in page


def test_dead_letters_are_counted_beside_the_lag_and_unknown_where_nobody_told(client: Client, group: Group) -> None:
    page = client.get(f"/groups/{group.pk}/pauses/").content.decode()
    assert "how many messages were given up is unknown" in page

    Flow.objects.create(group=group, broker="east", at=1, dead=[[now_ms(), 98_187_655, 98_187_654]])
    page = client.get(f"/groups/{group.pk}/pauses/").content.decode()
    assert "messages given up so far" in page
    assert "98187654" in page

    Flow.objects.create(group=group, broker="west", at=1)
    page = client.get(f"/groups/{group.pk}/pauses/").content.decode()
    assert "west did not tell its dead letters" in page
    assert "messages given up so far" not in page


def test_a_group_without_rounds_says_what_to_do(client: Client, group: Group) -> None:
    page = client.get(f"/groups/{group.pk}/pauses/?window=30d").content.decode()

    assert "let a member join" in page
    assert 'aria-current="true">30d' in page.replace("\n", "")


def test_of_a_broadcasting_group_no_broker_knows_the_lag_and_why_is_said(client: Client, group: Group) -> None:
    Group.objects.filter(pk=group.pk).update(model="BROADCASTING")
    page = client.get(f"/groups/{group.pk}/pauses/").content.decode()
    assert page.count("each member keeps its offsets itself, so that no broker knows") == 2
    assert "No broker has told offsets" not in page and 'data-chart="lag"' not in page


def test_where_no_queue_stood_still_words_stand_instead_of_an_empty_chart(client: Client, group: Group) -> None:
    row = add_round(group, 1, now_ms() - 60_000)
    page = client.get(f"/groups/{group.pk}/pauses/").content.decode()
    assert "No handoff is told of this time." in page
    assert 'data-chart="queues"' not in page

    handoff = add_handoff(row, 0, **pulled(row, 0, 0))
    page = client.get(f"/groups/{group.pk}/pauses/").content.decode()
    assert "No queue that was handed over in this time stood still" in page
    assert 'data-chart="queues"' not in page

    handoff.pause_high = 5
    handoff.save()
    assert 'data-chart="queues"' in client.get(f"/groups/{group.pk}/pauses/").content.decode()


def test_where_no_lag_is_known_of_any_time_words_stand_instead_of_an_empty_chart(
    client: Client, group: Group, monkeypatch: pytest.MonkeyPatch
) -> None:
    def known(*points: tuple[int, int | None]) -> str:
        over_time = LagOverTime(points, (), is_whole=True)
        monkeypatch.setattr(views, "lag_over", lambda **_: over_time)
        return client.get(f"/groups/{group.pk}/pauses/").content.decode()

    assert "No broker has told offsets of this group in this time" in known((now_ms() - 9_000, None))
    assert 'data-chart="lag"' in known((now_ms() - 9_000, 0))
