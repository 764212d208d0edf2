"""The product as a person starts it, over brokers with consumers that are processes of their own, in a real browser.

Nothing is put into the database: what is seen has gone from a broker through watcher, worker, Redis and web socket.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Locator, Page, expect

from tests.browser.test_group import cells, was_not_reloaded
from tests.cluster.lines import Client
from tests.cluster.members import evenkeel
from tests.dashboard.config.supervising.instances import up

pytestmark = [pytest.mark.browser, pytest.mark.slow, pytest.mark.xdist_group("up")]
QUEUES = 4
ALL = QUEUES + 2  # and one of the retry topic on each broker
OWNERS = (
    "count => new Set([...document.querySelectorAll('[data-cell=ok]')].map(cell => cell.parentNode)).size === count"
)
SEEN_WITHIN_MS = 120_000  # a look at the group, a rebalance and its message, on a machine with other work
Consume = Callable[[str], Client]


@pytest.fixture
def clients() -> Iterator[ExitStack]:
    with ExitStack() as ends:
        yield ends


@pytest.fixture
def namesrv(clients: ExitStack, tmp_path: Path) -> str:
    options = ["--port", "0", "--brokers", "2", "--topic", f"orders:{QUEUES // 2}", "--dir", str(tmp_path / "store")]
    cluster = evenkeel(["embedded", *options], "embedded", tmp_path)
    clients.callback(cluster.kill)
    return str(cluster.wait("ready")[0]["namesrv"])


@pytest.fixture
def consume(clients: ExitStack, namesrv: str, tmp_path: Path) -> Consume:
    def start(name: str) -> Client:
        options = ["--namesrv", namesrv, "--group", "payments", "--topic", "orders", "--name", name]
        client = evenkeel(["consume", *options], name, tmp_path)
        clients.callback(client.kill)
        client.wait("held")
        return client

    return start


def log_in(page: Page, password: str) -> None:
    page.goto("/login/")
    page.get_by_label("Name").fill("admin")
    page.get_by_label("Password").fill(password)
    page.get_by_role("button", name="Log in").click()


def open_group(page: Page) -> None:
    """Go from the overview to the group; it may be a while until the watcher knows it."""
    expect(page.get_by_role("heading", name="Overview")).to_be_visible()
    page.get_by_role("link", name="payments", exact=True).first.click(timeout=SEEN_WITHIN_MS)
    expect(page.locator("#as-of .pill")).to_have_text("Live", timeout=SEEN_WITHIN_MS)
    page.evaluate("document.body.dataset.was = 'here'")  # a reload would take it away


def members(page: Page) -> Locator:
    """Give the rows of who is there; who left stays in sight for a while."""
    return page.locator('.names li:not([data-state="left"])')


def test_a_consumer_that_joins_moves_cells_and_a_cut_socket_misses_nothing(
    chromium: Browser, namesrv: str, consume: Consume, tmp_path: Path
) -> None:
    first, _ = consume("A"), consume("B")
    with up(tmp_path / "home", "--namesrv", namesrv) as instance:
        base = instance.open()
        password = instance.until(r"log in as admin with the password (\S{20}) ").group(1)
        context = chromium.new_context(base_url=base)
        context.set_default_timeout(SEEN_WITHIN_MS)
        page = context.new_page()
        log_in(page, password)
        open_group(page)
        expect(members(page)).to_have_count(2, timeout=SEEN_WITHIN_MS)
        expect(cells(page, "ok")).to_have_count(ALL, timeout=SEEN_WITHIN_MS)

        third = consume("C")
        expect(members(page)).to_have_count(3, timeout=SEEN_WITHIN_MS)
        expect(page.locator("[data-part=rounds]")).to_contain_text("member joined", timeout=SEEN_WITHIN_MS)
        page.wait_for_function(OWNERS, arg=3)
        expect(cells(page, "ok")).to_have_count(ALL, timeout=SEEN_WITHIN_MS)

        expect(page.locator("[data-part=rounds]")).to_contain_text(
            "closed", timeout=SEEN_WITHIN_MS
        )  # or it is one round

        context.set_offline(True)
        page.evaluate("evenkeel.socket.cut()")
        expect(page.locator("#as-of .pill")).to_have_text("Not connected")
        first.stop()
        third.stop()
        context.set_offline(False)
        expect(members(page)).to_have_count(1, timeout=SEEN_WITHIN_MS)
        expect(cells(page, "ok")).to_have_count(ALL, timeout=SEEN_WITHIN_MS)
        expect(page.locator("[data-part=rounds]")).to_contain_text("member left", timeout=SEEN_WITHIN_MS)
        assert was_not_reloaded(page)
        context.close()
        assert instance.stop() == 0
