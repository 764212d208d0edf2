"""Pages that are open while their cluster is put aside, or deleted, in a real browser."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from playwright.sync_api import BrowserContext, Page, expect

from dashboard.clusters.leases import put_aside
from dashboard.clusters.models import Cluster
from dashboard.common.clock import now_ms
from dashboard.groups.models import Group
from tests.browser.elsewhere import elsewhere
from tests.dashboard.story import add_cluster

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]
Turn = Callable[[int], Group]


@pytest.fixture(autouse=True)
def beats_that_come_soon(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("dashboard.live.consumers.BEAT_S", 0.3)


def set_aside() -> None:
    Cluster.objects.filter(name="shop").update(lease_epoch=1)
    put_aside(clusters=Cluster.objects.filter(name="shop"))


@pytest.mark.usefixtures("page")
def test_the_page_of_a_group_says_that_its_cluster_is_put_aside_and_that_it_is_deleted(
    turn: Turn, context: BrowserContext
) -> None:
    group = turn(30)
    page = context.new_page()  # what is deleted is asked for once more, perhaps, and refused
    page.goto(f"/groups/{group.pk}/")
    expect(page.locator("#as-of .pill")).to_have_text("Live")

    elsewhere(set_aside)
    expect(page.locator("#as-of .pill")).to_have_text("Stale")
    expect(page.locator("#as-of")).to_contain_text("put aside: nobody watches it any more")
    expect(page.locator("[data-part=gone]")).to_contain_text("The cluster shop is put aside: nobody watches it.")

    elsewhere(Cluster.objects.all().delete)
    expect(page.locator("#as-of")).to_contain_text("deleted, or not for you any more: this is how it was last")
    expect(page.locator("#as-of .pill")).to_have_text("Stale")


def test_an_open_overview_counts_no_cluster_that_was_put_aside_or_deleted(turn: Turn, page: Page) -> None:
    group = turn(30)
    other = add_cluster("another")
    Cluster.objects.filter(pk=other.pk).update(watched_at=Cluster.objects.get(name="shop").watched_at)
    Cluster.objects.filter(name="shop").update(watched_at=1_700_000_000_000)
    page.goto("/")
    expect(page.locator("#as-of")).to_contain_text("1 cluster does not answer")

    elsewhere(set_aside)
    expect(page.locator("#as-of")).not_to_contain_text("does not answer")
    expect(page.locator("#as-of .pill")).to_have_text("Live")
    expect(page.locator("[data-aside]")).to_contain_text("The cluster shop is put aside")
    expect(page.locator(f'#groups li[data-id="{group.pk}"]')).to_have_attribute("data-stale", "")

    elsewhere(Cluster.objects.filter(name="shop").delete)
    expect(page.locator(f'#groups li[data-id="{group.pk}"]')).to_be_hidden()
    expect(page.locator("[data-aside]")).to_have_count(0)
    expect(page.locator("#as-of .pill")).to_have_text("Live")


@pytest.mark.usefixtures("page")
def test_an_open_overview_of_a_cluster_that_was_deleted_keeps_what_was_last(
    turn: Turn, context: BrowserContext
) -> None:
    group = turn(30)
    page = context.new_page()  # as above
    page.goto("/?cluster=shop")
    expect(page.locator("#as-of .pill")).to_have_text("Live")
    elsewhere(set_aside)
    expect(page.locator("[data-aside]")).to_have_count(1)

    elsewhere(Cluster.objects.filter(name="shop").delete)
    expect(page.locator("#as-of")).to_contain_text("deleted, or not for you any more: this is how it was last")
    expect(page.locator(f'#groups li[data-id="{group.pk}"]')).to_be_visible()
    expect(page.locator(f'#groups li[data-id="{group.pk}"]')).to_have_attribute("data-stale", "")
    expect(page.locator("[data-aside]")).to_have_count(0)


def test_the_page_of_a_group_tells_anew_what_it_knows_as_soon_as_its_cluster_answers_again(
    turn: Turn, page: Page
) -> None:
    group = turn(30)
    shop = Cluster.objects.filter(name="shop")
    shop.update(watched_at=now_ms() - 60_000, lease_epoch=1, lease_holder="here:1", lease_until=now_ms() - 50_000)
    page.goto(f"/groups/{group.pk}/")
    expect(page.locator("#as-of .pill")).to_have_text("Stale")
    expect(page.locator("[data-part=servers]")).to_contain_text("Nobody is known to watch the cluster shop")
    page.wait_for_load_state("networkidle")  # what it asks for first is there

    elsewhere(lambda: shop.update(watched_at=now_ms() + 3_600_000, lease_until=now_ms() + 3_600_000))
    expect(page.locator("#as-of .pill")).to_have_text("Live")
    expect(page.locator("[data-part=servers]")).not_to_contain_text("Nobody is known to watch")


def test_what_is_put_aside_is_stale_from_the_first_paint_on(
    turn: Turn, page: Page, monkeypatch: pytest.MonkeyPatch
) -> None:
    group = turn(30)
    monkeypatch.setattr("dashboard.live.consumers.BEAT_S", 60)  # of no pulse
    elsewhere(set_aside)

    for address in ("/?cluster=shop", f"/groups/{group.pk}/"):
        page.goto(address)
        expect(page.locator("#as-of .pill")).to_have_text("Stale")
        expect(page.locator("#as-of")).to_contain_text("put aside: nobody watches it any more")
