from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from playwright.sync_api import Page, Route, expect

from tests.browser.elsewhere import told
from tests.browser.test_group import open_group
from tests.dashboard.story import held, route

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


def test_tiles_are_told_by_row_and_of_a_cell_nothing_is_said_after_escape(
    turn: Callable[[int], None], page: Page
) -> None:
    told(route(1_000, 30_000), held("A", 31_000, range(500)), held("B", 31_000, range(500, 1_000)))
    turn(31_100)
    open_group(page)
    says = page.locator("#says")
    asked: list[Route] = []

    page.keyboard.press("ArrowRight")
    expect(says).to_contain_text("400 queues from here on.")
    page.keyboard.press("ArrowDown")
    expect(says).to_contain_text("A: 400 of them.")
    page.keyboard.press("ArrowDown")
    expect(says).to_contain_text("B: 0 of them.")

    owners = re.compile(r"/queue\?")
    page.route(owners, lambda each: asked.append(each))  # noqa: PLW0108 - a bound method of a list cannot be one
    page.keyboard.press("Enter")
    expect(page.locator(".map .cells")).to_be_visible()
    with page.expect_request(owners):
        page.keyboard.press("ArrowRight")
    page.keyboard.press("Escape")
    expect(says).to_have_text("Point at a tile, or use the arrow keys.")
    with page.expect_response(owners) as answer:
        asked[0].continue_()
    answer.value.finished()
    page.evaluate("new Promise((done) => setTimeout(done))")
    expect(says).to_have_text("Point at a tile, or use the arrow keys.")
