"""What axe-core finds on every page, in both themes: nothing that keeps somebody out."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from axe_playwright_python.sync_playwright import Axe
from django.contrib.auth.models import User
from playwright.sync_api import Page, expect

from dashboard.audit.queries import Verdict
from dashboard.clusters.models import Cluster, Command
from dashboard.groups.models import Group
from dashboard.people.models import Grant
from tests.browser.elsewhere import elsewhere, told
from tests.dashboard.groups.test_receipts import ordered
from tests.dashboard.producers.conftest import stock
from tests.dashboard.story import T0, held, joined, missed, route

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]
GRAVE = {"serious", "critical"}
PAGES = (
    "/",
    "/findings/",
    "/groups/{group}/",
    "/groups/{group}/?at=last-change",
    "/groups/{group}/rounds/",
    "/groups/{group}/rounds/1/",
    "/groups/{group}/plan/",
    "/groups/{group}/by-config/",
    "/groups/{group}/by-config/edit",
    "/groups/{group}/receipts/",
    "/groups/{group}/receipts/{order}/",
    "/producers/",
    "/demo/{cluster}/",
    "/tokens/",
    "/audit/",
    "/nightly/",
    "/password/",
    "/api/",
)


def faults_of(page: Page) -> list[str]:
    found = Axe().run(page).response["violations"]
    return [
        f"{each['id']} ({each['impact']}): {node['target']} {node['failureSummary']}"
        for each in found
        if each["impact"] in GRAVE
        for node in each["nodes"][:3]
    ]


def look(page: Page, address: str, theme: str, shows: str = "h1") -> list[str]:
    page.emulate_media(reduced_motion="reduce", color_scheme="dark" if theme == "dark" else "light")
    page.goto(f"{address}{'&' if '?' in address else '?'}theme={theme}")
    expect(page.locator(shows).first).to_be_visible()
    return faults_of(page)


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_nobody_is_kept_out(turn: Callable[[int], Group], page: Page, theme: str) -> None:
    Cluster.objects.update(is_demo=True, is_read_only=False)
    Grant.objects.update(role="admin")
    group = turn(30)
    told(joined("C", 5_000, low=4_000), held("C", 5_100, [1]), missed("B", 5_150))  # a round, two owners, an unknown
    turn(5_200)
    elsewhere(lambda: ordered(group, A="changed", B="unchanged", C="unknown", D="not asked"))
    elsewhere(lambda: stock(group.cluster, "S"))
    names = {"group": group.pk, "cluster": group.cluster_id, "order": Command.objects.get().pk}

    faults = {address: look(page, address.format(**names), theme) for address in PAGES}

    assert {address: found for address, found in faults.items() if found} == {}


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_a_map_of_tiles_keeps_nobody_out(turn: Callable[[int], Group], page: Page, theme: str) -> None:
    told(route(2_000, 30_000), held("A", 31_000, range(1_000)), held("B", 31_000, range(1_000, 2_000)))
    turn(31_100)
    told(joined("C", 40_000), held("C", 41_000, range(400, 600)), missed("B", 41_100))  # one is unknown
    group = turn(41_200)
    around, last = f"/groups/{group.pk}/", group.rounds.latest("number").number
    addresses = (around, f"{around}?at={T0 + 31_100}", f"{around}rounds/{last}/", f"{around}plan/?remove=A")

    faults = {address: look(page, address, theme, ".tiles canvas") for address in addresses}

    assert {address: found for address, found in faults.items() if found} == {}


def test_a_broken_audit_log_is_told_to_all(page: Page, monkeypatch: pytest.MonkeyPatch) -> None:
    Grant.objects.update(role="admin")
    broken = Verdict(count=2, digest="0" * 64, noted=2, troubles=("entry 1 is not what was written",))
    monkeypatch.setattr("dashboard.auditing.views.verify", lambda **_named: broken)

    assert look(page, "/audit/", "light") == []
    expect(page.get_by_role("alert")).to_contain_text("entry 1")


def test_what_keeps_somebody_out_would_be_found(page: Page) -> None:
    page.evaluate("document.querySelector('main').append(new Image(), document.createElement('button'))")

    assert {fault.split(" ")[0] for fault in faults_of(page)} == {"image-alt", "button-name"}


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_the_log_in_is_for_all(page: Page, theme: str) -> None:
    page.context.clear_cookies()

    assert look(page, "/login/", theme) == []


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_open_forms_and_the_sheet_of_keys_are_for_all(turn: Callable[[int], Group], page: Page, theme: str) -> None:
    Cluster.objects.update(is_demo=True, is_read_only=False)
    Grant.objects.update(role="operator")
    page.goto(f"/groups/{turn(30).pk}/?theme={theme}")
    page.locator("details").evaluate_all("all => all.forEach(each => (each.open = true))")
    assert faults_of(page) == []

    page.keyboard.press("?")
    assert faults_of(page) == []


def test_the_database_pages_are_for_all(page: Page) -> None:
    User.objects.update(is_staff=True, is_superuser=True)

    faults = {address: look(page, address, "light") for address in ("/admin/", "/admin/groups/group/")}

    assert {address: found for address, found in faults.items() if found} == {}
