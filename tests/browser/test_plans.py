"""Dry runs and by-config assignments in a real browser: two maps, one crosshair; edits by pointer and by keys."""

from __future__ import annotations

import itertools
import json
from collections.abc import Callable

import pytest
from playwright.sync_api import Locator, Page, expect

from dashboard.groups.models import Group
from dashboard.people.models import Grant
from dashboard.plans.models import ByConfig
from tests.browser.elsewhere import told
from tests.dashboard.story import held, route

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("forgotten")]
Turn = Callable[[int], Group]


def cells(page: Page, look: str, which: str = "planned") -> Locator:
    return page.locator(f'[data-map="{which}"] [data-cell="{look}"]')


def test_a_dry_run_is_asked_by_a_form_and_shown_on_two_maps(turn: Turn, page: Page) -> None:
    page.goto(f"/groups/{turn(30).pk}/")

    page.keyboard.press("p")
    expect(page.locator("h1")).to_contain_text("Dry run")
    expect(cells(page, "ok")).to_have_count(4)
    page.get_by_label("these clients join").fill("C")
    page.get_by_label("these members leave").fill("A")
    page.get_by_role("button", name="Try it out").click()

    expect(page.locator(".head .facts")).to_contain_text("C joins")
    assert page.url.endswith("?add=C&remove=A&rename=&queues=&broker=&strategy=&params=")
    expect(cells(page, "ok", "held")).to_have_count(4)
    expect(cells(page, "gain")).to_have_count(4)  # B gets those of A, C those of B
    expect(cells(page, "gave")).to_have_count(4)
    expect(page.locator('[data-map="planned"] [data-state="left"]')).to_contain_text("A")


def test_the_crosshair_is_on_both_maps_and_says_where_a_queue_goes(turn: Turn, page: Page) -> None:
    page.goto(f"/groups/{turn(30).pk}/plan/?remove=A")

    page.keyboard.press("ArrowRight")

    expect(page.locator("#says")).to_contain_text("orders/east/0")
    expect(page.locator("#says")).to_contain_text("Goes from A to B.")
    expect(page.locator('.cursor[visibility="visible"]')).to_have_count(2)


def test_maps_stand_above_each_other_where_cells_would_be_too_narrow(turn: Turn, page: Page) -> None:
    told(route(24, 30_000), held("A", 31_000, range(12)), held("B", 31_000, range(12, 24)))
    page.set_viewport_size({"width": 1280, "height": 900})
    page.goto(f"/groups/{turn(31_100).pk}/plan/?add=a-newcomer-with-a-name")

    expect(cells(page, "ok", "held")).to_have_count(24)
    held_now, planned = (
        page.locator('[data-map="held"]').bounding_box(),
        page.locator('[data-map="planned"]').bounding_box(),
    )
    assert held_now is not None and planned is not None
    assert held_now["x"] == planned["x"] and held_now["y"] + held_now["height"] <= planned["y"]
    lefts = "all => [...new Set(all.map((each) => Math.round(each.getBoundingClientRect().x)))].sort((a, b) => a - b)"
    now, then = (page.locator(f'[data-map="{which}"] [data-cell]').evaluate_all(lefts) for which in ("held", "planned"))
    assert len(now) == 24 and now == then
    assert min(b - a for a, b in itertools.pairwise(now)) >= 20


def test_a_strategy_is_chosen_by_its_card_and_the_question_stays(turn: Turn, page: Page) -> None:
    page.goto(f"/groups/{turn(30).pk}/plan/?add=C")

    page.locator(".card[href$='strategy=AVG_BY_CIRCLE']").click()

    expect(page.locator(".card[aria-current]")).to_contain_text("AVG_BY_CIRCLE")
    assert page.url.endswith("?add=C&strategy=AVG_BY_CIRCLE")


def test_an_admin_edits_by_pointer_and_by_keys_and_takes_an_edit_back(turn: Turn, page: Page) -> None:
    group = turn(30)
    Grant.objects.update(role="admin")
    page.goto(f"/groups/{group.pk}/by-config/")
    page.keyboard.press("e")
    field = page.get_by_label("As a document")
    expect(cells(page, "ok")).to_have_count(4)

    cells(page, "ok").first.click()  # A lets orders/east/0 go
    expect(cells(page, "gave")).to_have_count(1)
    assert json.loads(field.input_value()) == {"A": ["orders/east/1"], "B": ["orders/east/2-3"]}

    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")  # and B gets it
    expect(cells(page, "gain")).to_have_count(1)
    expect(page.locator("#says")).to_contain_text("Goes from A to B.")
    assert json.loads(field.input_value())["B"] == ["orders/east/0", "orders/east/2-3"]

    page.keyboard.press("ArrowUp")
    page.keyboard.press("Enter")
    page.keyboard.press("u")
    assert json.loads(field.input_value())["B"] == ["orders/east/0", "orders/east/2-3"]

    page.get_by_label("Reason").fill("A is small")
    page.get_by_role("button", name="Keep this version").click()
    expect(page.locator("#main")).to_contain_text("Version 1 is kept.")
    row = ByConfig.objects.get()
    assert (row.version, row.author, row.reason) == (1, "vera", "A is small")


def test_a_document_that_is_typed_is_drawn(turn: Turn, page: Page) -> None:
    Grant.objects.update(role="admin")
    page.goto(f"/groups/{turn(30).pk}/by-config/edit")

    page.get_by_label("As a document").fill('{"B": ["orders/east/0-3"], "A": ["orders/east/3"]}')
    page.get_by_label("Reason").focus()

    expect(cells(page, "two")).to_have_count(2)
    page.get_by_role("button", name="Check", exact=True).click()
    expect(page.locator("#checks")).to_contain_text("1 queue is listed twice")


def test_a_large_dry_run_is_the_same_tiles_twice_which_open_into_cells(turn: Turn, page: Page) -> None:
    told(route(2_000, 30_000), held("A", 31_000, range(1_000)), held("B", 31_000, range(1_000, 2_000)))
    page.goto(f"/groups/{turn(31_100).pk}/plan/?add=C")
    tiles, says = page.locator(".tiles canvas"), page.locator("#says")
    expect(tiles).to_have_count(2)
    expect(page.get_by_text("Each tile is up to 400 queues")).to_be_visible()

    page.keyboard.press("ArrowRight")
    expect(says).to_contain_text("orders/east/0")
    page.keyboard.press("ArrowRight")
    expect(says).to_contain_text("orders/east/400")
    expect(says).to_contain_text("133 of them would get another owner.")  # of 667 A keeps, from 667 on B gets them
    assert len(set(tiles.evaluate_all("all => all.map((each) => each.width)"))) == 1

    tiles.first.hover(position={"x": 300, "y": 80})  # the map of what is held tells what would be, too
    expect(says).to_contain_text("200 of them would get another owner.")
    page.keyboard.press("Enter")
    expect(page.locator('[data-map="held"] [data-cell]')).to_have_count(400)
    assert "zoom=orders%2Feast%2F" in page.url
    page.keyboard.press("Escape")
    expect(tiles).to_have_count(2)
    assert "zoom" not in page.url
