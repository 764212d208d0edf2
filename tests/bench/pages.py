"""From a stored change to its message at 100 sockets and to painted cells; and the overview of thousands of groups.

One process serves, rebalances, and carries the 100 sockets; the browser is Chromium, if there is one. Channels go in
memory and no Celery task is waited for: both come on top, and so does the network.
"""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import socket
import tempfile
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from statistics import median
from time import perf_counter, process_time, sleep, time

from tests.bench.report import Row, at_most
from tests.bench.storing import GROUPS, QUEUES, QUICK_GROUPS, _looks, _small

MEMBERS, SOCKETS = 100, 100
JOINS, QUICK_JOINS = 25, 8
APART_S = 1.5  # between two joins: what the page asks for after one is not to disturb the next
AIM_S, PAINT_AIM_S = 0.1, 1.0
LOADS = 7
PAINTED = """([seq, timeout]) => new Promise((done, fail) => {
  const end = setTimeout(() => fail(new Error(`step ${seq} was not painted`)), timeout);
  const look = () => {
    if (Number(document.body.dataset.seq ?? 0) < seq) return requestAnimationFrame(look);
    requestAnimationFrame(() => {
      clearTimeout(end);
      done(performance.timeOrigin + performance.now());
    });
  };
  look();
})"""


@dataclass
class Sockets:
    """Many followers of one stream, in a thread of their own: when each step came to each of them (epoch seconds)."""

    url: str
    cookies: list[str]
    stream: str
    came: dict[int, list[float]] = field(default_factory=dict)
    changed: threading.Condition = field(default_factory=threading.Condition)

    async def follow(self, origin: str, ready: threading.Event, over: asyncio.Event) -> None:
        from websockets.asyncio.client import connect  # noqa: PLC0415 - comes with the web server
        from websockets.typing import Origin  # noqa: PLC0415 - likewise

        async with asyncio.TaskGroup() as tasks:
            ends = []
            for cookie in self.cookies:
                socket_ = await connect(
                    self.url, origin=Origin(origin), additional_headers={"Cookie": cookie}, max_size=None
                )
                await socket_.send(json.dumps({"follow": self.stream, "seq": None}))
                ends.append((socket_, tasks.create_task(self._read(socket_))))
            ready.set()
            await over.wait()
            for socket_, _task in ends:
                await socket_.close()

    async def _read(self, socket_: object) -> None:
        from dashboard.push.messages import decode  # noqa: PLC0415 - Django is set up now

        async for body in socket_:  # type: ignore[attr-defined] # a connection of websockets
            at = time()
            message = decode(body)
            with self.changed:
                self.came.setdefault(message.seq, []).append(at)
                self.changed.notify_all()

    def wait(self, seq: int, count: int) -> list[float]:
        """Wait until all of them have a step."""
        with self.changed:
            if not self.changed.wait_for(lambda: len(self.came.get(seq, [])) >= count, timeout=60):
                raise TimeoutError(f"step {seq} came to {len(self.came.get(seq, []))} of {count} sockets within 60 s")
            return self.came[seq]


def run(*, quick: bool) -> Iterator[Row]:
    """Measure a large group's page, then the overview."""
    home = tempfile.mkdtemp(prefix="evenkeel-bench-")
    os.environ |= {"DJANGO_SETTINGS_MODULE": "tests.dashboard.settings", "EVENKEEL_TEST_HOME": home}
    os.environ["DJANGO_ALLOW_ASYNC_UNSAFE"] = "true"  # Playwright's calls run in an event loop of their own
    import django  # noqa: PLC0415 - the home must be known first

    django.setup()
    from django.conf import settings  # noqa: PLC0415 - as above
    from django.db import connection  # noqa: PLC0415

    settings.ALLOWED_HOSTS = ["127.0.0.1", "testserver"]
    try:
        for measure in (_live, _overview):
            name = connection.creation.create_test_db(verbosity=0, autoclobber=True)
            try:
                yield from measure(quick=quick)
            finally:
                connection.creation.destroy_test_db(name, verbosity=0)
    finally:
        shutil.rmtree(home, ignore_errors=True)


