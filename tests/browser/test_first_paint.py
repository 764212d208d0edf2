"""What a group's page shows before any script: who holds what, in the place and of the height of what scripts draw."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest
from playwright.sync_api import BrowserContext, Page, expect

from dashboard.groups.models import Group
from dashboard.people.models import Grant
from rebalance_engine.events import Fact
from tests.browser.elsewhere import told
from tests.dashboard.groups.recording.test_flow import progress
from tests.dashboard.story import held, joined, missed

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]
Turn = Callable[[int], Group]
WATCH = """() => {
    globalThis.shifts = 0;
    globalThis.watching = new PerformanceObserver((list) => count(list.getEntries()));
    const count = (all) => { for (const each of all) if (!each.hadRecentInput) shifts += each.value; };
    watching.observe({ type: "layout-shift", buffered: true });
    globalThis.shiftsByNow = () => { count(watching.takeRecords()); return shifts; };
}"""
FRAMES = "() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(done))))"
HEIGHTS = """() => ["#map", "#time-bar"].map((place) => document.querySelector(place).getBoundingClientRect().height)"""
PAGE_HEIGHT = "document.documentElement.scrollHeight"
MOST_OFF = 45  # px: a line of words that the line to the server begins to say, and lanes whose words take two lines
LOOKS = ("ok", "let", "want", "maybe", "two", "claim")


@pytest.fixture
def plain(context: BrowserContext, page: Page) -> Iterator[Page]:
    """A page of the same person in a browser that runs no scripts."""
    assert context.browser is not None
    bare = context.browser.new_context(
        base_url=page.url.removesuffix("/"), storage_state=context.storage_state(), java_script_enabled=False
    )
    yield bare.new_page()
    bare.close()


def lagging() -> list[Fact]:
    return [progress(at, 90 + at // 1_000, end=120) for at in (1_000, 12_000, 23_000)]


def of_group(turn: Turn) -> str:
    """A group in which a cell is of each kind, or nearly."""
    told(joined("C", 2_000, low=1_000), held("C", 2_100, []), held("A", 3_000, [0, 1, 2]), held("B", 3_060, [2]))
    turn(3_100)
    told(missed("C", 5_000))
    return f"/groups/{turn(5_100).pk}/"


def test_without_a_script_the_map_is_the_one_that_a_script_draws(turn: Turn, page: Page, plain: Page) -> None:
    address = of_group(turn)

    plain.goto(address)
    page.goto(address)
    expect(page.locator("#map [data-cell]").first).to_be_visible()

    expect(plain.locator("#map [data-first]")).to_be_visible()
    for look in LOOKS:
        paths = plain.locator(f"#map .cell-{look}")
        drawn = paths.first.get_attribute("d") if paths.count() else ""
        assert (drawn or "").count("M") == page.locator(f'[data-cell="{look}"]').count(), look
    assert plain.locator("#map .names .id").all_inner_texts() == page.locator("#map .names .id").all_inner_texts()
    assert plain.locator("#map .loads .fig").all_inner_texts() == page.locator("#map .loads .fig").all_inner_texts()
    signs = "#map .columns :is(.digit, .sign-unknown)"
    assert plain.locator(signs).all_text_contents() == page.locator(signs).all_text_contents()


@pytest.mark.parametrize("place", ["", "rounds/1/", "pauses/", "plan/"])
def test_without_a_script_nothing_is_offered_or_explained_that_needs_one(turn: Turn, plain: Page, place: str) -> None:
    plain.goto(of_group(turn) + place)

    expect(plain.get_by_role("link", name="Overview", exact=True)).to_be_visible()
    for offered in ("header button[type=button]", ".says-cell", "[data-is=mode]", ".chart", ".keys-of-chart"):
        for each in plain.locator(offered).all():
            expect(each).to_be_hidden()
    is_drawn = plain.locator("#map [data-first]").count() == 1
    expect(plain.locator(".legend:visible")).to_have_count(1 if is_drawn else 0)
    expect(plain.locator("main noscript p:visible").first).to_contain_text("A script draws")


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1280, 390])
def test_nothing_jumps_when_scripts_draw(turn: Turn, page: Page, plain: Page, width: int, scheme: str) -> None:
    address = of_group(turn)
    for each in (page, plain):
        each.set_viewport_size({"width": width, "height": 900})
    page.emulate_media(color_scheme="light" if scheme == "light" else "dark")
    page.add_init_script(f"({WATCH})()")

    plain.goto(address)
    page.goto(address)
    expect(page.locator("#map [data-cell]").first).to_be_visible()
    expect(page.locator("#owners text").first).to_be_attached()  # what is asked for after the first paint has come
    expect(page.locator("#as-of .pill")).not_to_have_text("Not live yet")
    page.evaluate(FRAMES)

    assert page.evaluate("shiftsByNow()") < 0.1
    boxes = [plain.locator(place).bounding_box() for place in ("#map", "#time-bar")]
    assert page.evaluate(HEIGHTS) == [box and box["height"] for box in boxes]
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    scale = plain.locator("#time-bar .band-ground").first.bounding_box()
    assert scale is not None
    assert scale["x"] + scale["width"] <= width - 16


@pytest.mark.parametrize("width", [1280, 390])
@pytest.mark.parametrize(
    "place", ["", "rounds/1/", "pauses/", "plan/?add=D", "by-config/edit?from=held", "/producers/"]
)
def test_what_scripts_draw_has_its_room_from_the_first_paint_on(turn: Turn, page: Page, width: int, place: str) -> None:
    Grant.objects.update(role="admin")
    group = of_group(turn)
    told(*lagging())
    address = place if place.startswith("/") else group + place
    page.set_viewport_size({"width": width, "height": 900})
    page.add_init_script(f"({WATCH})()")
    page.route("**/js/app*.js", lambda route: route.fulfill(body="", content_type="text/javascript"))
    page.goto(address)
    kept = page.evaluate(PAGE_HEIGHT)
    page.unroute("**/js/app*.js")

    page.goto(address)
    expect(page.locator("#map [data-cell], [data-map] [data-cell], .main-svg, #as-of .pill").first).to_be_attached()
    expect(page.locator(".room")).to_have_count(0)
    page.wait_for_load_state("networkidle")
    page.evaluate(FRAMES)

    assert page.evaluate("shiftsByNow()") < 0.02
    assert page.evaluate(PAGE_HEIGHT) == pytest.approx(kept, abs=MOST_OFF)


def test_owners_over_time_have_their_room_before_they_are_asked_for(turn: Turn, page: Page) -> None:
    address = of_group(turn)
    page.route("**/owners?*", lambda route: route.abort())

    page.goto(address)
    expect(page.locator("#map [data-cell]").first).to_be_visible()
    kept = page.locator("#owners").bounding_box()
    page.unroute("**/owners?*")
    page.goto(address)
    expect(page.locator("#owners text").first).to_be_attached()

    drawn = page.locator("#owners").bounding_box()
    assert kept is not None and drawn is not None
    assert kept["height"] == drawn["height"] > 100
