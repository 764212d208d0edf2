"""The page of producers in a browser: what runs out is counted down, and nobody is kept out."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page, expect

from dashboard.clusters.models import Cluster
from dashboard.common.clock import now_ms
from rebalance_engine.events import SendOutcome
from tests.browser.elsewhere import elsewhere, told
from tests.browser.test_access_for_all import faults_of
from tests.dashboard.producers.conftest import Teller, both, stock
from tests.dashboard.story import add_cluster

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


@pytest.fixture
def reported(transactional_db: None) -> Teller:  # noqa: ARG001 - the server reads it
    """P sends to two brokers and leaves east alone for five minutes; S reports nothing."""
    p = Teller(now_ms() - 50_000)
    elsewhere(lambda: stock(add_cluster(), "S"))
    sends = [p.sent(at * 1_000, 4 + at * 7 % 30, broker) for at in range(40) for broker in ("east", "west")]
    told(both(), *sends, p.sent(41_000, 900, outcome=SendOutcome.REMOTING_ERROR), p.backs_off(41_900, 300_000))
    return p


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_the_page_keeps_nobody_out(page: Page, reported: Teller, theme: str) -> None:
    assert reported.client == "P"
    page.goto(f"/producers/?theme={theme}")

    expect(page.get_by_role("heading", name="History of P")).to_be_visible()
    assert page.locator(".sent .send").count() > 80
    assert faults_of(page) == []


def test_what_runs_out_is_counted_down(page: Page, reported: Teller) -> None:
    assert reported.client == "P"
    page.goto("/producers/")
    left = page.locator("td [data-until]").first

    expect(left).to_contain_text("min")
    before = left.inner_text()

    expect(left).not_to_have_text(before)


def test_what_is_told_later_appears_by_itself(page: Page, reported: Teller) -> None:
    page.goto("/producers/")
    expect(page.get_by_text("P leaves east alone")).to_be_visible()

    told(Teller(now_ms(), "Q").backs_off(0, 300_000, "west"))

    expect(page.get_by_text("Q leaves west alone")).to_be_visible()
    assert Cluster.objects.count() == 1
    assert reported.client == "P"