def _live(*, quick: bool) -> Iterator[Row]:
    from dashboard.groups.models import Group  # noqa: PLC0415 - Django is set up now
    from dashboard.groups.rebalancing import rebalance_once  # noqa: PLC0415
    from dashboard.push.publish import current_seq, group_stream  # noqa: PLC0415
    from tests.dashboard import story  # noqa: PLC0415

    names = [f"10.0.0.{number}@{4_000 + number}#{number:05d}" for number in range(MEMBERS)]
    story.add_cluster()
    story.told(story.route(QUEUES), *(fact for name in names for fact in story.seen(name)))
    story.told(*_looks(names, 10))
    group = Group.objects.get().pk
    rebalance_once(group=group, now=story.T0 + 20)
    stream, cookies = group_stream(group), [_logged_in(f"vera-{number}") for number in range(SOCKETS)]
    stored, first, last, painted = list[float](), list[float](), list[float](), list[float]()
    with (
        ThreadPoolExecutor(1) as worker,  # Playwright's calls run in a loop of this thread
        _served() as base,
        _followed(base, cookies, stream) as sockets,
        _browser(base, cookies[0], f"/groups/{group}/") as page,
    ):
        sockets.wait(current_seq(stream=stream), SOCKETS)  # their snapshots
        for number in range(QUICK_JOINS if quick else JOINS):
            sleep(APART_S)
            at, name = 10_000 * (number + 1), f"99.0.0.{number}@1#1"
            news = [story.joined(name, at), story.subscribes(name, at), story.uses(name, at, "AVG")]
            story.told(*news, story.held(name, at + 1, []), at=at + 1)
            begun, counted = time(), perf_counter()
            worker.submit(rebalance_once, group=group, now=story.T0 + at + 2).result(60)
            stored.append(perf_counter() - counted)
            seq = current_seq(stream=stream)
            came = sockets.wait(seq, SOCKETS)
            first.append(min(came) - begun)
            last.append(max(came) - begun)
            if page is not None:
                painted.append(page(seq) / 1_000 - begun)
    size = f"{QUEUES:,}/{MEMBERS}"
    yield from _percentiles("one joins: stored, to the end of its rebalance", size, stored)
    yield from _percentiles(f"... to the first of {SOCKETS} sockets", size, first)
    yield from _percentiles(f"... to the last of {SOCKETS} sockets", size, last, aim=AIM_S)
    if painted:
        yield from _percentiles("... to painted cells in Chromium", size, painted)


def _overview(*, quick: bool) -> Iterator[Row]:
    from django.test import Client  # noqa: PLC0415 - Django is set up now

    from dashboard.groups.rebalancing import due_groups, rebalance_once  # noqa: PLC0415
    from tests.dashboard import story  # noqa: PLC0415

    count = QUICK_GROUPS if quick else GROUPS
    size = f"{count:,} groups"
    story.add_cluster()
    facts = [fact for number in range(count) for fact in _small(number)]
    for start in range(0, len(facts), 1_000):
        story.told(*facts[start : start + 1_000])
    for group in due_groups(now=story.T0 + 20):
        rebalance_once(group=group, now=story.T0 + 20)
    cookie = _logged_in("vera")
    client = Client(headers={"Cookie": cookie})
    client.cookies.load(cookie)
    assert client.get("/").status_code == 200
    wall, own = list[float](), list[float]()
    for _ in range(LOADS):
        begun, worked = perf_counter(), process_time()
        client.get("/")
        own.append(process_time() - worked)
        wall.append(perf_counter() - begun)
    yield Row("the overview, on the server", size, median(wall), note=f"processor {1e3 * median(own):.0f} ms")
    with _served() as base, _paints(base, cookie) as paint:
        if paint is not None:
            paints = [paint() for _ in range(LOADS)]
            yield Row("the overview, to its first paint", size, median(paints), aim=at_most(PAINT_AIM_S))


