"""Groups, topics, brokers and clients with names that want to pose as others, on every page and in every message."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace

import pytest
from playwright.sync_api import Page, expect

from dashboard.clusters.models import Cluster
from dashboard.common.clock import now_ms
from dashboard.groups.models import Group
from rebalance_engine.events import Fact
from tests.browser.elsewhere import rebalanced, told
from tests.dashboard.story import add_cluster, held, joined, left, queue, route, seen, subscribes

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

TURNED = "x\u202e1-gnillib@1.0.0.721"
UNSEEN = "10.0.0.1@a\u200bb"
ARABIC = "10.0.0.1@\u0627\u0644\u0639\u0631\u0628\u064a\u0629#7"
LONG = "10.0.0.1@" + "y" * 980 + "#the-end"
MARKUP = "<img src=x onerror=alert(1)>\"'@1"
GROUP = "orders\u202e\u2066<b>\u200b"
TOPIC = "pay\u202ements\u200d"
BROKER = "ea\u2067st"
WRITTEN_OUT = re.compile(r"⟨U\+[0-9A-F]{4,6}⟩")
# what turns a line, or is not seen; FSI and PDI are our own
HARMFUL = (
    """(text) => (text.match(/[\\u200b-\\u200f\\u202a-\\u202e\\u2066\\u2067\\u0000-\\u0008\\ufeff]/g) ?? []).length"""
)
ALL_TEXT = f"""() => {{
  const harmful = {HARMFUL};
  const shown = [document.title, document.body.innerText];
  for (const element of document.querySelectorAll("*")) {{
    if (element.tagName === "SCRIPT") continue;
    for (const name of ["title", "aria-label", "placeholder", "value"]) shown.push(element.getAttribute(name) ?? "");
    if (element.tagName === "title" || element.tagName === "text") shown.push(element.textContent);
  }}
  return shown.filter((text) => harmful(text));
}}"""

LEFT_OF = """(id) => {
  const at = (text) => {
    const walker = document.createTreeWalker(id, NodeFilter.SHOW_TEXT);
    for (let node = walker.nextNode(); node; node = walker.nextNode()) {
      const start = node.data.indexOf(text);
      if (start < 0) continue;
      const range = document.createRange();
      range.setStart(node, start);
      range.setEnd(node, start + 1);
      return range.getBoundingClientRect().left;
    }
    throw new Error(`no ${text}`);
  };
  return ["10.0.0.1@", "\\u0627", "#7"].map((text) => [text, at(text)]);
}"""


@pytest.fixture
def turn(server: str) -> Callable[[int], Group]:  # noqa: ARG001 - whoever looks is there first
    add_cluster()
    Cluster.objects.update(watched_at=now_ms())
    clients = [TURNED, UNSEEN, ARABIC, LONG, MARKUP]
    told(
        route(8, topic=TOPIC, broker=BROKER),
        *(fact for client in clients for fact in hostile(client, 0)),
        *(held_of(client, 10, [number]) for number, client in enumerate(clients)),
    )
    rebalanced(GROUP, 20)
    return lambda at: rebalanced(GROUP, at)


def hostile(client: str, at: int) -> list[Fact]:
    return [*seen(client, at, group=GROUP), subscribes(client, at, TOPIC, group=GROUP)]


def held_of(client: str, at: int, numbers: list[int]) -> Fact:
    return replace(held(client, at, [], group=GROUP), queues=tuple(queue(each, TOPIC, BROKER) for each in numbers))


def test_no_page_shows_what_turns_or_hides(turn: Callable[[int], Group], page: Page) -> None:
    group = turn(30)
    page.goto(f"/groups/{group.pk}/")
    expect(page.locator("#as-of .pill")).not_to_have_text("Not live yet")

    told(joined("z\u202eZ", 5_000, GROUP, low=4_000), held_of("z\u202eZ", 5_100, []), left(UNSEEN, 5_100, group=GROUP))
    turn(5_200)
    expect(page.locator(".names")).to_contain_text("z⟨U+202E⟩Z")
    told(held_of("z\u202eZ", 6_000, [0, 1]))
    turn(6_100)
    expect(page.locator("[data-part=faults]")).to_contain_text("⟨U+202E⟩")
    page.locator("details").evaluate_all("all => all.forEach(each => (each.open = true))")
    for _ in range(9):
        page.keyboard.press("ArrowRight")
        page.keyboard.press("ArrowDown")
        assert page.evaluate(ALL_TEXT) == []
    expect(page.locator("#says")).to_contain_text("pay⟨U+202E⟩ments⟨U+200D⟩/ea⟨U+2067⟩st/")
    assert "orders⟨U+202E⟩⟨U+2066⟩<b>⟨U+200B⟩" in page.title()
    assert page.locator("main img").count() == 0

    for address in ["/", f"/groups/{group.pk}/rounds/", f"/groups/{group.pk}/rounds/1/"]:
        page.goto(address)
        expect(page.locator("main")).to_contain_text(WRITTEN_OUT)
        assert page.evaluate(ALL_TEXT) == [], address
        assert page.evaluate("document.documentElement.scrollWidth") <= 1440, address


def test_a_long_name_is_cut_in_the_middle_and_opens_to_the_whole(turn: Callable[[int], Group], page: Page) -> None:
    group = turn(30)
    page.goto(f"/groups/{group.pk}/")
    row = page.locator(".names li").filter(has_text="…")

    expect(row.locator(".id")).to_have_text(re.compile(r"^10\.0\.0\.1@y+….+$"))
    whole = row.locator(".id").get_attribute("title") or ""
    assert len(whole) > 390
    cut = page.locator("[data-part=members] details.whole").first
    expect(cut.locator("> bdi")).to_be_hidden()
    cut.locator("summary").click()
    expect(cut.locator("> bdi")).to_have_text(whole)


def test_arabic_turns_nothing_but_itself(turn: Callable[[int], Group], page: Page) -> None:
    group = turn(30)
    page.goto(f"/groups/{group.pk}/")

    left_of = page.locator(".names .id").filter(has_text="\u0627\u0644").evaluate(LEFT_OF)

    assert [text for text, _left in sorted(left_of, key=lambda each: each[1])] == ["10.0.0.1@", "\u0627", "#7"]
