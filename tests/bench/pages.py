"""From a stored change to its message at 100 sockets and to painted cells; the largest map in cells; many groups.

As the product has them, a process each: one stores and rebalances, one serves, Redis between them; one more carries the
100 sockets, and the browser is Chromium, if there is one. No Celery task is waited for: that comes on top, and so does
the network.
"""

from __future__ import annotations

import json
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from queue import Empty, SimpleQueue
from statistics import median
from time import perf_counter, process_time, sleep, time
from typing import TYPE_CHECKING

from rebalance_engine.events import Fact
from tests.bench.report import Row, at_most
from tests.bench.storing import GROUPS, QUEUES, QUICK_GROUPS, _looks, _small

if TYPE_CHECKING:
    from playwright.sync_api import Page

    from tests.bench.painting import Traced

MEMBERS, SOCKETS = 100, 100
JOINS, QUICK_JOINS = 25, 8
APART_S = 1.5  # between two joins: what the page asks for after one is not to disturb the next
AIM_S, PAINT_AIM_S = 0.1, 1.0
LOADS = 7
CELLS_BY = (50, 200)  # members and queues: the largest map that is drawn in cells
ROUNDS, QUICK_ROUNDS = 7, 1
AFTER_MS = 2_500  # within these a page has asked for what no step tells, and drawn it
POINTED, WHEELED = 120, 40
LONGEST_S = 120  # so long something may take on a busy machine; it is measured then, and seen
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
    """Many followers of one stream, in a process of their own: when each step came to the first and to the last."""

    process: subprocess.Popen[str]
    lines: SimpleQueue[str] = field(default_factory=SimpleQueue)

    def wait(self, seq: int) -> tuple[float, float]:
        """Wait until all of them have a step; epoch seconds."""
        while True:
            try:
                told = json.loads(self.lines.get(timeout=LONGEST_S))
            except Empty:
                raise TimeoutError(f"step {seq} did not come to all sockets within {LONGEST_S} s") from None
            if told["seq"] >= seq:
                return told["first"], told["last"]

    def read(self) -> None:
        """Take its lines until it ends."""
        assert self.process.stdout is not None
        for line in self.process.stdout:
            self.lines.put(line)


def run(*, quick: bool) -> Iterator[Row]:
    """Measure a large group's page, what the largest map in cells costs its browser, then the overview."""
    home = tempfile.mkdtemp(prefix="evenkeel-bench-")
    with _redis(home) as url:
        os.environ |= {"DJANGO_SETTINGS_MODULE": "tests.bench.served", "EVENKEEL_TEST_HOME": home, "REDIS_URL": url}
        os.environ["DJANGO_ALLOW_ASYNC_UNSAFE"] = "true"  # Playwright's calls run in an event loop of their own
        import django  # noqa: PLC0415 - the home must be known first

        django.setup()
        from django.db import connection  # noqa: PLC0415 - as above

        try:
            for measure in (_live, _cells, _overview):
                name = connection.creation.create_test_db(verbosity=0, autoclobber=True)
                try:
                    yield from measure(quick=quick)
                finally:
                    connection.creation.destroy_test_db(name, verbosity=0)
        finally:
            shutil.rmtree(home, ignore_errors=True)


@contextmanager
def _redis(home: str) -> Iterator[str]:
    program = shutil.which("redis-server", path=str(Path(sys.executable).parent)) or "redis-server"
    port = _free_port()
    options = ["--port", str(port), "--bind", "127.0.0.1", "--dir", home, "--save", "", "--appendonly", "no"]
    with _running([program, *options]):
        yield f"redis://127.0.0.1:{port}/0"


def _free_port() -> int:
    with socket.socket() as door:
        door.bind(("127.0.0.1", 0))
        port: int = door.getsockname()[1]
        return port


@contextmanager
def _running(command: list[str], **pipes: int) -> Iterator[subprocess.Popen[str]]:
    """Start a program, and end it."""
    process = subprocess.Popen(
        command, text=True, stdout=pipes.get("stdout", subprocess.DEVNULL), stdin=pipes.get("stdin")
    )
    try:
        yield process
    finally:
        process.terminate()
        process.wait(30)


