"""Ordering from a page in a real browser: the form, what became of it, and who may not."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from playwright.sync_api import Page, Route, expect

from dashboard.clusters.models import Cluster, Command, CommandReceipt
from dashboard.clusters.orders import Done, finish, take
from dashboard.common.clock import now_ms
from dashboard.groups.models import Group
from dashboard.people.models import Grant
from dashboard.people.roles import Role
from rebalance_engine.events import CommandOutcome, ReceiptAnswer
from tests.browser.elsewhere import elsewhere

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("forgotten")]
Turn = Callable[[int], Group]


@pytest.fixture
def group(turn: Turn) -> Group:
    """A group of a demo, with a watcher that has the lease."""
    group = turn(30)
    Cluster.objects.update(is_read_only=False, is_demo=True, lease_epoch=1, lease_holder="w", lease_until=now_ms())
    Group.objects.filter(pk=group.pk).update(name="billing")
    return group


@pytest.fixture
def operator(group: Group, page: Page) -> Page:
    Grant.objects.update(role=Role.OPERATOR.value)
    page.goto(f"/groups/{group.pk}/")
    return page


def test_who_opens_an_order_by_a_key_types_into_it(operator: Page) -> None:
    address = operator.url
    operator.locator(".actions summary").focus()

    operator.keyboard.press("Enter")
    expect(operator.get_by_label("Reason")).to_be_focused()
    operator.keyboard.type("plt")

    expect(operator.get_by_label("Reason")).to_have_value("plt")
    assert operator.url == address


def test_an_order_is_given_with_a_reason_and_its_receipt_appears(operator: Page) -> None:
    page = operator
    page.locator(".actions summary").click()
    page.get_by_label("Reason").fill("a notification was lost")
    page.locator(".actions form").get_by_role("button", name="Recompute now").click()

    orders = page.locator("[data-part=orders]")
    expect(orders).to_contain_text("waits for the watcher")
    expect(orders).to_contain_text("by vera: a notification was lost")
    expect(page.locator(".actions details")).not_to_have_attribute("open", "")

    elsewhere(lambda: take(cluster="shop", epoch=1, now=now_ms()))
    expect(orders).to_contain_text("is being carried out")
    receipts = {"A": ReceiptAnswer.UNCHANGED, "B": ReceiptAnswer.UNKNOWN}
    done = Done(CommandOutcome.DONE, "1 broker notified 2 members", receipts)
    number = Command.objects.get().pk
    elsewhere(lambda: finish(order=number, epoch=1, done=done, now=now_ms()))

    expect(orders).to_contain_text("done: 1 broker notified 2 members")
    expect(orders).to_contain_text("1 unchanged")
    expect(orders.locator("[data-open]")).to_have_count(0)
    assert CommandReceipt.objects.count() == 2


def test_a_form_that_is_answered_late_says_so_and_is_sent_once(operator: Page) -> None:
    page, held = operator, list[Route]()
    page.clock.install()
    page.route("**/order", lambda route: held.append(route))  # noqa: PLW0108 # Playwright marks what it calls
    page.locator(".actions summary").click()
    page.get_by_label("Reason").fill("a notification was lost")
    form = page.locator(".actions form")
    with page.expect_request("**/order"):
        form.get_by_role("button", name="Recompute now").click()

    expect(form.get_by_role("status")).to_be_empty()
    page.clock.run_for(1_100)
    expect(form.get_by_role("status")).to_have_text("Sent; the server has not answered yet.")
    expect(form.get_by_role("button", name="Recompute now")).to_be_disabled()

    held[0].fulfill(status=409, json={"refused": "The database is busy."})
    expect(form.get_by_role("alert")).to_have_text("The database is busy.")
    expect(form.get_by_role("status")).to_have_count(0)
    assert len(held) == 1


HOLD = """
window.sent = 0;
addEventListener("submit", (event) => {
  if (!event.defaultPrevented) window.sent += 1;
  event.preventDefault(); // a page that is being left cannot be looked at
});
"""


def test_a_page_that_is_sent_and_answered_late_says_so_and_is_sent_once(operator: Page) -> None:
    page = operator
    page.goto("/findings/")
    page.clock.install()
    page.evaluate(HOLD)
    form = page.locator("form.languages")
    send = form.get_by_role("button", name="简体中文")

    send.click()
    expect(form.get_by_role("status")).to_be_empty()
    page.clock.run_for(1_100)
    expect(form.get_by_role("status")).to_have_text("Sent; the server has not answered yet.")
    send.click()
    assert page.evaluate("window.sent") == 1

    page.clock.run_for(30_000)
    expect(form.get_by_role("status")).to_have_count(0)
    send.click()
    assert page.evaluate("window.sent") == 2, "whoever stopped it may send it again"


def test_a_refusal_is_said_in_the_form(operator: Page) -> None:
    page = operator
    page.locator(".actions summary").click()
    page.get_by_label("Reason").fill("   ")
    with page.expect_response("**/order") as refused:
        page.locator(".actions form").get_by_role("button", name="Recompute now").click()

    assert refused.value.status == 422
    expect(page.locator(".actions [role=alert]")).to_contain_text("It needs a reason")
    assert not Command.objects.exists()
    page.evaluate("performance.clearResourceTimings()")


def test_a_consumer_of_the_demo_is_chosen_by_name(operator: Page) -> None:
    page = operator
    kill = page.locator(".order-bar details").filter(has_text="Kill a consumer").first
    kill.locator("summary").click()
    kill.get_by_label("Consumer").select_option("B")
    kill.get_by_label("How").select_option("silent")
    kill.get_by_role("button", name="Kill a consumer").click()

    expect(page.locator("[data-part=orders]")).to_contain_text("Kill a consumer B")
    row = Command.objects.get()
    assert (row.verb, row.target, row.parameters) == ("demo.kill_consumer", "B", {"how": "silent"})


def test_a_consumer_of_the_demo_is_added_by_one_press(operator: Page) -> None:
    operator.get_by_role("button", name="Add a consumer").click()

    expect(operator.locator("[data-part=orders]")).to_contain_text("Add a consumer")
    assert Command.objects.get().verb == "demo.add_consumer"


def test_a_viewer_sees_closed_buttons_and_the_reason(group: Group, page: Page) -> None:
    page.goto(f"/groups/{group.pk}/")

    expect(page.get_by_role("button", name="Recompute now")).to_be_disabled()
    expect(page.locator(".actions")).to_contain_text("needs the role operator for this group; you have viewer")
    assert page.locator("form[data-order]").count() == 0
