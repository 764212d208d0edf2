"""Every key of the sheet, pressed in a real browser: what it does, and what it leaves alone."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from dashboard.groups.models import Group
from dashboard.people.models import Grant
from tests.browser.elsewhere import told
from tests.dashboard.story import T0, held, joined, left, seen

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]
Turn = Callable[[int], Group]
HERE = Path(__file__).parent
NAMES = {
    "⇧←": "Shift+ArrowLeft",
    "⇧→": "Shift+ArrowRight",
    "←": "ArrowLeft",
    "↑": "ArrowUp",
    "↓": "ArrowDown",
    "→": "ArrowRight",
    "Esc": "Escape",
}


@pytest.fixture
def group(turn: Turn) -> Group:
    """C joined at 5 s and had its share at 6 s; A left at 60 s, and B had its queues at 62 s: two rounds."""
    for facts in (
        [joined("C", 5_000), *seen("C", 5_000)],
        [held("A", 6_000, [0, 1]), held("B", 6_000, [2]), held("C", 6_000, [3])],
        [left("A", 60_000)],
        [held("B", 62_000, [0, 1, 2]), held("C", 62_000, [3])],
    ):
        told(*facts)
        turn(facts[0].at - T0)
    return Group.objects.get()


def open_page(page: Page, address: str) -> None:
    """Go there; keys are heard from when its modules are."""
    page.goto(address)
    page.wait_for_load_state("load")


def current(page: Page) -> str:
    """Give the link of the row that keys have chosen, which has the focus."""
    row = page.locator("[data-current]")
    expect(row).to_have_count(1)
    expect(row.locator("a").first).to_be_focused()
    return row.locator("a").first.inner_text()


def test_each_key_of_the_sheet_is_pressed_by_a_test(page: Page) -> None:
    sources = "".join(path.read_text() for path in HERE.glob("test_*.py"))
    pressed = set(re.findall(r'keyboard\.press\("([^"]+)"\)', sources))

    open_page(page, "/")
    page.keyboard.press("?")
    promised = {NAMES.get(key, key) for key in page.get_by_role("dialog").locator("kbd").all_inner_texts()}

    assert len(promised) == 22
    assert promised <= pressed


def test_j_and_k_walk_the_rows_and_stop_at_their_ends(page: Page, group: Group) -> None:
    open_page(page, f"/groups/{group.pk}/rounds/")

    page.keyboard.press("j")
    assert current(page) == "2"
    page.keyboard.press("j")
    page.keyboard.press("j")
    assert current(page) == "1"
    page.keyboard.press("k")
    assert current(page) == "2"
    page.keyboard.press("k")
    assert current(page) == "2"
    page.keyboard.press("Enter")
    page.wait_for_url(f"**/groups/{group.pk}/rounds/2/")


def test_a_slash_searches_from_anywhere_and_what_is_typed_there_is_no_key(page: Page, group: Group) -> None:
    open_page(page, f"/groups/{group.pk}/?theme=light")

    page.keyboard.press("/")

    page.wait_for_url("**/#search")
    field = page.get_by_label("Search groups")
    expect(field).to_be_focused()
    page.keyboard.type("t?/")
    expect(field).to_have_value("t?/")
    expect(page.get_by_role("dialog")).not_to_be_visible()
    assert page.evaluate("document.documentElement.dataset.theme") != "dark"
    page.keyboard.press("Escape")
    expect(field).not_to_be_focused()
    page.keyboard.press("t")
    assert page.evaluate("document.documentElement.dataset.theme") == "dark"


def test_a_slash_searches_where_there_is_something_to_search(page: Page, group: Group) -> None:
    del group
    open_page(page, "/findings/")

    page.keyboard.press("/")

    expect(page.locator("[data-focus=search]")).to_be_focused()
    assert page.url.endswith("/findings/")


def test_from_live_shift_and_an_arrow_lead_to_the_last_change_and_forward_again(page: Page, group: Group) -> None:
    open_page(page, f"/groups/{group.pk}/")

    page.keyboard.press("Shift+ArrowLeft")
    expect(page).to_have_url(re.compile(rf"[?&]at={T0 + 62_000}\b"))
    page.wait_for_load_state("load")
    page.keyboard.press("Shift+ArrowLeft")
    expect(page).to_have_url(re.compile(rf"[?&]at={T0 + 60_000}\b"))
    page.wait_for_load_state("load")
    page.keyboard.press("Shift+ArrowRight")
    expect(page).to_have_url(re.compile(rf"[?&]at={T0 + 62_000}\b"))


def test_brackets_lead_from_round_to_round_in_the_past_too(page: Page, group: Group) -> None:
    open_page(page, f"/groups/{group.pk}/?at={T0 + 30_000}")

    page.keyboard.press("]")
    expect(page).to_have_url(re.compile(rf"[?&]at={T0 + 60_000}\b"))
    expect(page.locator("#as-of")).to_contain_text("during round 2: member left")
    page.wait_for_load_state("load")
    page.keyboard.press("[")
    expect(page).to_have_url(re.compile(rf"[?&]at={T0 + 5_000}\b"))
    page.wait_for_load_state("load")
    page.keyboard.press("o")
    page.wait_for_url(f"**/groups/{group.pk}/rounds/1/")


def test_arrows_move_the_crosshair_in_all_four_directions(page: Page, group: Group) -> None:
    open_page(page, f"/groups/{group.pk}/")
    says = page.locator("#says")

    page.keyboard.press("ArrowRight")
    expect(says).to_contain_text("orders/east/0")
    expect(says).to_contain_text("Row B: holds it.")
    page.keyboard.press("ArrowDown")
    expect(says).to_contain_text("Row C:")
    page.keyboard.press("ArrowRight")
    expect(says).to_contain_text("orders/east/1")
    page.keyboard.press("ArrowLeft")
    expect(says).to_contain_text("orders/east/0")
    page.keyboard.press("ArrowUp")
    expect(says).to_contain_text("Row B: holds it.")


@pytest.mark.parametrize("width", [1440, 390])
def test_v_leads_to_the_map_as_a_table_and_opens_it_on_a_phone(page: Page, group: Group, width: int) -> None:
    page.set_viewport_size({"width": width, "height": 500})
    open_page(page, f"/groups/{group.pk}/")
    table = page.locator("#map-table table").first
    expect(table).not_to_be_in_viewport()

    page.keyboard.press("v")

    expect(table).to_be_in_viewport()
    expect(table).to_contain_text("orders/east 0–2")
    expect(page.locator("#map-table")).to_be_focused()  # who hears the page goes on there


def test_u_takes_all_edits_back_and_then_nothing_more(page: Page, group: Group) -> None:
    Grant.objects.update(role="admin")
    open_page(page, f"/groups/{group.pk}/by-config/edit")
    field = page.get_by_label("As a document")
    begun = field.input_value()

    page.keyboard.press("ArrowRight")
    page.keyboard.press("Enter")
    page.keyboard.press("ArrowRight")
    page.keyboard.press("Enter")
    assert field.input_value() != begun
    for _ in range(3):
        page.keyboard.press("u")

    assert field.input_value() == begun
    field.focus()
    page.keyboard.press("End")
    page.keyboard.type("u")
    assert "u" in field.input_value()  # a letter of the document there, and no key
