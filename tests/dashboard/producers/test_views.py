from __future__ import annotations

import pytest
from django.test import Client

from dashboard.clusters.models import Cluster
from dashboard.common.clock import now_ms
from dashboard.people.models import Grant
from dashboard.people.roles import Role
from tests.dashboard.persons import person
from tests.dashboard.producers.conftest import Teller, both, stock
from tests.dashboard.story import told


@pytest.fixture
def viewer(client: Client, cluster: Cluster) -> Client:
    assert cluster.pk
    client.force_login(person(Role.VIEWER))
    return client


def test_without_reports_everything_is_unknown_and_says_what_to_do(viewer: Client, cluster: Cluster) -> None:
    assert "No producer is known to any broker" in viewer.get("/producers/").content.decode()

    stock(cluster, "S")

    page = viewer.get("/producers/").content.decode()
    assert "Stock producers tell nobody" in page and "--report URL" in page
    assert "reports nothing" in page and 'data-mark="unknown"' in page
    assert "What it would pick" not in page


def test_a_producer_that_reports_is_shown_with_steps_history_and_picks(viewer: Client) -> None:
    p = Teller(now_ms() - 2_000, "P<b>")
    told(both(), p.sent(0, 6), p.sent(10, 7, "west"), p.backs_off(100, 10_000))

    page = viewer.get("/producers/", {"cluster": "shop", "client": "P<b>"}).content.decode()

    assert "P&lt;b&gt; leaves east alone" in page and "<b>\n" not in page.replace("<b>", "x")
    assert "stage 6 of 7" in page
    assert "which is assumed" in page
    assert "4 of the next 4" in page
    assert "it is left alone" in page


def test_who_may_see_some_groups_sees_no_producer(viewer: Client) -> None:
    told(Teller(now_ms() - 2_000).sent(0, 6))
    Grant.objects.update(groups="orders-*")

    assert "P" not in viewer.get("/api/v1/producers").json()["rows"]
    assert "No producer reports" in viewer.get("/producers/").content.decode()
