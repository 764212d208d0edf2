"""One Evenkeel from its start to its end: what is prepared, the children, the signals.

It loads no Django before the first page: so the processes that pages wait for start within the first second, side by
side. ``_prepare_all`` loads it in the process that prepares, ``_look_for_clusters`` later, in a thread.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import random
import signal
import sys
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import django

from dashboard.config.home import keep_secret
from dashboard.config.supervising import children, machine, probes
from dashboard.config.supervising.door import Door
from dashboard.config.supervising.lock import free_port
from dashboard.config.supervising.output import Terminal
from dashboard.config.supervising.preparer import Preparer, Teller, Unprepared
from dashboard.config.supervising.running import Probe, Runner
from dashboard.demo.control import NoDemo, ask_status, ask_to_begin
from rebalance_engine.pipeline.java import spark_trouble

FIRST_LOOK_FOR_CLUSTERS_S = 15.0  # after the first page: what starts then is not to be held up
LOOK_FOR_CLUSTERS_EVERY_S = 5.0
Clusters = dict[str, bool]  # those to watch: their names, and whether each is the demo


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """What was asked for on the command line; ``namesrv`` None means the demo."""

    host: str
    namesrv: str | None
    cluster: str | None
    is_writable: bool


class Up:
    """Everything of one home.

    Args:
        home: where all data lives.
        door: where browsers come; it is given back at the end.
    """

    def __init__(self, home: Path, asked: Asked, door: Door) -> None:
        self._home = home
        self._asked = asked
        self._door = door
        self._gate, self._gate_key = -1, -1
        self._has_opened = False
        self._luck = random.Random()  # noqa: S311 # it chooses ports
        own_redis = not os.environ.get("REDIS_URL", "").strip()
        self._spark_is_off = spark_trouble()
        self._wanted = children.Wanted(
            home=home,
            has_own_redis=own_redis,
            has_demo=asked.namesrv is None,
            has_jobs=self._spark_is_off is None,
        )
        self._password = keep_secret(home, "redis") if own_redis else ""
        self._redis_port = 0
        self._namesrv_port = 0
        self._failure: str | None = None
        self._watched: set[str] = set()
        self._tasks: asyncio.TaskGroup

    async def run(self) -> str | None:
        """Run until a signal; give why it could not go on, or None where it ended in order."""
        try:
            self._choose_ports()
            preparer = Preparer(self._prepare_all)
            self._gate, self._gate_key = os.pipe()  # after the fork: it ends once nobody has the key
            try:
                return await self._run(preparer)
            finally:
                preparer.stop()
        finally:
            self._door.leave()

    def _choose_ports(self) -> None:
        """Take the ports of the last run where they are free: clients of the demo find it again."""
        if self._wanted.has_own_redis:
            self._redis_port = free_port(self._kept("redis"), self._luck)
        if self._wanted.has_demo:
            self._namesrv_port = free_port(self._kept("namesrv"), self._luck)
            (self._home / "run" / "namesrv.port").write_text(str(self._namesrv_port))

    def _kept(self, name: str) -> list[int]:
        path = self._home / "run" / f"{name}.port"
        text = path.read_text().strip() if path.is_file() else ""
        return [int(text)] if text.isdigit() and int(text) < 65_536 else []

    async def _run(self, preparer: Preparer[Clusters]) -> str | None:
        terminal = Terminal(sys.stdout.fileno())
        runner = Runner(
            terminal,
            self._door.lock.descriptor,
            start_of=self._start_of,
            probe_of=self._probe_of,
            on_exit=self._on_exit,
        )
        self._runner = runner
        runner.guard(preparer.group)

        def stop() -> None:
            preparer.stop()
            runner.hear(machine.Stop())
            if not self._has_opened:
                self._door.shut()

        self._take_signals(stop)
        runner.say(f"starting, with everything in {self._home}")
        runner.say(f"how far it is stands from now on at {self._door.address}")
        if self._spark_is_off:
            runner.say(f"Spark is off, so no jobs run over the history: {self._spark_is_off}")
        try:
            async with asyncio.TaskGroup() as tasks:
                self._tasks = tasks
                for child in children.children(self._wanted):
                    runner.hear(machine.Added(child))
                asked = self._cluster()
                self._see_to_watchers({asked.name: asked.is_demo})
                preparing = tasks.create_task(self._prepare(preparer), name="prepare")
                await runner.run()
                preparing.cancel()
        finally:
            runner.say("stopped")
            await asyncio.to_thread(terminal.close)
        return self._failure

    def _take_signals(self, stop: Callable[[], None]) -> None:
        loop = asyncio.get_running_loop()
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
            loop.add_signal_handler(number, stop)

    # ---- what must be there first ----

    async def _prepare(self, preparer: Preparer[Clusters]) -> None:
        say = self._runner.say
        try:
            clusters = await preparer.wait(say, self._door.show)
        except Unprepared as error:
            if not self._runner.supervisor.is_stopping:
                self._failure = f"it cannot start: {error}"
                self._runner.hear(machine.Stop())
            return
        finally:
            self._runner.unguard(preparer.group)
        say(f"everything is prepared ({self._took()})")
        self._see_to_watchers(clusters)  # one that waits yet may be called otherwise here
        os.close(self._gate_key)
        self._runner.hear(machine.Reached(children.PREPARED))

    def _prepare_all(self, told: Teller) -> Clusters:
        django.setup()
        from dashboard.config.supervising import preparing  # noqa: PLC0415 # after Django is set up, and only here

        return preparing.prepare(self._cluster(), told)

    def _took(self) -> str:
        return f"{time.monotonic() - self._door.began:.1f} s"

    def _cluster(self) -> children.AskedCluster:
        if self._asked.namesrv is None:
            namesrv = f"127.0.0.1:{self._namesrv_port}"
            return children.AskedCluster(name=children.DEMO_CLUSTER, namesrv=namesrv, is_demo=True, is_read_only=False)
        return children.AskedCluster(
            name=self._asked.cluster or self._asked.namesrv.partition(";")[0],
            namesrv=self._asked.namesrv,
            is_demo=False,
            is_read_only=not self._asked.is_writable,
            is_named=bool(self._asked.cluster),
        )

    # ---- a watcher for each cluster ----

    def _follow_clusters(self) -> None:
        """Start a watcher for each cluster that is added later: by a thread of its own, which ends with the process."""
        loop = asyncio.get_running_loop()
        threading.Thread(target=self._look_for_clusters, args=(loop,), name="clusters", daemon=True).start()

    def _look_for_clusters(self, loop: asyncio.AbstractEventLoop) -> None:
        time.sleep(FIRST_LOOK_FOR_CLUSTERS_S)
        django.setup()
        from dashboard.config.supervising.preparing import clusters_now  # noqa: PLC0415 # after Django is set up

        with contextlib.suppress(RuntimeError):  # the loop is closed: all has ended
            while True:
                clusters = clusters_now(has_demo=self._wanted.has_demo)
                if clusters is not None:
                    loop.call_soon_threadsafe(self._see_to_watchers, clusters)
                time.sleep(LOOK_FOR_CLUSTERS_EVERY_S)

    def _see_to_watchers(self, clusters: Clusters) -> None:
        if self._runner.supervisor.is_stopping:
            return
        ended = {name for name in self._watched if self._runner.supervisor.is_gone(f"{children.WATCH}{name}")}
        for name in clusters.keys() - (self._watched - ended):  # one that was put aside, or deleted, may be back
            self._runner.hear(machine.Added(children.watcher(name, is_demo=clusters[name])))
        for name in self._watched - clusters.keys():
            self._runner.hear(machine.Removed(f"{children.WATCH}{name}"))
        self._watched = set(clusters)

    # ---- the children ----

    def _start_of(self, name: str) -> children.Start:
        if name == children.REDIS:
            self._write_redis_settings()
        if name == children.WEB:
            self._door.show("pages", "doing")
        return children.start_of(name, self._wanted, self._places())

    def _write_redis_settings(self) -> None:
        run = self._home / "run"
        if not self._runner.supervisor.was_ready(children.REDIS):  # who uses it was not told where it is yet
            self._redis_port = free_port([self._redis_port], self._luck)
            (run / "redis.port").write_text(str(self._redis_port))
        path = run / "redis.conf"
        path.touch(mode=0o600)
        path.write_text(children.redis_settings(self._redis_port, self._password, run))

    def _places(self) -> children.Places:
        own = f"redis://:{self._password}@127.0.0.1:{self._redis_port}/0"
        return children.Places(
            redis_url=own if self._wanted.has_own_redis else os.environ["REDIS_URL"],
            redis_port=self._redis_port,
            host=self._asked.host,
            web=self._door.listener.fileno(),
            door=self._door.knocker.fileno(),
            gate=self._gate,
            namesrv_port=self._namesrv_port,
        )

    def _probe_of(self, name: str) -> Probe:
        if name == children.REDIS:
            return lambda: probes.redis_answers(self._redis_port, self._password)
        if name == children.DEMO:
            return self._demo_answers
        return self._web_answers

    async def _demo_answers(self) -> bool:
        plays = await ask_status(self._home / "demo")
        if plays and self._has_opened:  # it starts again, or was slower than the page
            await ask_to_begin(self._home / "demo")
        return plays

    async def _web_answers(self) -> bool:
        host, port = self._door.listener.getsockname()[:2]
        if not await probes.web_answers(host, port):
            return False
        took = "" if self._has_opened else f"  ({self._took()})"  # a web process that starts again says its own time
        self._runner.say(f"open {self._door.address}{took}")
        if not self._has_opened:
            self._has_opened = True
            self._follow_clusters()
        self._tasks.create_task(asyncio.to_thread(self._door.see_off), name="doorkeeper")
        if self._wanted.has_demo:
            with contextlib.suppress(NoDemo):  # one that is not there yet is told as soon as it is
                await ask_to_begin(self._home / "demo")
        return True

    def _on_exit(self, name: str, status: int) -> None:
        is_stopping = self._runner.supervisor.is_stopping
        if name == children.WEB:
            self._door.shut() if is_stopping else self._door.keep()
        if name == children.REDIS and status > 0 and not is_stopping:  # one that was killed wrote nothing of it
            self._runner.say(f"why redis ended stands in {self._home / 'run' / children.REDIS_LOG}")