def _percentiles(what: str, size: str, times: list[float], aim: float | None = None) -> Iterator[Row]:
    ordered = sorted(times)
    yield Row(f"{what}, p50", size, median(ordered), note=f"{len(ordered)} rounds, load {os.getloadavg()[0]:.1f}")
    yield Row(
        f"{what}, p99", size, ordered[int(0.99 * (len(ordered) - 1) + 0.5)], aim=None if aim is None else at_most(aim)
    )


def _logged_in(name: str) -> str:
    """Give the cookie of somebody who may see everything."""
    from django.conf import settings  # noqa: PLC0415 - Django is set up now
    from django.test import Client  # noqa: PLC0415

    from dashboard.people.roles import Role  # noqa: PLC0415
    from tests.dashboard.persons import person  # noqa: PLC0415

    client = Client()
    client.force_login(person(Role.VIEWER, name=name))
    return f"{settings.SESSION_COOKIE_NAME}={client.cookies[settings.SESSION_COOKIE_NAME].value}"


@contextmanager
def _served() -> Iterator[str]:
    import uvicorn  # noqa: PLC0415 - Django is set up now

    from dashboard.config.asgi import application  # noqa: PLC0415

    with socket.socket() as door:
        door.bind(("127.0.0.1", 0))
        site = uvicorn.Server(uvicorn.Config(application, lifespan="off", log_level="error", ws="websockets-sansio"))
        thread = threading.Thread(target=partial(site.run, sockets=[door]), daemon=True)
        thread.start()
        try:
            yield f"127.0.0.1:{door.getsockname()[1]}"
        finally:
            site.should_exit = True
            thread.join(20)


@contextmanager
def _followed(base: str, cookies: list[str], stream: str) -> Iterator[Sockets]:
    sockets, ready = Sockets(f"ws://{base}/live/", cookies, stream), threading.Event()
    loop, over = asyncio.new_event_loop(), asyncio.Event()
    work = sockets.follow(f"http://{base}", ready, over)
    thread = threading.Thread(target=partial(loop.run_until_complete, work), daemon=True)
    thread.start()
    try:
        if not ready.wait(60):
            raise TimeoutError(f"{SOCKETS} sockets were not open after 60 s")
        yield sockets
    finally:
        loop.call_soon_threadsafe(over.set)
        thread.join(20)


@contextmanager
def _chromium(base: str, cookie: str) -> Iterator[object]:
    from playwright.sync_api import sync_playwright  # noqa: PLC0415 - only where a browser is wanted

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=shutil.which("chromium"), args=["--no-sandbox", "--disable-gpu"]
        )
        name, value = cookie.split("=", 1)
        context = browser.new_context(base_url=f"http://{base}", viewport={"width": 1440, "height": 900})
        context.add_cookies([{"name": name, "value": value, "url": f"http://{base}"}])
        try:
            yield context.new_page()
        finally:
            browser.close()


@contextmanager
def _browser(base: str, cookie: str, address: str) -> Iterator[Callable[[int], float] | None]:
    """Give what waits for a step to be painted, and says when (epoch ms); None where there is no Chromium."""
    if shutil.which("chromium") is None:
        yield None
        return
    with _chromium(base, cookie) as page:
        page.goto(address)  # type: ignore[attr-defined] # a page of Playwright
        page.wait_for_selector('#as-of:not([data-mode="away"])')  # type: ignore[attr-defined]
        yield lambda seq: float(page.evaluate(PAINTED, [seq, 60_000]))  # type: ignore[attr-defined]


@contextmanager
def _paints(base: str, cookie: str) -> Iterator[Callable[[], float] | None]:
    """Give what loads the overview and says after how many seconds it was painted first."""
    if shutil.which("chromium") is None:
        yield None
        return
    with _chromium(base, cookie) as page:

        def load() -> float:
            page.goto("/", wait_until="load")  # type: ignore[attr-defined]
            wait = "() => performance.getEntriesByName('first-contentful-paint').length"
            page.wait_for_function(wait)  # type: ignore[attr-defined]
            said = "performance.getEntriesByName('first-contentful-paint')[0].startTime"
            return float(page.evaluate(said)) / 1_000  # type: ignore[attr-defined]

        yield load
