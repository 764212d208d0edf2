"""The page of pauses in a browser: charts are drawn under the site's own policy, and lead to rounds."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page, expect

from dashboard.common.clock import now_ms
from dashboard.groups.models import Group, LagStep, Round, RoundCause
from dashboard.groups.models.lag import STEP_MS
from tests.browser.test_access_for_all import faults_of
from tests.dashboard.pauses.rows import add_handoff, add_round, pulled
from tests.dashboard.story import add_cluster

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


@pytest.fixture
def group(transactional_db: None) -> Group:  # noqa: ARG001 - the server reads it
    """Three rounds: a deploy exactly known, one with bounds, one of which nobody knows the first pulls."""
    group = Group.objects.create(cluster=add_cluster(), name="billing", added_at=1, model="CLUSTERING")
    now = now_ms()
    causes = ("member joined", "member left", "heartbeat expired")
    for number, cause in enumerate(causes, 1):
        chain = {"wave": 1, "superseded_by": 2} if number == 1 else {"wave": 1} if number == 2 else {}
        there = {"members_before": ["E", "F", "G"], "members_after": ["C1", "D", "G"]} if number == 1 else {}
        at = now - 1_800_000 + number * 400_000
        row = add_round(group, number, at, cause=cause, who=f"C{number}", **chain, **there)
        for queue in range(6):
            pause = {1: pulled(row, 1_500, 1_500), 2: pulled(row, 900 + 200 * queue, 2_400 + 300 * queue)}.get(
                number, {}
            )
            add_handoff(row, queue, **pause)
    known = {"at": now - 1_400_000, "observed_at": now, "origin": "admin answer", "evidence": "a deploy"}
    first = Round.objects.get(number=1)
    for who, cause in (("D", "member joined"), ("E", "member left"), ("F", "member left")):
        RoundCause.objects.create(group=group, round=first, cause=cause, client_id=who, **known)
    begin = now // STEP_MS * STEP_MS
    for ago, lag in ((150, 3), (90, 420), (80, 60), (60, None), (40, 0), (12, 75)):
        at = begin - ago * STEP_MS
        LagStep.objects.create(
            group=group, broker="east", began_at=at, at=at, most=lag, lag=lag, worst_queue="orders/1"
        )
    return group


def open_page(page: Page, group: Group, theme: str = "light") -> None:
    page.goto(f"/groups/{group.pk}/pauses/?window=1h&theme={theme}")
    expect(page.locator("[data-chart] .main-svg").first).to_be_visible()
    expect(page.locator("[data-chart=queues] .barlayer .point").first).to_be_attached()


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_charts_are_drawn_in_both_themes_and_keep_nobody_out(page: Page, group: Group, theme: str) -> None:
    open_page(page, group, theme)

    assert page.locator("[data-chart=spikes] .scatterlayer .point").count() == 3
    assert page.locator("[data-chart=deploys] .barlayer .point").count() >= 1
    assert page.locator("[data-chart=lag] .scatterlayer .js-line").count() >= 1
    assert page.locator("[data-chart=lag] .scatterlayer .point").count() == 3
    assert faults_of(page) == []


def test_a_round_is_chosen_by_arrows_and_opened_by_enter(page: Page, group: Group) -> None:
    open_page(page, group)

    says = page.locator("[data-chart=spikes] + [data-says]")
    expect(says).to_contain_text("Arrow keys choose a round")
    page.locator("[data-chart=spikes]").focus()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowRight")
    expect(says).to_contain_text("Round 2, member left: C2")
    page.keyboard.press("Escape")
    expect(says).to_contain_text("Arrow keys choose a round")
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowRight")
    page.keyboard.press("Enter")

    page.wait_for_url(f"**/groups/{group.pk}/rounds/2/")


@pytest.mark.parametrize("chart", ["spikes", "queues", "deploys"])
def test_a_click_leads_to_the_round(page: Page, group: Group, chart: str) -> None:
    open_page(page, group)
    mark = page.locator(f"[data-chart={chart}] :is(.scatterlayer, .barlayer) .point").first
    mark.scroll_into_view_if_needed()
    box = mark.bounding_box()
    assert box is not None

    page.mouse.move(box["x"] + box["width"] / 2 - 1, box["y"] + box["height"] / 2)
    page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    page.mouse.click(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)

    page.wait_for_url(f"**/groups/{group.pk}/rounds/*/")


def test_a_chart_fills_its_place_after_the_window_changed(page: Page, group: Group) -> None:
    open_page(page, group)
    page.set_viewport_size({"width": 800, "height": 700})
    narrow = page.locator("[data-chart=lag] .main-svg").first

    page.wait_for_function(
        "svg => Math.abs(svg.clientWidth - svg.closest('[data-chart]').clientWidth) < 2", arg=narrow.element_handle()
    )
    heights = narrow.evaluate("svg => [svg.clientHeight, svg.closest('[data-chart]').clientHeight]")
    assert abs(heights[0] - heights[1]) < 2
    assert heights[0] == 220


def test_no_rule_of_the_map_takes_hold_of_what_a_chart_draws(page: Page, group: Group) -> None:
    open_page(page, group)

    drawn = page.locator(".chart .trace").evaluate_all(
        "(all) => all.map((each) => [getComputedStyle(each).animationName, getComputedStyle(each).stroke])"
    )

    assert drawn and {tuple(each) for each in drawn} == {("none", "none")}, "it would fade, and its signs be outlined"