def _live(*, quick: bool) -> Iterator[Row]:
    from dashboard.config.garbage import set_aside  # noqa: PLC0415 - Django is set up now
    from dashboard.groups.models import Group  # noqa: PLC0415
    from dashboard.groups.rebalancing import rebalance_once  # noqa: PLC0415
    from dashboard.push.publish import current_seq, group_stream  # noqa: PLC0415
    from tests.dashboard import story  # noqa: PLC0415

    names = [f"10.0.0.{number}@{4_000 + number}#{number:05d}" for number in range(MEMBERS)]
    story.add_cluster()
    story.told(story.route(QUEUES), *(fact for name in names for fact in story.seen(name)))
    story.told(*_looks(names, 10))
    group = Group.objects.get().pk
    rebalance_once(group=group, now=story.T0 + 20)
    set_aside()  # as a worker does
    stream, cookies = group_stream(group), [_logged_in(f"vera-{number}") for number in range(SOCKETS)]
    stored, first, last, painted = list[float](), list[float](), list[float](), list[float]()
    with (
        ThreadPoolExecutor(1) as worker,  # Playwright's calls run in a loop of this thread
        _served() as base,
        _followed(base, cookies, stream) as sockets,
        _browser(base, cookies[0], f"/groups/{group}/") as page,
    ):
        sockets.wait(current_seq(stream=stream))  # their snapshots
        for number in range(QUICK_JOINS if quick else JOINS):
            sleep(APART_S)
            at, name = 10_000 * (number + 1), f"99.0.0.{number}@1#1"
            news = [story.joined(name, at), story.subscribes(name, at), story.uses(name, at, "AVG")]
            story.told(*news, story.held(name, at + 1, []), at=at + 1)
            begun, counted = time(), perf_counter()
            worker.submit(rebalance_once, group=group, now=story.T0 + at + 2).result(LONGEST_S)
            stored.append(perf_counter() - counted)
            seq = current_seq(stream=stream)
            earliest, latest = sockets.wait(seq)
            first.append(earliest - begun)
            last.append(latest - begun)
            if page is not None:
                painted.append(page(seq) / 1_000 - begun)
    size = f"{QUEUES:,}/{MEMBERS}"
    yield from _percentiles("one joins: stored, to the end of its rebalance", size, stored)
    yield from _percentiles(f"... to the first of {SOCKETS} sockets", size, first)
    yield from _percentiles(f"... to the last of {SOCKETS} sockets", size, last, aim=AIM_S)
    if painted:
        yield from _percentiles("... to painted cells in Chromium", size, painted)


def _cells(*, quick: bool) -> Iterator[Row]:
    if shutil.which("chromium") is None:
        return
    from dashboard.common.clock import now_ms  # noqa: PLC0415 - Django is set up now
    from dashboard.groups.models import Group  # noqa: PLC0415
    from dashboard.groups.rebalancing import rebalance_once  # noqa: PLC0415
    from dashboard.push.publish import current_seq, group_stream  # noqa: PLC0415
    from tests.bench.painting import rows_of, traced  # noqa: PLC0415 - Playwright, only where there is a browser
    from tests.dashboard import story  # noqa: PLC0415

    members, queues = CELLS_BY
    *stay, last = [f"10.0.0.{number}@{4_000 + number}#{number:05d}" for number in range(members)]
    begin = now_ms() - story.T0 - 600_000  # within the time that the page shows
    story.add_cluster()
    story.told(story.route(queues), *(fact for name in stay for fact in story.seen(name)))
    story.told(*_looks(stay, begin, queues), at=begin)
    group = Group.objects.get().pk
    rebalance_once(group=group, now=story.T0 + begin + 10)
    seen: dict[str, list[Traced]] = {}
    with (
        ThreadPoolExecutor(1) as worker,  # Playwright's calls run in a loop of this thread
        _served() as base,
        _chromium(base, _logged_in("vera")) as page,
    ):

        def change(*facts: Fact, at: int) -> None:
            story.told(*facts, at=at)
            worker.submit(rebalance_once, group=group, now=story.T0 + at + 1).result(LONGEST_S)
            page.evaluate(PAINTED, [current_seq(stream=group_stream(group)), LONGEST_S * 1_000])
            page.wait_for_timeout(AFTER_MS)

        def see(what: str, work: Callable[[], object], *, counts_frames: bool = True) -> None:
            seen.setdefault(what, []).append(traced(page, work, counts_frames=counts_frames))

        page.goto(f"/groups/{group}/")
        page.wait_for_selector('#as-of:not([data-mode="away"])')
        page.wait_for_timeout(AFTER_MS)
        for number in range(QUICK_ROUNDS if quick else ROUNDS):
            at = begin + 20_000 * (number + 1)
            news = [story.joined(last, at), story.subscribes(last, at), story.uses(last, at, "AVG")]
            see("one joins", partial(change, *news, story.held(last, at, []), at=at))
            see("all take what they should", partial(change, *_looks([*stay, last], at + 5_000, queues), at=at + 5_000))
            see("one leaves", partial(change, story.left(last, at + 10_000), at=at + 10_000))
            see("all take what they should", partial(change, *_looks(stay, at + 15_000, queues), at=at + 15_000))
            see("5 s in which nothing happens", lambda: page.wait_for_timeout(5_000))
            box = page.locator(".map .cells").bounding_box()
            assert box is not None
            see(f"{POINTED} cells pointed at", partial(_point, page, box["x"], box["y"]))
            see(f"{POINTED} cells by arrow keys", partial(_press, page, POINTED))
            see("page and map scrolled", partial(_wheel, page))
        for _ in range(QUICK_ROUNDS if quick else ROUNDS):
            see("an instant before, by a key", partial(_go_back, page), counts_frames=False)
    for what, each in seen.items():
        yield from rows_of(what, f"{queues}/{members}", each)


