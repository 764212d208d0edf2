import asyncio
import os
import sys
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path

from dashboard.config.supervising.children import Start
from dashboard.config.supervising.lock import HomeLock
from dashboard.config.supervising.machine import Added, Child, Reached, Stop
from dashboard.config.supervising.output import Terminal
from dashboard.config.supervising.running import Runner
from tests.dashboard.config.supervising.processes import ends
from tests.rebalance_engine.network.loop import on_a_loop

TALKS = "import sys, time; print('hello from', sys.argv[1], flush=True); time.sleep(600)"
WITH_CHILD = "import subprocess as s, time; print('child', s.Popen(['sleep', '600']).pid, flush=True); time.sleep(600)"


class Heard(Terminal):
    """A terminal that keeps what it is told."""

    def __init__(self) -> None:
        self.lines: list[tuple[str, str]] = []
        self._changed = asyncio.Event()

    def tell(self, who: str, text: str) -> None:
        self.lines.append((who, text))
        self._changed.set()

    async def until(self, who: str, beginning: str, times: int = 1) -> str:
        """Wait until somebody has said something so often; give the last line."""
        while True:
            found = [text for name, text in self.lines if name == who and text.startswith(beginning)]
            if len(found) >= times:
                return found[-1]
            self._changed.clear()
            await self._changed.wait()


async def _at_once() -> bool:
    return True


@asynccontextmanager
async def runner(home: Path, programs: Mapping[str, str], *children: Child) -> AsyncIterator[tuple[Runner, Heard]]:
    """Run Python programs as children, and stop them."""
    lock = HomeLock(home)
    lock.take("a test")
    heard = Heard()

    def start_of(name: str) -> Start:
        if name not in programs:
            raise FileNotFoundError(f"no program {name}")
        return Start(arguments=(sys.executable, "-S", "-c", programs[name], name), env={}, folder=home)

    running = Runner(heard, lock.descriptor, start_of=start_of, probe_of=lambda _: _at_once)
    task = asyncio.create_task(running.run())
    try:
        for child in children:
            running.hear(Added(child))
        yield running, heard
    finally:
        running.hear(Stop())
        await task
        lock.release()


@on_a_loop
async def test_children_run_say_who_they_are_and_end(tmp_path: Path) -> None:
    first, second = Child(name="A", is_probed=True), Child(name="B", needs=frozenset({"A", "go"}))

    async with runner(tmp_path, {"A": TALKS, "B": TALKS}, first, second) as (running, heard):
        await heard.until("A", "hello from A")
        await heard.until("evenkeel", "A is ready")
        assert ("B", "hello from B") not in heard.lines
        running.hear(Reached("go"))
        await heard.until("B", "hello from B")

    assert ("evenkeel", "stopping") in heard.lines


@on_a_loop
async def test_a_child_that_is_killed_comes_back_and_what_it_had_started_is_gone(tmp_path: Path) -> None:
    async with runner(tmp_path, {"A": WITH_CHILD}, Child(name="A")) as (_, heard):
        grandchild = int((await heard.until("A", "child")).split()[1])

        os.kill(os.getpgid(grandchild), 9)

        await heard.until("evenkeel", "A ended (killed by signal 9)")
        assert await asyncio.to_thread(ends, grandchild)
        again = int((await heard.until("A", "child", times=2)).split()[1])
    assert await asyncio.to_thread(ends, again)


@on_a_loop
async def test_a_child_that_cannot_be_started_is_told_and_tried_again(tmp_path: Path) -> None:
    async with runner(tmp_path, {}, Child(name="A")) as (_, heard):
        assert "no program A" in await heard.until("evenkeel", "A cannot be started", times=2)


@on_a_loop
async def test_a_child_that_does_not_listen_is_killed(tmp_path: Path) -> None:
    deaf = "import signal, time; signal.signal(15, signal.SIG_IGN); print('deaf', flush=True); time.sleep(600)"

    async with runner(tmp_path, {"A": deaf}, Child(name="A", grace_ms=100)) as (_, heard):
        await heard.until("A", "deaf")

    assert ("evenkeel", "A did not end in time: killed") in heard.lines
