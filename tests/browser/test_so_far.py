"""What lasts grows on a live page though no step comes: since when a queue has no owner is asked for again."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from dashboard.groups.models import Group
from tests.browser.elsewhere import told
from tests.dashboard.story import held, left

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]
Turn = Callable[[int], Group]


def opened(page: Page, group: Group) -> list[str]:
    """Open a group's page under a clock that tests turn on; give what it asks for, once it has all at first."""
    page.clock.install()
    with page.expect_response(lambda answer: "/owners?" in answer.url):
        page.goto(f"/groups/{group.pk}/")
    expect(page.locator("#as-of .pill")).not_to_have_text("Not live yet")
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    return asked


def test_since_when_a_queue_has_no_owner_is_asked_for_again_and_drawn(turn: Turn, page: Page) -> None:
    told(left("B", 5_000), held("A", 5_500, [0, 1]))
    opened(page, turn(5_600))
    lanes = page.locator('[data-is="lanes"]')
    expect(lanes).to_contain_text("no owner so far")
    lanes.evaluate("host => host.replaceChildren()")

    with page.expect_response(lambda answer: "/facts?" in answer.url, timeout=20_000):
        page.clock.run_for(5_200)

    page.clock.run_for(1_000)  # what came is gathered for half a second
    expect(lanes).to_contain_text("no owner so far")


def test_a_group_at_rest_is_asked_for_once_a_minute(turn: Turn, page: Page) -> None:
    asked = opened(page, turn(100))

    for _ in range(15):  # as many times as a group of which something lasts would be asked for
        with page.expect_response(lambda answer: "/lag" in answer.url, timeout=20_000):
            page.clock.run_for(5_600)

    assert len([url for url in asked if "/facts?" in url]) <= 4
