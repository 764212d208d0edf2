"""A group's page in a real browser: a change moves cells without a reload, and nothing is missed."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace

import pytest
from playwright.sync_api import BrowserContext, Locator, Page, expect

from dashboard.common.spans import clock
from dashboard.groups.models import Group
from rebalance_engine.events import EXACT, Departure, ProgressSeen, QueueProgress, RouteSeen
from tests.browser.elsewhere import rebalanced, told
from tests.dashboard.story import EAST, T0, held, joined, left, missed, queue, route, seen, uses

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]
Turn = Callable[[int], Group]


def cells(page: Page, kind: str) -> Locator:
    return page.locator(f'[data-cell="{kind}"]')


def open_group(page: Page) -> None:
    page.goto(f"/groups/{Group.objects.get(name='g').pk}/")
    expect(page.locator("#as-of .pill")).not_to_have_text("Not live yet")
    expect(page.locator("#as-of .pill")).not_to_have_text("Not connected")
    page.evaluate("document.body.dataset.was = 'here'")  # a reload would take it away


def was_not_reloaded(page: Page) -> bool:
    return bool(page.evaluate("document.body.dataset.was === 'here'"))


def test_a_join_moves_cells_without_a_reload(turn: Turn, page: Page) -> None:
    open_group(page)
    expect(cells(page, "ok")).to_have_count(4)

    told(joined("C", 5_000, low=4_000), held("C", 5_100, []))
    turn(5_200)
    expect(page.locator(".names li")).to_have_count(3)
    expect(cells(page, "let")).to_have_count(1)
    expect(page.locator("#figures")).to_contain_text("3 members")

    told(held("B", 6_000, [2]), held("C", 6_100, [3]))
    turn(6_200)
    expect(cells(page, "ok")).to_have_count(4)
    expect(cells(page, "let")).to_have_count(0)
    expect(page.locator("[data-part=rounds]")).to_contain_text("member joined")
    assert was_not_reloaded(page)


def test_only_the_cells_that_changed_are_painted(turn: Turn, page: Page) -> None:
    open_group(page)
    page.evaluate("for (const cell of document.querySelectorAll('[data-cell]')) cell.dataset.old = 'yes'")

    told(held("B", 6_000, [2]))
    turn(6_100)

    expect(page.locator(".column-none")).to_have_count(2)  # one of the map, one of the legend
    expect(page.locator("[data-cell][data-old]")).to_have_count(3)


def test_a_socket_that_was_cut_resumes_and_has_missed_nothing(turn: Turn, page: Page, context: BrowserContext) -> None:
    open_group(page)
    context.set_offline(True)
    page.evaluate("evenkeel.socket.cut()")
    expect(page.locator("#as-of .pill")).to_have_text("Not connected")

    for number, client in enumerate("CDE"):
        told(
            joined(client, 5_000 * number + 5_000, low=5_000 * number + 4_000), held(client, 5_000 * number + 5_100, [])
        )
        turn(5_000 * number + 5_200)
    context.set_offline(False)

    expect(page.locator(".names li")).to_have_count(5)
    expect(page.locator("#as-of .pill")).not_to_have_text("Not connected")
    assert was_not_reloaded(page)


def test_a_line_that_is_cut_is_told_before_what_fails_because_of_it_and_nobody_asks(
    turn: Turn, page: Page, context: BrowserContext
) -> None:
    told(held("A", 3_000, [0, 1, 2]), held("B", 3_060, [2, 3]))
    turn(3_100)
    open_group(page)
    filters = """() => ["#figures [data-is=state]", ".names .sign", "[data-part=round]"]
        .map((place) => document.querySelector(place).closest("[data-part], #figures, .sign"))
        .map((place) => getComputedStyle(place).filter)"""
    expect(page.locator("#as-of .pill")).not_to_have_text("Not connected")
    assert page.evaluate(filters) == ["none"] * 3
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url) if request.resource_type == "fetch" else None)

    context.set_offline(True)

    expect(page.locator("#as-of .pill")).to_have_text("Not connected")
    expect(page.locator("#as-of")).to_contain_text(re.compile(r"heard for ([6-9]|\d\d)\ss"))  # it asks every 5 s
    assert len(asked) <= 4  # what was under way
    assert page.evaluate(filters) == ["grayscale(1)"] * 3
    expect(page.locator("#figures")).to_contain_text(re.compile(r"as of \d+\ss ago"))
    context.set_offline(False)
    expect(page.locator("#as-of .pill")).not_to_have_text("Not connected")
    expect(page.locator("#figures")).not_to_contain_text("ago")
    assert page.evaluate(filters) == ["none"] * 3


def test_members_and_map_say_the_same_of_when_a_member_told_last(turn: Turn, page: Page) -> None:
    del turn
    open_group(page)
    when = page.locator('[data-part=members] [data-told="A"] time')
    expect(when).to_have_text(clock(T0 + 10))

    told(held("A", 5_000, [0, 1]))  # as before: no step comes of it, but the next beat tells it

    expect(when).to_have_text(clock(T0 + 5_000))
    expect(when).to_have_attribute("title", f"2023-11-14 {clock(T0 + 5_000)} UTC")


def test_what_is_beside_the_map_is_asked_for_again_where_the_server_could_not_be_reached(
    turn: Turn, page: Page
) -> None:
    open_group(page)
    rounds = page.locator("[data-part=rounds]")
    side = re.compile(r"[?&]part=side")
    page.route(side, lambda asked: asked.abort("internetdisconnected"))
    with page.expect_event("requestfailed", lambda request: side.search(request.url) is not None):
        told(joined("C", 5_000, low=4_000), held("C", 5_100, []))
        turn(5_200)
    expect(page.locator(".names li")).to_have_count(3)
    expect(rounds).not_to_contain_text("member joined")

    page.unroute(side)

    expect(rounds).to_contain_text("member joined")
    assert was_not_reloaded(page)


def test_orphans_double_owners_and_silence_look_different(turn: Turn, page: Page) -> None:
    open_group(page)

    told(held("A", 3_000, [0, 1, 2]))
    turn(3_050)
    expect(cells(page, "claim")).to_have_count(2)
    expect(page.locator("#figures")).to_contain_text("1 of 4 queues perhaps with two owners")

    told(held("B", 3_060, [2, 3]))
    turn(3_100)
    expect(cells(page, "two")).to_have_count(2)
    expect(page.locator("#figures")).to_contain_text("1 of 4 queues with two owners")

    told(held("A", 4_000, [0]))
    turn(4_100)
    expect(page.locator("#figures")).to_contain_text("1 of 4 queues without owner")
    expect(cells(page, "want")).to_have_count(1)

    told(missed("B", 5_000))
    turn(5_100)
    expect(cells(page, "maybe")).to_have_count(2)
    expect(page.locator(".sign-unknown")).to_have_count(3)
    expect(page.locator("#figures")).to_contain_text("1 of 2 members does not answer")


def both(at: int) -> RouteSeen:
    """Four queues on east, two on west."""
    east, west = route(4, at), route(2, at, broker="west")
    return replace(east, brokers=(*east.brokers, *west.brokers))


def test_queues_of_a_broker_that_goes_are_strays_and_the_others_keep_their_owners(turn: Turn, page: Page) -> None:
    of_west = (queue(0, broker="west"), queue(1, broker="west"))
    a, b = held("A", 1_000, [0, 1, 2]), held("B", 1_000, [3])
    told(both(900), a, replace(b, queues=(*b.queues, *of_west)))
    turn(1_100)
    open_group(page)
    expect(cells(page, "ok")).to_have_count(6)

    told(route(2, 3_000, broker="west"))
    turn(3_100)

    expect(page.locator("#map .column-stray")).to_have_count(4)
    expect(page.locator("#figures")).to_contain_text("2 queues")
    for _ in range(6):
        page.keyboard.press("ArrowRight")
    expect(page.locator("#says")).to_contain_text("orders/west/1")
    expect(page.locator("#says")).to_contain_text("Held by B")
    told(both(6_000))
    turn(6_100)
    expect(page.locator("#map .column-stray")).to_have_count(0)
    expect(page.locator("#figures")).to_contain_text("6 queues")
    expect(cells(page, "ok")).to_have_count(6)
    assert was_not_reloaded(page)


def test_a_part_that_cannot_be_drawn_keeps_no_other_old_and_the_pill_says_so(turn: Turn, page: Page) -> None:
    open_group(page)
    pill = page.locator("#as-of .pill")
    page.evaluate("() => { reportError = (error) => { document.body.dataset.error = error.message; }; }")
    page.evaluate(
        """{ const place = document.querySelector("#figures [data-is=queues]"); place.dataset.is = "lost"; }"""
    )

    told(joined("C", 5_000, low=4_000), held("C", 5_100, []))
    turn(5_200)

    expect(page.locator(".names li")).to_have_count(3)
    expect(page.locator("[data-part=rounds]")).to_contain_text("member joined")
    expect(pill).to_have_text("Behind")
    expect(page.locator("body.stale")).to_have_count(0)  # the map is not
    expect(page.locator("#as-of")).to_contain_text("not all of this page could be brought up to date")
    page.evaluate("""document.querySelector("#figures [data-is=lost]").dataset.is = "queues" """)
    told(held("B", 6_000, [2]), held("C", 6_100, [3]))
    turn(6_200)
    expect(pill).not_to_have_text("Behind")
    expect(cells(page, "ok")).to_have_count(4)


def test_who_left_stays_for_a_while_struck_through(turn: Turn, page: Page) -> None:
    open_group(page)

    told(left("B", 5_000, Departure.CONNECTION_CLOSED))
    turn(5_100)

    expect(page.locator("#figures")).to_contain_text("1 member")
    expect(page.locator("#figures")).to_contain_text("2 of 4 queues without owner")


def test_arrow_keys_move_the_crosshair_and_a_sentence_says_what_is_there(turn: Turn, page: Page) -> None:
    del turn
    open_group(page)

    page.keyboard.press("ArrowRight")
    expect(page.locator("#says")).to_contain_text("orders/east/0")
    expect(page.locator("#says")).to_contain_text("as wanted")
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowDown")

    expect(page.locator("#says")).to_contain_text("orders/east/1")
    expect(page.locator("#says")).to_contain_text("has nothing to do with it")
    expect(page).to_have_url(re.compile(r"queue=orders%2Feast%2F1"))
    page.reload()
    expect(page.locator("#says")).to_contain_text("orders/east/1")
    expect(page.locator("#says")).to_have_attribute("aria-live", "polite")


def test_what_is_as_it_was_a_second_ago_stays_in_place(turn: Turn, page: Page) -> None:
    del turn
    open_group(page)
    page.evaluate("for (const each of document.querySelectorAll('.loads li')) each.isOld = true")

    page.evaluate("""() => new Promise((done) => {
        new MutationObserver(() => done()).observe(document.querySelector("#time-bar"), { childList: true });
    })""")  # it is drawn each second, the map after it

    assert page.evaluate("[...document.querySelectorAll('.loads li')].map((each) => each.isOld)") == [True, True]


def test_the_address_names_the_last_of_many_cells_that_were_pointed_at(turn: Turn, page: Page) -> None:
    del turn
    open_group(page)
    page.evaluate("""() => {
        const put = history.replaceState.bind(history);
        const { dataset } = document.body;
        history.replaceState = (...all) => put(...all, dataset.puts = 1 + Number(dataset.puts ?? 0));
        const map = document.querySelector(".map .cells");
        const { left, top } = map.getBoundingClientRect();
        const move = (x) => new PointerEvent("pointermove", { clientX: left + x, clientY: top + 5 });
        for (let x = 5; x < 75; x++) map.dispatchEvent(move(x));
    }""")

    expect(page.locator("#says")).to_contain_text("orders/east/2")
    expect(page).to_have_url(re.compile(r"queue=orders%2Feast%2F2"))
    assert page.evaluate("document.body.dataset.puts") == "1"  # browsers refuse more than 200 in ten seconds


@pytest.mark.parametrize(
    "client",
    ['<img src=x onerror=alert(1)>"@1', "x" * 1000, "\u202egnol\u0627\u0644\u0639\u0631\u0628\u064a\u0629@7"],
    ids=["markup", "long", "right to left"],
)
def test_hostile_client_ids_do_no_harm(turn: Turn, page: Page, client: str) -> None:
    open_group(page)
    width = page.evaluate("document.documentElement.scrollWidth")

    told(*seen(client, 5_000), joined(client, 5_000, low=4_000), uses(client, 5_000, "AVG"), held(client, 5_100, []))
    turn(5_200)

    expect(page.locator(".names li")).to_have_count(3)
    expect(page.locator("[data-part=members] tbody tr")).to_have_count(3)
    assert page.locator("main img").count() == 0
    assert page.evaluate("document.documentElement.scrollWidth") <= max(width, 1440)
    page.goto("/")
    expect(page.locator("#groups")).to_contain_text("3 members")


def test_the_map_is_a_table_for_readers(turn: Turn, page: Page) -> None:
    del turn
    open_group(page)

    rows = page.locator("#map-table tbody tr:not([data-kind])")
    queues = page.locator("#map-table tbody tr[data-kind]")

    expect(rows).to_have_count(2)
    expect(rows.nth(0)).to_contain_text("orders/east 0–1")
    expect(queues).to_have_count(4)
    expect(queues.nth(0)).to_contain_text("orders/east/0")


def test_a_group_of_ten_thousand_queues_is_tiles_that_open_into_cells(turn: Turn, page: Page) -> None:
    told(route(10_000, 30_000), held("A", 31_000, range(5_000)), held("B", 31_000, range(5_000, 10_000)))
    turn(31_100)
    open_group(page)
    expect(page.locator(".tiles canvas")).to_be_visible()

    page.keyboard.press("ArrowRight")
    page.keyboard.press("Enter")

    expect(cells(page, "ok")).to_have_count(400)
    assert "zoom=orders%2Feast%2F0" in page.url
    told(held("A", 32_000, range(1, 5_000)))
    turn(32_100)
    expect(cells(page, "want")).to_have_count(1)
    page.keyboard.press("Escape")
    expect(page.locator(".tiles canvas")).to_be_visible()


def test_a_large_map_has_the_width_of_the_page_and_its_table_has_pages(turn: Turn, page: Page) -> None:
    clients = [f"c{number:02}" for number in range(60)]
    facts = [fact for client in clients for fact in seen(client, 5_000)]
    holds = [held(client, 31_000, range(each * 4, each * 4 + 4)) for each, client in enumerate(clients)]
    told(left("A", 5_000), left("B", 5_000), route(240, 5_000), *facts, *holds)
    turn(31_100)
    open_group(page)

    expect(page.locator(".tiles canvas")).to_be_visible()
    room, tiles = (page.locator(name).evaluate("each => each.clientWidth") for name in ("#picture", ".tiles"))
    assert tiles > 0.95 * room > 1_000
    assert page.locator(".tiles").evaluate("tiles => tiles.scrollWidth <= tiles.clientWidth")
    assert page.evaluate("document.documentElement.scrollHeight") < 9_000  # with a lane for each queue
    rows = page.locator("#map-table tbody tr:not([data-kind])")
    expect(rows).to_have_count(25)
    expect(page.locator("#map-table")).to_contain_text("Members 1–25 of 60")
    page.locator("#map-table").get_by_role("link", name="after").click()
    expect(rows.first).to_contain_text("c25")
    expect(page.locator("[data-part=members]")).to_contain_text("Members 26–50 of 60")
    expect(page.locator(".tiles canvas")).to_be_visible()  # the other page's keys work once it has drawn
    page.keyboard.press("ArrowRight")
    page.keyboard.press("Enter")
    expect(cells(page, "ok")).to_have_count(240)
    page.get_by_role("button", name="All queues").click()
    expect(page.locator(".tiles canvas")).to_be_visible()
    assert "zoom" not in page.url


def test_the_round_of_a_large_group_is_tiles_before_and_after(turn: Turn, page: Page) -> None:
    told(route(600, 30_000), held("A", 31_000, range(300)), held("B", 31_000, range(300, 600)))
    group = turn(31_100)
    told(joined("C", 40_000), held("C", 41_000, range(400, 600)), held("B", 41_000, range(300, 400)))
    turn(41_100)

    page.goto(f"/groups/{group.pk}/rounds/{group.rounds.latest('number').number}")

    expect(page.locator(".tiles canvas")).to_have_count(2)
    page.keyboard.press("ArrowRight")
    expect(page.locator("#says")).to_contain_text("orders/east/0")
    page.keyboard.press("Enter")
    expect(page.locator('[data-map="after"] [data-cell]').first).to_be_attached()
    page.keyboard.press("Escape")
    expect(page.locator(".tiles canvas")).to_have_count(2)


def test_a_group_through_a_proxy_has_the_lag_that_brokers_tell_of_it(turn: Turn, page: Page) -> None:
    turn(30)
    client = "web-1@1@0@d1o2m9xh3k"
    told(*seen(client, 40, group="grpc")[:-1], missed(client, 45, group="grpc"))
    behind = tuple(QueueProgress(queue=queue(n), end=9, committed=9 - 2 * n) for n in range(3))
    told(ProgressSeen(at=T0 + 46, source=EAST, exactness=EXACT, group="grpc", broker="east", queues=behind))
    group = rebalanced("grpc", 50)

    page.goto(f"/groups/{group.pk}/")

    expect(page.locator("#map .names li")).to_have_count(1)
    expect(page.locator("#figures")).to_contain_text("all come through a proxy")
    expect(page.locator("#map [data-mark=exact]", has_text="6")).to_be_visible()


def test_a_queue_of_which_nobody_knows_who_has_it_is_drawn_as_unknown_not_as_empty(turn: Turn, page: Page) -> None:
    group = turn(30)
    told(joined("C", 5_000, low=4_000), held("C", 5_100, []), held("A", 5_100, [0]), missed("B", 5_150))
    turn(5_200)
    page.goto(f"/groups/{group.pk}/?window=24h")

    expect(page.locator(".lane-unknown").first).to_be_attached()
    expect(page.locator('[data-is="lanes"]')).to_contain_text("unknown: no answer")
    expect(page.locator(".band-unknown").first).to_be_attached()
    expect(page.locator("#time-bar")).to_contain_text("1 member joined: C")
