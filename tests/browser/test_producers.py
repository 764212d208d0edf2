"""The page of producers in a browser: what runs out is counted down, and nobody is kept out."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page, expect

from dashboard.clusters.models import Canary, Cluster, ProducerBroker
from dashboard.common.clock import now_ms
from dashboard.people.models import Grant
from rebalance_engine.events import SendOutcome
from tests.browser.elsewhere import elsewhere, told
from tests.browser.test_access_for_all import faults_of
from tests.dashboard.producers.conftest import Teller, both, stock
from tests.dashboard.producers.test_canaries import sang
from tests.dashboard.story import add_cluster

ON = {"is_on": True, "reason": "producers say that it is slow", "changed_by": "ada"}
pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


@pytest.fixture
def reported(transactional_db: None) -> Teller:  # noqa: ARG001 - the server reads it
    """P sends to two brokers and leaves east alone for five minutes; S reports nothing."""
    p = Teller(now_ms() - 50_000)
    elsewhere(lambda: stock(add_cluster(), "S"))
    elsewhere(lambda: Cluster.objects.update(watched_at=now_ms() + 3_600_000))  # it answers all the while
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


def test_what_has_run_out_goes_without_waiting_for_the_next_look(page: Page, reported: Teller) -> None:
    assert reported.client == "P"
    told(Teller(now_ms(), "Q").backs_off(0, 12_000, "west"))
    page.add_init_script("{ const set = setInterval; setInterval = (f, ms) => (ms === 5000 ? 0 : set(f, ms)); }")
    page.goto("/producers/")

    expect(page.get_by_text("Q leaves west alone")).to_be_visible()
    expect(page.get_by_text("Q leaves west alone")).to_have_count(0, timeout=40_000)
    expect(page.get_by_text("P leaves east alone")).to_be_visible()


def test_brackets_lead_from_one_begin_or_end_of_a_backoff_to_the_next_and_l_leads_back(
    page: Page, reported: Teller
) -> None:
    begins_at, ends_at = reported.start + 42_500, reported.start + 43_500
    told(reported.backs_off(42_500, 1_000, "west"))
    page.goto("/producers/?client=P")
    pill = page.locator(".as-of .pill")
    expect(page.get_by_text("P leaves east alone")).to_be_visible()

    page.keyboard.press("[")
    page.wait_for_url(f"**/producers/?at={ends_at}&client=P")  # loaded: keys are heard from then on
    expect(pill).to_have_text("Past")
    page.keyboard.press("[")
    page.wait_for_url(f"**/producers/?at={begins_at}&client=P")
    expect(page.get_by_text("P leaves west alone")).to_be_visible()
    page.keyboard.press("[")
    page.wait_for_url(f"**/producers/?at={reported.start + 41_900}&client=P")
    expect(page.get_by_text("P leaves west alone")).to_have_count(0)
    page.keyboard.press("[")  # nothing is kept of before
    page.keyboard.press("]")
    page.wait_for_url(f"**/producers/?at={begins_at}&client=P")

    page.keyboard.press("l")
    page.wait_for_url("**/producers/?client=P")
    expect(pill).to_have_text("Live")


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_a_canary_keeps_nobody_out_and_what_is_typed_stays_while_the_page_is_kept_true(
    page: Page, reported: Teller, theme: str
) -> None:
    assert reported.client == "P"
    Grant.objects.update(role="admin")
    now = now_ms()
    elsewhere(lambda: Canary.objects.create(cluster=Cluster.objects.get(), **ON, changed_at=now - 60_000, told_at=now))
    told(*(sang(now - at * 5_000, 4 + at, broker) for at in range(6, 0, -1) for broker in ("east", "west")))
    page.goto(f"/producers/?theme={theme}")

    section = page.locator("#canary")
    expect(section).to_contain_text("estimated by a canary of Evenkeel's own, not by your producers")
    expect(page.locator("tr", has_text="reports nothing").locator(".estimate")).to_contain_text("~ 7 ms")
    section.get_by_text("Switch the canary off").first.click()
    reason = page.get_by_label("Reason, for the audit log")
    reason.fill("enough")
    assert faults_of(page) == []

    elsewhere(lambda: Canary.objects.update(troubles={"north": ["no topic", ""]}))
    expect(section).to_contain_text("its topic EVENKEEL_CANARY does not exist there")
    expect(reason).to_have_value("enough")


def test_what_is_told_later_appears_by_itself(page: Page, reported: Teller) -> None:
    page.goto("/producers/")
    expect(page.get_by_text("P leaves east alone")).to_be_visible()

    told(Teller(now_ms(), "Q").backs_off(0, 300_000, "west"))

    expect(page.get_by_text("Q leaves west alone")).to_be_visible()
    assert Cluster.objects.count() == 1
    assert reported.client == "P"


def test_a_silent_cluster_is_stale_and_how_producers_stand_is_unknown(page: Page, reported: Teller) -> None:
    told(reported.backs_off(-30_000, 300_000, "west"))
    page.goto("/producers/?client=P")
    pill = page.locator(".as-of .pill")
    expect(pill).to_have_text("Live")

    elsewhere(lambda: Cluster.objects.update(watched_at=now_ms() - 60_000))
    elsewhere(lambda: ProducerBroker.objects.update(observed_at=now_ms() - 60_000))

    expect(pill).to_have_text("Stale")
    expect(page.locator(".as-of")).to_contain_text("last answer 1 min")
    expect(page.get_by_text("which brokers it leaves alone now is unknown")).to_be_visible()
    expect(page.locator("table.producers")).to_contain_text("told last 1 min")
    expect(page.locator("table.producers")).not_to_contain_text("available")
    expect(page.get_by_text("what it would pick now is unknown")).to_be_visible()
    expect(page.get_by_text("P leaves east alone")).to_have_count(0)


def test_a_page_that_is_cut_off_says_so_and_counts_nothing_down(page: Page, reported: Teller) -> None:
    assert reported.client == "P"
    page.goto("/producers/")
    pill = page.locator(".as-of .pill")
    left = page.locator("td [data-until]").first
    expect(pill).to_have_text("Live")

    page.context.set_offline(True)
    expect(pill).to_have_text("Not connected")
    expect(page.locator(".as-of")).to_contain_text("nothing heard for")
    before = left.inner_text()
    said = page.locator(".as-of [data-is=age]")
    expect(said).not_to_have_text(said.inner_text())
    assert left.inner_text() == before

    page.context.set_offline(False)
    expect(pill).to_have_text("Live")


def test_on_a_phone_the_words_of_one_backoff_stand_on_those_of_no_other(page: Page, reported: Teller) -> None:
    assert reported.client == "P"
    q = Teller(now_ms() - 400_000, "Q")
    told(*(q.backs_off(at, 1_000, "west") for at in (0, 150_000, 300_000, 390_000)))
    page.set_viewport_size({"width": 390, "height": 844})
    page.goto("/producers/?client=Q")
    west = page.locator(".producer-history", has_text="west").locator(".of-band")
    expect(west.first).to_be_visible()

    assert west.count() > 1
    expect(west.locator("visible=true")).to_have_count(1)
