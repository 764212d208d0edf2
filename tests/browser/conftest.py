"""A real server on a free port, and a real browser in which a person is logged in."""

from __future__ import annotations

import os
import shutil
import socket
import threading
from collections.abc import Callable, Iterator

import pytest
import uvicorn
from django.db import connection
from playwright.sync_api import Browser, BrowserContext, Page, expect, sync_playwright

from dashboard.clusters.models import Cluster
from dashboard.common.clock import now_ms
from dashboard.config.asgi import application
from dashboard.groups.models import Group
from dashboard.people.roles import Role
from tests.browser.elsewhere import rebalanced, told
from tests.dashboard.persons import PASSWORD, person
from tests.dashboard.story import add_cluster, held, route, seen

os.environ["DJANGO_ALLOW_ASYNC_UNSAFE"] = "true"  # Playwright's calls run in an event loop of their own
FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking"]
expect.set_options(timeout=30_000)


@pytest.fixture
def server(transactional_db: None) -> Iterator[str]:  # noqa: ARG001 - another thread reads the database
    """Serve the whole site, web socket included, from a thread."""
    with socket.socket() as door:
        door.bind(("127.0.0.1", 0))
        config = uvicorn.Config(application, lifespan="off", log_level="warning", ws="websockets-sansio")
        site = uvicorn.Server(config)
        started = threading.Event()

        async def note_the_start() -> None:
            started.set()

        config.callback_notify, config.timeout_notify = note_the_start, 0
        thread = threading.Thread(target=lambda: site.run(sockets=[door]), daemon=True)
        thread.start()
        assert started.wait(20), "the server did not start"
        yield f"http://127.0.0.1:{door.getsockname()[1]}"
        site.should_exit = True
        thread.join(20)


@pytest.fixture(scope="session")
def chromium() -> Iterator[Browser]:
    program = shutil.which("chromium")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=program, args=FLAGS)
        yield browser
        browser.close()


@pytest.fixture
def context(chromium: Browser, server: str) -> Iterator[BrowserContext]:
    context = chromium.new_context(base_url=server, viewport={"width": 1440, "height": 900})
    yield context
    context.close()


@pytest.fixture
def page(context: BrowserContext) -> Iterator[Page]:
    """A page of somebody who is logged in; what the browser complains about fails the test."""
    page = context.new_page()
    complaints: list[str] = []
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.on("console", lambda message: complaints.append(message.text) if message.type == "error" else None)
    page.on("dialog", lambda dialog: complaints.append(f"a dialog: {dialog.message}"))
    person(Role.VIEWER, name="vera")
    page.goto("/login/")
    page.get_by_label("Name").fill("vera")
    page.get_by_label("Password").fill(PASSWORD)
    page.get_by_role("button", name="Log in").click()
    expect(page.get_by_role("heading", name="Overview")).to_be_visible()
    yield page
    refused = ("status of 409", "status of 422", "status of 429")
    expected = ("ERR_INTERNET_DISCONNECTED", "WebSocket connection", *refused)  # tests cut lines and are refused
    assert [each for each in complaints if not any(words in each for words in expected)] == []


@pytest.fixture
def turn(server: str) -> Callable[[int], Group]:  # noqa: ARG001 - whoever looks is there first
    """Two members share four queues by AVG; give what rebalances them at a later time."""
    add_cluster()
    Cluster.objects.update(watched_at=now_ms() + 3_600_000)  # it answers all the while
    told(route(4), *seen("A"), *seen("B"), held("A", 10, [0, 1]), held("B", 10, [2, 3]))
    rebalanced("g", 20)
    return lambda at: rebalanced("g", at)


@pytest.fixture
def forgotten(transactional_db: None) -> Iterator[None]:  # noqa: ARG001 - it is emptied after this
    """Forget what was ordered: the audit log lets nobody delete, not even the end of a test."""
    yield
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT name, sql FROM sqlite_master WHERE type = 'trigger' AND tbl_name = %s", ["audit_auditentry"]
        )
        triggers = cursor.fetchall()
        for name, _sql in triggers:
            cursor.execute(f"DROP TRIGGER {name}")
        cursor.execute("DELETE FROM audit_auditentry")
        for _name, sql in triggers:
            cursor.execute(sql)
