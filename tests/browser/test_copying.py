"""Texts that are for somewhere else: a button copies each, whatever the browser lets it use, and says that it did."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from playwright.sync_api import BrowserContext, Page, expect

from dashboard.groups.models import Group

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

NO_CLIPBOARD = "Object.defineProperty(Navigator.prototype, 'clipboard', {value: undefined})"
NO_COMMAND = f"{NO_CLIPBOARD}; Document.prototype.execCommand = () => false"


def _copy(page: Page, group: Group) -> None:
    page.goto(f"/groups/{group.pk}/plan/?add=C")
    page.get_by_text("The same for a terminal").click()
    page.get_by_role("button", name="Copy").focus()
    page.keyboard.press("Enter")


@pytest.mark.parametrize("without", ["", NO_CLIPBOARD], ids=["by the clipboard", "by the older command"])
def test_a_command_for_a_terminal_is_copied_and_the_page_says_so(
    turn: Callable[[int], Group], page: Page, context: BrowserContext, without: str
) -> None:
    context.grant_permissions(["clipboard-read", "clipboard-write"])
    page.add_init_script(without)

    _copy(page, turn(30))

    expect(page.locator("[data-copying] [role=status]")).to_have_text("Copied")
    wanted = page.locator("[data-text]").text_content()
    page.get_by_text("Ask: what if").click()
    page.get_by_label("these clients join").fill("")
    page.keyboard.press("Control+V")
    assert page.get_by_label("these clients join").input_value() == wanted
    assert (wanted or "").startswith("curl -H ")


def test_what_cannot_be_copied_is_marked_and_the_page_says_so(turn: Callable[[int], Group], page: Page) -> None:
    page.add_init_script(NO_COMMAND)

    _copy(page, turn(30))

    expect(page.locator("[data-copying] [role=status]")).to_contain_text("copy it by keys")
    assert page.evaluate("getSelection().toString()").startswith("curl -H ")
