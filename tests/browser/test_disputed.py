"""Queues on which NameServers disagree, in a real browser: a sign and words mark them, until they agree."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest
from playwright.sync_api import Page, expect

from dashboard.clusters.models import Cluster
from dashboard.groups.models import Group
from tests.browser.elsewhere import told
from tests.dashboard.story import NAMESRV, held, route

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]
Turn = Callable[[int], Group]
OTHER = replace(NAMESRV, address="127.0.0.1:9877")


def test_what_name_servers_disagree_on_is_marked_until_they_agree(turn: Turn, page: Page) -> None:
    Cluster.objects.update(namesrv="127.0.0.1:9876;127.0.0.1:9877")
    told(replace(route(6, 1_000), source=OTHER), held("A", 1_100, [0, 1]), held("B", 1_100, [2, 3]))
    group = turn(1_200)
    page.goto(f"/groups/{group.pk}/")
    signs = page.locator("#map .sign-disputed")

    expect(signs).to_have_count(2)
    expect(page.locator("#map .column-none")).to_have_count(0)
    expect(page.locator("#figures")).to_contain_text("NameServers disagree on 2 of 6 queues")
    page.locator("summary", has_text="Each queue in words").click()
    expect(page.locator('tr[data-kind="disputed"]').first).to_contain_text("NameServers disagree whether it is there")

    told(replace(route(4, 2_000), source=OTHER), held("A", 2_100, [0, 1]), held("B", 2_100, [2, 3]))
    turn(2_200)
    expect(page.locator("#figures")).to_contain_text("held as wanted")
    expect(signs).to_have_count(0)
