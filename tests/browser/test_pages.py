"""Log-in, overview, rounds and keys in a real browser."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from playwright.sync_api import BrowserContext, Page, expect

from dashboard.clusters.models import Cluster
from dashboard.common.clock import now_ms
from dashboard.groups.models import Group, Member, Round
from tests.browser.elsewhere import rebalanced, told
from tests.dashboard.story import held, joined, seen

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]
Turn = Callable[[int], Group]


def join(turn: Turn, client: str, at: int) -> None:
    told(joined(client, at, low=at - 1_000), held(client, at + 100, []))
    turn(at + 200)


def test_without_a_log_in_a_page_leads_to_the_log_in_and_back(context: BrowserContext, turn: Turn, page: Page) -> None:
    group = turn(30)
    del page
    context.clear_cookies()
    stranger = context.new_page()

    stranger.goto(f"/groups/{group.pk}/?window=1h")

    expect(stranger.get_by_role("heading", name="Log in")).to_be_visible()
    stranger.get_by_label("Name").fill("vera")
    stranger.get_by_label("Password").fill("a password for tests")
    stranger.get_by_role("button", name="Log in").click()
    expect(stranger.locator("h1")).to_contain_text("g")
    assert stranger.url.endswith(f"/groups/{group.pk}/?window=1h")


def test_a_wrong_password_is_refused_in_words(page: Page) -> None:
    page.get_by_role("button", name="Log out").click()
    page.get_by_label("Name").fill("vera")
    page.get_by_label("Password").fill("not this one")
    page.get_by_role("button", name="Log in").click()

    expect(page.get_by_role("alert")).to_contain_text("correct username and password")


def test_the_overview_changes_without_a_reload(turn: Turn, page: Page) -> None:
    page.goto("/?q=g")
    row = page.locator("#groups li[data-id]")
    expect(row).to_contain_text("held as wanted")
    expect(page.locator('#as-of:not([data-mode="away"])')).to_be_attached()
    page.evaluate("document.body.dataset.was = 'here'")

    join(turn, "C", 5_000)

    told(held("A", 6_000, [0, 1]), held("B", 6_000, [2, 3]), held("C", 6_000, []))
    turn(6_100)
    expect(row).to_contain_text("rebalancing")
    expect(row).to_contain_text("3 members")
    expect(row).to_contain_text("1: member joined")
    expect(page.locator("[data-part=sums]")).to_contain_text("3 members known")
    assert page.evaluate("document.body.dataset.was") == "here"


def test_a_new_group_appears_by_itself(turn: Turn, page: Page) -> None:
    del turn
    page.goto("/")
    expect(page.locator('#as-of:not([data-mode="away"])')).to_be_attached()
    page.evaluate("document.body.dataset.was = 'here'")

    told(*seen("X", group="another"), held("X", 10, [0, 1, 2, 3], group="another"))
    rebalanced("another", 100)

    expect(page.locator("#groups li[data-id]")).to_have_count(2)
    expect(page.locator("#groups li[data-id]").filter(has_text="another")).to_contain_text("1 member, 4 queues")
    assert page.evaluate("document.body.dataset.was") == "here"
    page.get_by_role("link", name="another").click()
    expect(page.locator("h1")).to_contain_text("another")


HEAD_IS_ABOVE = """head => {
  scrollBy(0, head.getBoundingClientRect().bottom - innerHeight); // to where the news of the list stand
  const { right, bottom } = head.querySelector(".lag").getBoundingClientRect();
  return head.contains(document.elementFromPoint(right - 2, bottom - 4));
}"""


def test_a_list_of_several_pages_takes_what_is_pushed_in_place(turn: Turn, page: Page) -> None:
    group = turn(30)
    quiet = {"queue_count": 8, "member_count": 2, "silent_count": 0, "orphan_count": 0, "double_count": 0}
    Group.objects.bulk_create(
        Group(cluster=group.cluster, name=f"a{n:03}", added_at=1, rebalanced_at=1, is_converged=True, **quiet)
        for n in range(120)
    )
    page.goto("/?sort=name")
    expect(page.locator("#groups li[data-id]")).to_have_count(100)
    expect(page.locator('#as-of:not([data-mode="away"])')).to_be_attached()
    page.evaluate("document.body.dataset.was = 'here'")
    page.evaluate("scrollTo(0, 900)")
    page.get_by_label("Search groups").evaluate("each => each.focus({ preventScroll: true })")

    told(*seen("X", group="a000"), held("X", 10, [0, 1, 2, 3], group="a000"))
    rebalanced("a000", 100)
    told(*seen("X", group="brand new"), held("X", 10, [0, 1, 2, 3], group="brand new"))
    rebalanced("brand new", 100)

    expect(page.locator("#groups li[data-id]").first).to_contain_text("1 member, 4 queues")
    expect(page.locator(".list-news")).to_contain_text("1 new group.")
    expect(page.locator("#groups li[data-id]")).to_have_count(100)
    expect(page.get_by_label("Search groups")).to_be_focused()
    assert page.evaluate("[document.body.dataset.was, scrollY]") == ["here", 900]
    assert page.locator("#groups > .labels").evaluate(HEAD_IS_ABOVE)
    page.get_by_role("link", name="Show the list anew").click()
    expect(page.locator(".list-news")).to_be_hidden()
    assert page.url.endswith("/?sort=name")


def test_rows_of_a_cluster_that_does_not_answer_are_grey_and_say_of_when_they_are(turn: Turn, page: Page) -> None:
    group = turn(30)
    other = Cluster.objects.create(name="other", namesrv="o:1", added_at=1, watched_at=1_700_000_000_000)
    Group.objects.create(cluster=other, name="old", added_at=1)
    Member.objects.update(held_seen_at=now_ms() - 10_000)
    page.goto("/")

    row = page.locator(f'#groups li[data-id="{group.pk}"]')
    old = page.locator("#groups li[data-stale]")
    expect(old).to_have_count(1)
    expect(old).to_contain_text("old")
    expect(old.locator(".age")).to_contain_text("as of")
    expect(row.locator(".age")).to_have_text(re.compile(r"^[1-5][0-9]\ss ago$"))
    expect(row.locator('[data-is="as-of"]')).to_have_text(re.compile(r"^as of [1-5][0-9]\ss ago$"))
    expect(page.locator("#as-of .pill")).to_have_text("Live")
    expect(page.locator("#as-of")).to_contain_text("1 cluster does not answer")


def test_a_row_of_a_group_that_nobody_has_looked_at_for_long_is_grey_though_its_cluster_answers(
    turn: Turn, page: Page
) -> None:
    turn(30)
    Member.objects.update(held_seen_at=now_ms())
    page.goto("/")
    row = page.locator("#groups li[data-id]")
    expect(row.locator(".age")).to_contain_text("s ago")
    assert row.get_attribute("data-stale") is None

    Member.objects.update(held_seen_at=now_ms() - 300_000)

    expect(row.locator(".age")).to_contain_text("as of 5 min", timeout=30_000)  # how rows fare is asked every 10 s
    assert row.get_attribute("data-stale") == ""


def test_data_that_nobody_renews_is_said_to_be_stale(turn: Turn, page: Page) -> None:
    del turn
    Cluster.objects.update(watched_at=1_700_000_000_000)
    page.goto("/")

    expect(page.locator("#as-of .pill")).to_have_text("Stale")
    expect(page.locator("#as-of")).to_contain_text("last answer")
    expect(page.locator("body.stale")).to_be_attached()


def test_the_demo_is_labelled_on_every_page(turn: Turn, page: Page) -> None:
    join(turn, "C", 5_000)
    Cluster.objects.update(is_demo=True)
    group = Group.objects.get()

    for address in (
        "/",
        f"/groups/{group.pk}/",
        f"/groups/{group.pk}/rounds/",
        f"/groups/{group.pk}/rounds/1/",
        "/password/",
    ):
        page.goto(address)
        expect(page.locator("[data-demo]")).to_have_text("Demo cluster: shop")


def test_the_keyboard_goes_everywhere(turn: Turn, page: Page) -> None:
    join(turn, "C", 5_000)
    page.goto("/")

    page.keyboard.press("/")
    expect(page.get_by_label("Search groups")).to_be_focused()
    page.keyboard.press("Escape")
    page.keyboard.press("j")
    page.keyboard.press("Enter")
    expect(page.locator("#time-bar > svg")).to_be_visible()  # drawn by the script, in place of the first paint's
    page.keyboard.press("o")
    expect(page.locator("#paragraph")).to_contain_text("C joined.")
    page.wait_for_load_state("load")  # likewise below: keys are somebody's once the modules are there
    page.keyboard.press("g")
    page.keyboard.press("o")
    page.wait_for_url("/")  # loaded: a key pressed while the heading is there and the modules are not is nobody's
    expect(page.get_by_role("heading", name="Overview")).to_be_visible()
    page.keyboard.press("?")
    expect(page.get_by_role("dialog")).to_be_visible()
    page.keyboard.press("?")
    expect(page.get_by_role("dialog")).not_to_be_visible()


def test_the_theme_is_switched_by_a_key_and_stays(turn: Turn, page: Page) -> None:
    del turn
    page.goto("/?theme=light")
    light = page.evaluate("getComputedStyle(document.body).backgroundColor")

    page.keyboard.press("t")

    assert page.evaluate("getComputedStyle(document.body).backgroundColor") != light
    page.goto("/")
    assert page.evaluate("document.documentElement.dataset.theme") == "dark"


def test_rounds_have_their_neighbours_by_keys(turn: Turn, page: Page) -> None:
    join(turn, "C", 5_000)
    join(turn, "D", 15_000)
    group = Group.objects.get()

    page.goto(f"/groups/{group.pk}/rounds/2/")
    page.keyboard.press("[")
    expect(page.locator("#paragraph")).to_contain_text("round 2 took over")
    page.wait_for_load_state()  # keys are heard from then on
    page.keyboard.press("]")
    expect(page.locator("#paragraph")).to_contain_text("D joined.")
    expect(page.locator(".map")).to_have_count(2)


def test_before_the_first_round_there_is_no_map_and_before_another_it_is_unknown(turn: Turn, page: Page) -> None:
    join(turn, "C", 5_000)
    join(turn, "D", 15_000)
    group = Group.objects.get()
    Round.objects.update(before=b"")

    page.goto(f"/groups/{group.pk}/rounds/1/")
    expect(page.locator('[data-map="before"]')).to_have_text(re.compile("the first round that was seen"))
    page.goto(f"/groups/{group.pk}/rounds/2/")
    expect(page.locator('[data-map="before"]')).to_have_text("How it was is not known.")


def test_no_page_breaks_its_own_policy(turn: Turn, page: Page) -> None:
    join(turn, "C", 5_000)
    group = Group.objects.get()

    for address in ("/", f"/groups/{group.pk}/", f"/groups/{group.pk}/rounds/", f"/groups/{group.pk}/rounds/1/"):
        answer = page.goto(address)
        assert answer is not None
        assert "script-src 'self'" in answer.headers["content-security-policy"]
        expect(page.locator("h1")).to_be_visible()  # a breach is an error on the console, which fails the test


def test_the_list_is_filtered_while_somebody_types_and_the_address_says_so(turn: Turn, page: Page) -> None:
    turn(30)
    told(*seen("Z", group="payments"))
    rebalanced("payments", 40)
    page.goto("/?sort=name")
    rows = page.locator("#groups li[data-id]")
    expect(rows).to_have_count(2)
    page.evaluate("document.body.dataset.was = 'here'")

    page.keyboard.press("/")
    page.keyboard.type("paym")

    expect(rows).to_have_count(1)
    expect(rows).to_contain_text("payments")
    expect(page).to_have_url(re.compile(r"/\?sort=name&q=paym$"))
    expect(page.get_by_role("status").filter(has_text="1 group fits")).to_be_attached()
    expect(page.get_by_label("Search groups")).to_be_focused()
    expect(page.locator('[data-found="sorts"] a').first).to_have_attribute("href", re.compile("q=paym"))

    page.keyboard.type("x")
    expect(page.get_by_text("No group fits.")).to_be_visible()
    page.get_by_label("Search groups").fill("")
    expect(rows).to_have_count(2)
    expect(page).to_have_url(re.compile(r"/\?sort=name$"))
    assert page.evaluate("document.body.dataset.was") == "here"

    page.get_by_label("Search groups").press_sequentially("paym")
    expect(rows).to_have_count(1)
    page.keyboard.press("Escape")
    expect(page.get_by_label("Search groups")).to_have_value("")
    expect(page.get_by_label("Search groups")).not_to_be_focused()
    expect(rows).to_have_count(2)
    expect(page).to_have_url(re.compile(r"/\?sort=name$"))
