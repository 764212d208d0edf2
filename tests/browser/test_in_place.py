"""What comes into a page, or is long, pushes nothing else away."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from dashboard.clusters.models import Cluster
from dashboard.common.clock import now_ms
from dashboard.groups.models import Finding, Group
from dashboard.people.models import Grant
from dashboard.people.roles import Role
from tests.dashboard.story import T0

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]
Turn = Callable[[int], Group]
HOUR_MS = 3_600_000
SAY = "form => { const it = form.querySelector('.wrong'); it.hidden = false; it.textContent = 'wait '.repeat(9); }"


def test_what_became_of_one_order_of_the_demo_leaves_the_next_button_in_its_place(turn: Turn, page: Page) -> None:
    Cluster.objects.update(
        is_demo=True, is_read_only=False, lease_epoch=1, lease_holder="w", lease_until=now_ms() + HOUR_MS
    )
    Grant.objects.update(role=Role.OPERATOR.value)
    group = turn(30)
    Group.objects.filter(pk=group.pk).update(name="billing")
    page.goto(f"/demo/{group.cluster_id}/")
    forms = page.locator(".two-orders form")
    expect(forms).to_have_count(2)
    before = forms.nth(1).locator("button").bounding_box()

    forms.nth(0).evaluate(SAY)

    expect(forms.nth(0).locator(".wrong")).to_be_visible()
    assert forms.nth(1).locator("button").bounding_box() == before


def test_since_when_a_finding_is_has_two_lines_at_most_in_a_narrow_window(turn: Turn, page: Page) -> None:
    group = turn(30)
    sentence = (
        "No member consumes a-topic-with-a-long-name/broker-a/0: all 12 members answered, and none holds it. " * 3
    )
    Finding.objects.create(
        cluster=group.cluster,
        group=group,
        kind="orphan queue",
        subject="q",
        subject_key="q",
        sentence=sentence,
        proof=["A answered, and does not hold it"] * 12,
        origin="derived",
        suspected_at=T0,
        confirmed_at=T0,
    )
    page.set_viewport_size({"width": 1280, "height": 800})
    page.goto("/findings/")

    since = page.locator("td.since").first
    expect(since).to_be_visible()
    lines = since.evaluate(
        "td => { const range = document.createRange(); range.selectNodeContents(td);"
        " return new Set([...range.getClientRects()].map(each => Math.round(each.bottom / 4))).size; }"
    )
    assert lines <= 2
