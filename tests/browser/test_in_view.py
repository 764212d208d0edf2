"""What is told stays in view, and is not torn apart."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from playwright.sync_api import Page, Route, expect

from dashboard.groups.models import Group
from tests.browser.elsewhere import told
from tests.browser.test_group import open_group
from tests.dashboard.story import held, seen

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]
Turn = Callable[[int], Group]
ORDER = (
    '<ul><li><span class="what">kill a consumer <bdi class="id">10.0.0.1@check-out-service-17</bdi></span>'
    '<span class="became">done</span><span class="dim">by vera</span></li></ul>'
)


def test_the_sentence_of_a_map_that_is_taller_than_the_window_stays_in_view(turn: Turn, page: Page) -> None:
    others = [f"member-{number}" for number in range(40)]
    told(*(fact for each in others for fact in [*seen(each), held(each, 15, [])]))
    turn(30)
    page.set_viewport_size({"width": 1440, "height": 500})
    open_group(page)
    assert (
        page.locator("#says").evaluate("says => getComputedStyle(says).position") == "static"
    )  # that is about no cell
    page.locator("#map").evaluate("map => scrollTo(0, map.getBoundingClientRect().top + scrollY - 300)")

    page.keyboard.press("ArrowRight")

    says = page.locator("#says")
    expect(says).to_contain_text("orders/east/0")
    box, room = says.bounding_box(), page.locator("#map").bounding_box()
    assert box is not None and room is not None
    assert room["y"] + room["height"] > 500 >= box["y"] + box["height"]
    assert says.evaluate("says => getComputedStyle(says).backgroundColor") != "rgba(0, 0, 0, 0)"


def test_both_owners_of_a_queue_are_named_in_owners_over_time(turn: Turn, page: Page) -> None:
    turn(30)

    def answer(route: Route) -> None:
        told = route.fetch().json()
        now, first = told["until"], told["queues"][0]
        took = [now - 200_000, now - 100_000]
        first |= {"bars": [[0, took[0], None, None], [1, took[1], None, None]], "two": [[took[1], now]]}
        route.fulfill(json=told)

    page.route(re.compile(r"/owners\?"), answer)
    page.goto(f"/groups/{Group.objects.get(name='g').pk}/?window=10m")

    page.get_by_text("Owners as a table").click()

    rows = page.locator('[data-is="owners-table"] tbody tr', has_text="two owners")
    expect(rows).to_have_count(1)
    expect(rows).to_contain_text("two owners: A, B")
    expect(page.locator(".owners .owner-two title")).to_have_text(re.compile("^two owners: A, B: "))
    expect(page.locator(".owners .of-two")).to_have_text("A + B")


def test_an_id_in_orders_goes_to_the_next_line_whole(turn: Turn, page: Page) -> None:
    turn(30)
    open_group(page)

    page.locator("#orders").evaluate("(orders, html) => { orders.innerHTML = html; }", ORDER)

    assert page.locator("#orders .id").evaluate("id => id.offsetHeight < 24")


def test_links_to_files_stand_in_one_line_at_any_width(turn: Turn, page: Page) -> None:
    group = turn(30)
    page.goto(f"/groups/{group.pk}/plan/?remove=B")
    links = page.locator(".as-files")
    expect(links.first).to_be_visible()

    for width in range(380, 480, 10):
        page.set_viewport_size({"width": width, "height": 844})
        tops = links.evaluate_all(
            "every => every.map(each => new Set([...each.children].map(a => a.getBoundingClientRect().top)).size)"
        )
        assert set(tops) == {1}, f"at {width} px"


def test_a_count_of_the_overview_is_never_broken_within_a_number(turn: Turn, page: Page) -> None:
    turn(30)
    page.goto("/")
    cell = page.locator('#groups li[data-id] [data-cell="twice"]')
    expect(cell).to_have_count(1)

    cell.evaluate('cell => { cell.innerHTML = \'<span class="fig" data-mark="bound">≥&nbsp;123456</span>\'; }')

    lines = "fig => { const r = document.createRange(); r.selectNodeContents(fig); return r.getClientRects().length; }"
    for width in (1440, 1200, 920):
        page.set_viewport_size({"width": width, "height": 900})
        assert cell.locator(".fig").evaluate(lines) == 1, f"at {width} px"
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
