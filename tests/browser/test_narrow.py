"""Pages of many queues in windows of several widths: nothing covers anything, and no page scrolls sideways."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from django.contrib.auth.models import User
from playwright.sync_api import Page, expect

from dashboard.audit.operations import append
from dashboard.clusters.models import Cluster, Command
from dashboard.common.clock import now_ms
from dashboard.groups.models import Group, Round
from dashboard.people.models import Grant
from rebalance_engine.events import Departure
from tests.browser.elsewhere import elsewhere, told
from tests.dashboard.groups.test_receipts import ordered
from tests.dashboard.story import T0, held, joined, left, route, seen

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]
Turn = Callable[[int], Group]
PAGES = (
    "/",
    "/groups/{group}/",
    "/groups/{group}/rounds/",
    "/groups/{group}/rounds/1/",
    "/groups/{group}/plan/?strategy=CONSISTENT_HASH",
    "/groups/{group}/by-config/edit",
    "/demo/{cluster}/",
    "/tokens/",
    "/audit/",
    "/nightly/",
)
IS_WHOLE = """(end) => end.scrollWidth <= end.clientWidth
    && end.getBoundingClientRect().right <= end.parentElement.getBoundingClientRect().right + 1"""
BOXES = "(row, parts) => parts.map((part) => row.querySelector(part).getBoundingClientRect().toJSON())"
LETTERS = """(front) => {
    const probe = front.parentElement.appendChild(document.createElement("i"));
    Object.assign(probe.style, { position: "absolute", width: "100ch" });
    const letter = probe.getBoundingClientRect().width / 100;
    probe.remove();
    return front.getBoundingClientRect().width / letter; }"""
RIGHT = "(name) => document.querySelector(name).getBoundingClientRect().right"


def test_every_page_fits_a_narrow_window_and_shows_its_head_and_all_tabs(turn: Turn, page: Page) -> None:
    Cluster.objects.update(is_demo=True, is_read_only=False)
    Grant.objects.update(role="admin")
    User.objects.update(is_staff=True, is_superuser=True, username="administrator")  # who has most tabs
    group = turn(30)
    told(joined("a-rather-long-host-name@4711", 5_000, low=4_000), held("a-rather-long-host-name@4711", 5_100, []))
    turn(5_200)
    for address in PAGES:
        page.goto(address.format(group=group.pk, cluster=group.cluster_id))
        for width in (1480, 1440, 1280, 1000, 800):
            page.set_viewport_size({"width": width, "height": 900})

            expect(page.locator("h1")).to_be_visible()
            assert page.evaluate("document.documentElement.scrollWidth") <= width, (address, width)
            tabs = page.locator(".top nav")
            assert tabs.evaluate("nav => nav.scrollWidth <= nav.clientWidth"), (address, width)
            for place in page.locator(".map").all():
                assert place.evaluate("map => map.scrollWidth <= map.clientWidth"), (address, width)


def test_what_is_wider_than_a_phone_says_so_and_can_be_entered_by_keys(turn: Turn, page: Page) -> None:
    group = turn(30)
    page.goto(f"/groups/{group.pk}/")
    members = page.locator("[data-part=members] .wide")
    expect(members).to_be_visible()
    assert members.get_attribute("role") is None

    page.set_viewport_size({"width": 390, "height": 844})
    page.get_by_role("button", name="Members", exact=True).click()

    expect(members).to_have_attribute("data-more", "right")
    assert members.evaluate("box => getComputedStyle(box).maskImage").startswith("linear-gradient")
    expect(page.get_by_role("region", name="Members, scrolls sideways")).to_have_attribute("tabindex", "0")
    members.focus()
    page.keyboard.press("ArrowRight")
    expect(members).to_have_attribute("data-more", "left right")
    members.evaluate("box => box.scrollTo(10_000, 0)")
    expect(members).to_have_attribute("data-more", "left")
    page.set_viewport_size({"width": 1440, "height": 900})
    expect(members).not_to_have_attribute("role", "region")


def test_ids_that_differ_at_their_ends_are_told_apart_beside_a_long_note(turn: Turn, page: Page) -> None:
    turn(30)
    name = "a-rather-long-host-name-of-one@billing-"
    told(joined(f"{name}1", 5_000, low=4_000), joined(f"{name}4", 5_000, low=4_000))
    group = turn(5_200)
    for width in (1280, 800):
        page.set_viewport_size({"width": width, "height": 900})
        page.goto(f"/groups/{group.pk}/")

        expect(page.locator(".names .seen").filter(has_text="not asked yet")).to_have_count(2)
        ends = page.locator(".names .same + .own")
        expect(ends).to_have_text(["1", "4"])
        assert all(end.evaluate(IS_WHOLE) for end in ends.all()), width
        assert page.locator(".names .same").first.evaluate("same => same.scrollWidth > same.clientWidth"), width


def test_a_note_takes_no_room_from_an_id_and_one_that_is_cut_has_no_blank_in_it(turn: Turn, page: Page) -> None:
    turn(30)
    name = "127.0.0.1@billing"
    told(*seen(f"{name}-10", 100), *seen(f"{name}-16", 100))
    turn(120)
    just_now = now_ms() - T0
    told(left(f"{name}-10", just_now, Departure.HEARTBEAT_EXPIRED))
    group = turn(just_now + 1)
    for width in (1280, 390):
        page.set_viewport_size({"width": width, "height": 900})
        page.goto(f"/groups/{group.pk}/")

        gone = page.locator(".names [data-state=left]")
        note = gone.locator(".seen")
        expect(note).to_have_attribute("title", re.compile(r"^heartbeat expired .+ ago$"))
        front, end, below = gone.evaluate(BOXES, [".front", ".own", ".seen"])
        assert end["left"] - front["right"] < 1, width
        assert front["bottom"] <= below["top"] + 1, width
        assert note.evaluate(IS_WHOLE), width
        is_cut = gone.locator(".front").evaluate("front => front.scrollWidth > front.clientWidth")
        assert is_cut == (width == 390)
        letters = gone.locator(".front").evaluate(LETTERS)
        assert abs(letters - round(letters)) < 0.15, (width, letters)


@pytest.mark.usefixtures("forgotten")
def test_what_was_ordered_and_why_is_whole_on_a_phone(turn: Turn, page: Page) -> None:
    Grant.objects.update(role="admin")
    group = turn(30)
    reason = "it looks stuck since the deploy of this morning, and nobody else can say why that should be so"
    elsewhere(lambda: ordered(group, A="changed", B="unknown"))
    Command.objects.update(reason=reason)
    elsewhere(lambda: append(at=T0, author="vera", verb="tokens.make", subject="shop", detail={"reason": reason}))
    page.set_viewport_size({"width": 390, "height": 844})
    for address in (
        "/audit/",
        f"/groups/{group.pk}/receipts/",
        f"/groups/{group.pk}/receipts/{Command.objects.get().pk}/",
    ):
        page.goto(address)

        expect(page.get_by_text(reason[:40]).first).to_be_visible()
        box = page.locator(".wide").last
        assert box.evaluate("box => box.scrollWidth <= box.clientWidth"), address


def test_the_map_of_many_queues_stays_in_its_own_box(turn: Turn, page: Page) -> None:
    told(route(9, 40), route(9, 41, broker="north"), route(9, 42, broker="west"), *seen("a-rather-long-host-name@4711"))
    group = turn(50)
    for width in (1440, 1280, 800):
        page.set_viewport_size({"width": width, "height": 900})
        page.goto(f"/groups/{group.pk}/")
        expect(page.locator(".loads li").first).to_be_attached()

        assert page.evaluate("document.documentElement.scrollWidth") <= width
        assert page.evaluate(RIGHT, "#map .map") <= page.evaluate(RIGHT, "#map") + 1
        if width > 1100:
            panel = page.locator("#picture > :last-child").bounding_box()
            assert panel is not None
            assert page.evaluate(RIGHT, "#map .map") <= panel["x"]
        links = page.locator(".top nav a")
        assert all(links.nth(number).evaluate("link => link.scrollHeight <= 46") for number in range(links.count()))


def test_a_phone_leads_to_every_page_and_can_be_read(turn: Turn, page: Page) -> None:
    Grant.objects.update(role="admin")
    User.objects.update(is_staff=True, is_superuser=True, username="administrator")
    Cluster.objects.update(is_demo=True)
    turn(30)
    told(joined("C", 5_000, low=4_000), held("C", 5_100, []), held("A", 5_100, [0, 1, 2]))
    group = turn(5_200)
    page.set_viewport_size({"width": 390, "height": 844})

    for address in (*PAGES, "/producers/", f"/groups/{{group}}/?at={T0 + 5_150}"):
        page.goto(address.format(group=group.pk, cluster=group.cluster_id))
        expect(page.locator("h1")).to_be_visible()
        assert page.evaluate("document.documentElement.scrollWidth") <= 390, address
        mark = page.locator(".top .mark").bounding_box()
        assert mark is not None and mark["y"] >= 8, (address, mark)
        tabs = page.locator(".top nav a")
        assert tabs.count() >= 6
        for tab in tabs.all():
            box = tab.bounding_box()
            assert box is not None and box["x"] >= 0 and box["x"] + box["width"] <= 390, (address, tab.inner_text())

    page.goto(f"/groups/{group.pk}/rounds/1/")
    letters = page.locator(".lanes text").first
    expect(letters).to_be_attached()
    assert letters.evaluate("text => text.getScreenCTM().a") == 1
    assert page.locator(".lanes").evaluate("lanes => lanes.scrollWidth <= lanes.clientWidth")
    assert page.locator(".lanes :is(.lane-old, .lane-new, .lane-none)").first.is_visible()


def test_on_a_phone_a_group_begins_with_its_map_and_what_comes_later_is_folded(turn: Turn, page: Page) -> None:
    turn(30)
    told(joined("a-rather-long-host-name@4711", 5_000, low=4_000), held("a-rather-long-host-name@4711", 5_100, []))
    group = turn(5_200)
    Cluster.objects.update(lease_epoch=1, lease_holder="w", lease_until=now_ms() + 3_600_000)  # else that is said first
    page.set_viewport_size({"width": 390, "height": 844})
    page.goto(f"/groups/{group.pk}/")

    expect(page.locator("#map .map")).to_be_visible()
    map_box, faults = page.locator("#map").bounding_box(), page.locator("[data-part=faults]").bounding_box()
    assert map_box is not None and faults is not None and map_box["y"] < faults["y"] and map_box["y"] < 700
    assert page.locator(".of-causes [data-rare]").count() == 6
    expect(page.locator(".of-causes [data-rare]:visible")).to_have_count(0)
    elsewhere(lambda: Round.objects.update(cause="held changed"))
    page.reload()
    expect(page.locator(".of-causes [data-rare]:visible")).to_have_text(["held changed"])
    members = page.get_by_role("button", name="Members", exact=True)
    expect(members).to_have_attribute("aria-expanded", "false")
    expect(page.locator("[data-part=members] table")).to_be_hidden()

    members.click()

    expect(page.locator("[data-part=members] table")).to_be_visible()
    told(held("A", 6_000, [0]), held("a-rather-long-host-name@4711", 6_000, [1]))
    turn(6_100)
    expect(page.locator("body")).to_have_attribute("data-seq", re.compile(r"\d"))
    expect(members).to_have_attribute("aria-expanded", "true")  # parts are replaced meanwhile
    owners = page.get_by_role("button", name="Owners over time")
    owners.click()
    assert page.locator("#owners .owners svg").evaluate("svg => svg.getBoundingClientRect().width") <= 390
    owners.click()
    page.set_viewport_size({"width": 1280, "height": 900})
    expect(members).to_have_count(0)
    expect(page.locator("#owners .owners svg")).to_have_attribute("viewBox", re.compile(r"^0 0 1[12]\d\d "))
    expect(page.locator("[data-part=rounds] table")).to_be_visible()


def test_on_a_phone_what_a_handoff_cost_covers_no_name(turn: Turn, page: Page) -> None:
    turn(30)
    told(joined("C", 5_000, low=4_000), held("C", 9_000, [0, 1, 2, 3]))
    group = turn(9_100)
    told(held("A", 70_000, []), held("B", 70_000, []))
    turn(70_100)
    page.set_viewport_size({"width": 390, "height": 844})
    page.goto(f"/groups/{group.pk}/rounds/1/")
    expect(page.locator(".lanes text.queue").first).to_be_visible()

    boxes = page.locator(".lanes g").evaluate_all(
        """lanes => lanes.map((lane) =>
            [...lane.querySelectorAll("text")].map((each) => each.getBoundingClientRect().toJSON()))"""
    )
    assert boxes
    for lane in boxes:
        for a in lane:
            for b in lane:
                apart = a["right"] <= b["left"] or b["right"] <= a["left"] or a["bottom"] <= b["top"] + 3
                assert a is b or apart or b["bottom"] <= a["top"] + 3, (a, b)


def test_on_a_phone_findings_have_the_whole_width(turn: Turn, page: Page) -> None:
    Cluster.objects.update(lease_until=0)  # nobody watches it
    turn(30)
    page.set_viewport_size({"width": 390, "height": 844})
    page.goto("/")

    says = page.locator(".finding .says").first
    expect(says).to_contain_text("Nobody is known to watch")

    assert says.evaluate("says => says.getBoundingClientRect().width") > 300


def test_rounds_of_the_overview_are_drawn_anew_where_their_column_gets_another_width(turn: Turn, page: Page) -> None:
    turn(30)
    page.add_init_script("{ const set = setInterval; setInterval = (f, ms) => (ms === 5000 ? 0 : set(f, ms)); }")
    page.goto("/")
    strip = page.locator('#groups [data-is="strip"]').first
    expect(page.locator("#as-of .pill")).not_to_have_text("Not live yet")
    width = "strip => Math.max(160, strip.clientWidth)"
    before = strip.evaluate(width)
    expect(strip).to_have_attribute("viewBox", f"0 0 {before} 46")

    page.evaluate("document.querySelector('#groups .name').style.minWidth = '500px'")

    after = strip.evaluate(width)
    assert after < before
    expect(strip).to_have_attribute("viewBox", f"0 0 {after} 46")


def test_a_finding_is_as_wide_as_a_phone_and_as_tall_as_its_words(turn: Turn, page: Page) -> None:
    told(held("B", 20_000, [3]))
    turn(20_100)
    turn(45_000)
    page.set_viewport_size({"width": 390, "height": 844})

    page.goto("/findings/")

    row = page.locator(".stacks tbody tr").first
    expect(row).to_contain_text("orders/east/2")
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    box = row.bounding_box()
    assert box is not None
    assert box["height"] < 330
    assert box["width"] > 330


@pytest.mark.parametrize("width", [390, 1100])
def test_that_nothing_of_a_cluster_ever_answered_is_said_in_full(turn: Turn, page: Page, width: int) -> None:
    del turn
    Cluster.objects.update(watched_at=None)
    page.set_viewport_size({"width": width, "height": 900})
    page.goto("/")

    age = page.locator("#groups .age").first

    expect(age).to_have_text("cluster never answered")
    assert age.evaluate("(age) => age.scrollWidth <= age.clientWidth")
    state = page.locator("#groups .state").first
    state.evaluate("(state) => { state.textContent = 'unknown whether others are members of this group'; }")
    assert state.evaluate("(state) => state.scrollWidth <= state.clientWidth")


def test_who_had_a_queue_before_the_window_has_it_since_its_begin_at_the_latest(turn: Turn, page: Page) -> None:
    page.goto(f"/groups/{turn(20).pk}/")

    page.get_by_text("Owners as a table").click()

    rows = page.locator('[data-is="owners-table"] tbody tr')
    expect(rows).to_have_count(4)
    for row in rows.all():
        expect(row.locator("td").nth(1)).to_have_text(re.compile(r"^≤ \d\d:\d\d:\d\d\.\d{3}$"))


def test_on_a_phone_the_overview_keeps_state_members_last_round_and_lag(turn: Turn, page: Page) -> None:
    page.set_viewport_size({"width": 390, "height": 844})
    told(joined("C", 5_000, low=4_000))
    turn(5_100)

    page.goto("/")

    row = page.locator("#groups > li:not(.labels)").first
    for name in ("state", "size", "round", "when"):
        expect(row.locator(f'[data-is="{name}"]')).to_be_visible()
    expect(row.locator('[data-cell="lag"]')).to_be_visible()
    boxes = row.evaluate(BOXES, [".last", ".num.lag", ".name"])
    assert boxes[0]["right"] <= boxes[1]["left"] and boxes[0]["top"] >= boxes[2]["bottom"] - 1
    for choice in page.locator(".list-tools .choice").all():
        assert choice.evaluate("(all) => all.scrollWidth <= all.clientWidth"), "no filter is cut off"


def test_on_a_phone_ways_through_time_have_words_and_operations_of_the_api_are_whole(turn: Turn, page: Page) -> None:
    page.set_viewport_size({"width": 390, "height": 844})
    group = turn(5_100)

    page.goto(f"/groups/{group.pk}/")
    ways = page.locator(".steps .button")
    assert ways.all_inner_texts() == ["Latest round", "Previous change"]
    page.goto("/producers/")
    assert ways.all_inner_texts() == ["Previous", "Next"]
    page.goto("/api/")

    assert page.locator("table.stacks").evaluate("(all) => all.scrollWidth <= all.parentElement.clientWidth")


def test_the_field_that_searches_groups_says_by_which_key_and_has_a_button(turn: Turn, page: Page) -> None:
    turn(5_100)
    page.goto("/")

    page.get_by_label("Search groups").fill("nobody")
    page.get_by_role("button", name="Search", exact=True).click()

    expect(page.get_by_text("No group fits.")).to_be_visible()
    assert "q=nobody" in page.url
    assert page.locator(".find kbd").inner_text() == "↵"
