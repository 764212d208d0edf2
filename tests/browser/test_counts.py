"""What the overview counts follows what its rows say."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from dashboard.groups.models import Group
from tests.browser.elsewhere import told
from tests.dashboard.story import joined

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]
Turn = Callable[[int], Group]


def test_a_group_of_which_a_newer_change_is_being_computed_is_counted_as_unknown(turn: Turn, page: Page) -> None:
    turn(30)
    page.goto("/")
    unknown = page.locator("[data-found=filters] a", has_text="Unknown")
    expect(unknown).to_have_text("Unknown 0")

    told(joined("C", 40, low=35))

    expect(page.locator("#groups li[data-id] [data-is=state]")).to_have_text("a newer change is being computed")
    expect(unknown).to_have_text("Unknown 1")
