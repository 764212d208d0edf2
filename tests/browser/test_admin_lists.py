"""Lists of the Django admin: rows of one list are alike in height."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from django.contrib.auth.models import User
from playwright.sync_api import Page

from dashboard.groups.models import Group
from rebalance_engine.events import Departure
from tests.browser.elsewhere import told
from tests.dashboard.story import joined, left

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


def test_rounds_are_as_tall_as_one_another(turn: Callable[[int], Group], page: Page) -> None:
    User.objects.update(is_staff=True, is_superuser=True)
    turn(30)
    told(joined("C", 5_000, low=4_000))
    turn(5_100)
    told(left("C", 9_000, Departure.HEARTBEAT_EXPIRED))
    turn(9_100)
    page.set_viewport_size({"width": 1280, "height": 900})

    page.goto("/admin/groups/round/")

    rows = page.locator("#result_list tbody tr")
    heights = rows.evaluate_all("(all) => all.map((each) => each.offsetHeight)")
    assert len(heights) >= 2
    assert max(heights) < 40, "each stands in one line"


UNTIL_NONE = """(it) => new Promise((done) => {
  const look = () => (getComputedStyle(it, "::after").opacity === "0" ? done() : requestAnimationFrame(look));
  look();
})"""


def test_a_list_that_is_wider_than_its_room_shows_that_more_follows(turn: Callable[[int], Group], page: Page) -> None:
    User.objects.update(is_staff=True, is_superuser=True)
    turn(30)
    told(joined("C", 5_000, low=4_000))
    turn(5_100)
    page.set_viewport_size({"width": 1280, "height": 900})
    page.goto("/admin/groups/round/")
    results = page.locator("#changelist .results")
    shade = "(it) => Number(getComputedStyle(it, '::after').opacity)"

    assert results.evaluate("(it) => it.scrollWidth > it.clientWidth")
    assert results.evaluate(shade) == 1
    results.evaluate("(it) => it.scrollTo(it.scrollWidth, 0)")
    results.evaluate(UNTIL_NONE)

    page.set_viewport_size({"width": 2600, "height": 900})
    assert results.evaluate(shade) == 0, "nothing follows"