def _point(page: Page, x: float, y: float) -> None:
    for number in range(POINTED):
        page.mouse.move(x + 5 + number * 6, y + 10 + number * 13 % 300)


def _press(page: Page, times: int) -> None:
    for number in range(times):
        page.keyboard.press("ArrowDown" if number % 3 == 2 else "ArrowRight")


def _wheel(page: Page) -> None:
    for number in range(WHEELED):
        page.mouse.wheel(0, 60 if number < WHEELED / 2 else -60)
    page.wait_for_timeout(300)


def _go_back(page: Page) -> None:
    address = page.url
    page.keyboard.press("Shift+ArrowLeft")
    page.wait_for_url(lambda url: url != address)
    page.wait_for_selector(".map .cells")
    page.wait_for_timeout(AFTER_MS)


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
    """Start the web process on the same database; give its address once it answers."""
    from django.db import connection  # noqa: PLC0415 - Django is set up now

    os.environ["DATABASE_URL"] = f"sqlite:///{connection.settings_dict['NAME']}"
    port = _free_port()
    try:
        with _running([sys.executable, "manage.py", "web", "--port", str(port)]) as process:
            _wait_until_it_answers(port, process)
            yield f"127.0.0.1:{port}"
    finally:
        del os.environ["DATABASE_URL"]


def _wait_until_it_answers(port: int, process: subprocess.Popen[str]) -> None:
    until = perf_counter() + LONGEST_S
    while perf_counter() < until and process.poll() is None:
        with suppress(OSError), socket.create_connection(("127.0.0.1", port), timeout=1):
            return
        sleep(0.05)
    raise TimeoutError(f"the web process did not answer within {LONGEST_S} s")


@contextmanager
def _followed(base: str, cookies: list[str], stream: str) -> Iterator[Sockets]:
    command = [sys.executable, "-m", "tests.bench.following"]
    with _running(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        asked = {"url": f"ws://{base}/live/", "origin": f"http://{base}", "stream": stream, "cookies": cookies}
        assert process.stdin is not None
        process.stdin.write(json.dumps(asked) + "\n")
        process.stdin.flush()
        sockets = Sockets(process)
        threading.Thread(target=sockets.read, daemon=True).start()
        yield sockets


@contextmanager
def _chromium(base: str, cookie: str) -> Iterator[Page]:
    from playwright.sync_api import sync_playwright  # noqa: PLC0415 - only where a browser is wanted

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=shutil.which("chromium"), args=["--no-sandbox", "--disable-gpu"]
        )
        name, value = cookie.split("=", 1)
        context = browser.new_context(base_url=f"http://{base}", viewport={"width": 1440, "height": 900})
        context.add_cookies([{"name": name, "value": value, "url": f"http://{base}"}])
        context.set_default_timeout(LONGEST_S * 1_000)
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
        page.goto(address)
        page.wait_for_selector('#as-of:not([data-mode="away"])')
        yield lambda seq: float(page.evaluate(PAINTED, [seq, LONGEST_S * 1_000]))


@contextmanager
def _paints(base: str, cookie: str) -> Iterator[Callable[[], float] | None]:
    """Give what loads the overview and says after how many seconds it was painted first."""
    if shutil.which("chromium") is None:
        yield None
        return
    with _chromium(base, cookie) as page:

        def load() -> float:
            page.goto("/", wait_until="load")
            wait = "() => performance.getEntriesByName('first-contentful-paint').length"
            page.wait_for_function(wait)
            said = "performance.getEntriesByName('first-contentful-paint')[0].startTime"
            return float(page.evaluate(said)) / 1_000

        yield load
