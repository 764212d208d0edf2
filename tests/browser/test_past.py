"""A group's page at past instants, in a real browser: by keys and by a click, there and back."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from dashboard.groups.models import Group
from rebalance_engine.events import EXACT, ProgressSeen, QueueProgress
from tests.browser.elsewhere import told
from tests.dashboard.story import EAST, T0, held, joined, left, queue, seen

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]
Turn = Callable[[int], Group]


@pytest.fixture
def changed(turn: Turn) -> Group:
    """C joined at 5 s and had its share at 6 s; A left at 60 s, and B had its queues at 62 s."""
    for facts in (
        [joined("C", 5_000), *seen("C", 5_000)],
        [held("A", 6_000, [0, 1]), held("B", 6_000, [2]), held("C", 6_000, [3])],
        [left("A", 60_000)],
        [held("B", 62_000, [0, 1, 2]), held("C", 62_000, [3])],
    ):
        told(*facts)
        turn(facts[0].at - T0)
    return Group.objects.get()


def expect_at(page: Page, ms: int) -> None:
    expect(page).to_have_url(re.compile(rf"[?&]at={T0 + ms}\b"))
    expect(page.locator("#as-of .pill")).to_have_text("Past")
    expect(page.locator(".now-line")).to_have_count(1)


def cells(page: Page, kind: str) -> int:
    return page.locator(f'[data-cell="{kind}"]').count()


def test_keys_lead_through_the_past_and_back_to_live(changed: Group, page: Page) -> None:
    page.goto(f"/groups/{changed.pk}/")
    expect(page.locator(".names li")).to_have_count(2)

    page.keyboard.press("[")
    expect_at(page, 60_000)
    expect(page.locator("#as-of")).to_contain_text("during round 2: member left")
    expect(page.locator(".names li")).to_have_count(3)
    assert page.locator(".map .column-none").count() == 2

    page.keyboard.press("[")
    expect_at(page, 5_000)
    expect(page.locator("#as-of")).to_contain_text("during round 1: member joined")

    page.keyboard.press("Shift+ArrowRight")
    expect_at(page, 6_000)
    expect(page.locator(".names li")).to_have_count(3)
    assert (cells(page, "ok"), cells(page, "two")) == (4, 0)
    expect(page.locator("[data-part=faults]")).to_contain_text("Nothing is found wrong")

    page.keyboard.press("Shift+ArrowLeft")
    expect_at(page, 5_000)
    page.keyboard.press("]")
    expect_at(page, 60_000)
    page.keyboard.press("l")
    expect(page.locator("#as-of .pill")).not_to_have_text("Past")
    assert "at=" not in page.url


def test_a_click_into_the_time_bar_shows_that_instant(changed: Group, page: Page) -> None:
    page.goto(f"/groups/{changed.pk}/?at={T0 + 30_000}")
    expect_at(page, 30_000)
    page.keyboard.press("ArrowRight")
    expect(page.locator("#says")).to_contain_text("orders/east/0")

    page.locator(".time-bar .pick").click(position={"x": 900, "y": 60})

    expect(page).to_have_url(re.compile(r"queue=orders%2Feast%2F0"))
    expect(page).not_to_have_url(re.compile(rf"at={T0 + 30_000}\b"))
    expect(page.locator("#as-of .pill")).to_have_text("Past")


def test_how_far_each_queue_was_behind_then_stands_below_the_map(changed: Group, page: Page) -> None:
    for at, committed in ((20_000, 4), (40_000, 9)):
        queues = tuple(QueueProgress(queue=queue(n), end=9, committed=9 if n else committed) for n in range(4))
        told(ProgressSeen(at=T0 + at, source=EAST, exactness=EXACT, group="g", broker="east", queues=queues))

    page.goto(f"/groups/{changed.pk}/?at={T0 + 32_000}&queue=orders/east/0")
    expect(page.locator(".lag-foot text")).to_have_text(["5", "0", "0", "0"])
    expect(page.locator("#says")).to_contain_text("Lag 5, and nothing else was told in the 12 s after it.")

    page.goto(f"/groups/{changed.pk}/?at={T0 + 19_000}")
    expect(page.locator(".names li")).to_have_count(3)
    expect(page.locator(".lag-foot")).to_have_count(0)
