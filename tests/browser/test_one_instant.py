"""What a live page says together is of one instant, also while the parts that the server renders are on their way."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from dashboard.groups.models import Group
from tests.browser.elsewhere import told
from tests.dashboard.story import held

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]
Turn = Callable[[int], Group]


def test_what_was_found_does_not_stand_beside_a_newer_state_in_which_it_is_over(turn: Turn, page: Page) -> None:
    for at in (5_000, 30_000):
        told(held("A", at, [0]), held("B", at, [2, 3]))
        group = turn(at + 100)
    page.goto(f"/groups/{group.pk}/")
    expect(page.locator("[data-part=faults] .finding")).to_contain_text("No member consumes")
    expect(page.locator("#as-of .pill")).to_have_text("Live")
    page.route("**part=side**", lambda route: route.fulfill(body=""))  # what is beside the map comes later

    told(held("A", 35_000, [0, 1]))
    turn(35_100)

    expect(page.locator("#figures")).to_contain_text("held as wanted")
    expect(page.locator("[data-part=faults] .finding")).to_have_count(0)
