"""The languages in a browser: one is chosen on the page, and its scripts and what is pushed say the same words."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from dashboard.groups.models import Group
from tests.browser.elsewhere import told
from tests.dashboard.languages import catalogues, compiled
from tests.dashboard.story import held, joined, subscribes

__all__ = ["catalogues", "compiled"]

pytestmark = [
    pytest.mark.browser,
    pytest.mark.django_db(transaction=True),
    pytest.mark.usefixtures("catalogues"),
]
CLIPPED = """() => [...document.querySelectorAll('button, .button, th, dt, .pill, .legend li, nav a')]
    .filter((each) => each.scrollWidth > each.clientWidth + 1 && getComputedStyle(each).overflow !== 'visible')
    .map((each) => each.textContent.trim())"""


def read_chinese(page: Page) -> None:
    page.get_by_role("button", name="简体中文").click()
    expect(page.locator("html")).to_have_attribute("lang", "zh-hans")


def test_a_chosen_language_stays_and_so_does_the_page(page: Page, turn: Callable[[int], Group]) -> None:
    group = turn(10_000)
    page.goto(f"/groups/{group.pk}/?window=10m")
    page.locator("#map [role=application], #map [tabindex]").first.focus()
    page.keyboard.press("ArrowRight")
    expect(page.locator("#says")).to_contain_text("as wanted")
    expect(page).to_have_url(re.compile("queue="))
    address = page.url

    read_chinese(page)

    assert page.url == address
    expect(page.locator("#says")).to_contain_text("与目标一致")
    expect(page.locator("#as-of [data-is=mode]")).to_have_text("实时")
    page.get_by_role("button", name="English").click()
    expect(page.locator("html")).to_have_attribute("lang", "en")
    assert page.url == address


def test_what_is_pushed_is_said_in_the_language_of_the_page(page: Page, turn: Callable[[int], Group]) -> None:
    turn(10_000)
    page.goto("/")
    read_chinese(page)
    row = page.locator("[data-id]").filter(has_text="shop").first
    expect(row).to_contain_text("2 个成员, 4 个队列")

    told(joined("C", 20_000), subscribes("C", 20_000))
    told(held("A", 20_100, [0, 1]), held("B", 20_100, [2, 3]), held("C", 20_100, []))
    turn(20_200)

    expect(row).to_contain_text("成员加入 C")
    expect(row).to_contain_text("3 个成员")


def test_no_word_is_clipped_and_no_page_is_wider_than_the_window(page: Page, turn: Callable[[int], Group]) -> None:
    group = turn(10_000)
    page.set_viewport_size({"width": 1280, "height": 860})
    page.goto("/")
    read_chinese(page)

    about = f"/groups/{group.pk}"
    for address in ("/", f"{about}/", f"{about}/rounds/", f"{about}/plan/", f"{about}/pauses/", "/producers/", "/api/"):
        page.goto(address)
        expect(page.locator("h1")).to_be_visible()
        assert page.evaluate(CLIPPED) == [], address
        assert page.evaluate("document.documentElement.scrollWidth - innerWidth") <= 0, address
