"""One Evenkeel from its start to its end: the lock, the socket, what is prepared, the children, the signals."""

from __future__ import annotations

import asyncio
import contextlib
import os
import random
import signal
import socket
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

from asgiref.sync import sync_to_async
from django.conf import settings
from django.db import DatabaseError, connections

from dashboard.common.clock import now_ms
from dashboard.config.home import keep_secret
from dashboard.config.supervising import children, machine, preparing, probes
from dashboard.config.supervising.lock import HomeLock, free_port, listen
from dashboard.config.supervising.output import Terminal
from dashboard.config.supervising.preparer import Preparer, Say, Unprepared
from dashboard.config.supervising.running import Probe, Runner
from dashboard.demo.control import NoDemo, ask_status, ask_to_begin
from dashboard.people.operations import FIRST_ADMIN, make_first_admin
from rebalance_engine.pipeline.java import java_trouble

LOOK_FOR_CLUSTERS_EVERY_S = 5.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """What was asked for on the command line; ``namesrv`` None means the demo."""

    host: str
    port: int
    namesrv: str | None
    cluster: str | None
    is_writable: bool


class Up:
    """Everything of one home.

    Args:
        home: where all data lives.
    """

    def __init__(self, home: Path, asked: Asked) -> None:
        self._home = home
        self._asked = asked
        self._began = time.monotonic()
        self._has_opened = False
        self._luck = random.Random()  # noqa: S311 # it chooses ports
        own_redis = not os.environ.get("REDIS_URL", "").strip()
        self._spark_is_off = java_trouble()
        self._wanted = children.Wanted(
            home=home,
            has_own_redis=own_redis,
            has_demo=asked.namesrv is None,
            has_jobs=self._spark_is_off is None,
        )
        self._password = keep_secret(home, "redis") if own_redis else ""
        self._redis_port = 0
        self._namesrv_port = 0
        self._web: socket.socket | None = None
        self._failure: str | None = None
        self._watched: set[str] = set()

    async def run(self) -> str | None:
        """Run until a signal; give why it could not go on, or None where it ended in order.

        Raises:
            HomeTaken: another one has this home.
            PortTaken, OSError: it cannot listen there.
        """
        lock = HomeLock(self._home)
        lock.take(f"process {os.getpid()}, http://{self._asked.host}:{self._asked.port}/")
        try:
            self._web = listen(self._asked.host, self._asked.port)
            self._choose_ports()
            preparer = Preparer(self._prepare_all)
            try:
                return await self._run(lock, preparer)
            finally:
                preparer.stop()
        finally:
            self._close_web()
            lock.release()

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

    async def _run(self, lock: HomeLock, preparer: Preparer) -> str | None:
        terminal = Terminal(sys.stdout.fileno())
        runner = Runner(
            terminal, lock.descriptor, start_of=self._start_of, probe_of=self._probe_of, on_exit=self._on_exit
        )
        self._runner = runner
        runner.guard(preparer.group)

        def stop() -> None:
            preparer.stop()
            runner.hear(machine.Stop())

        self._take_signals(stop)
        runner.say(f"starting, with everything in {self._home}")
        if self._spark_is_off:
            runner.say(f"Spark is off, so no jobs run over the history: {self._spark_is_off}")
        try:
            async with asyncio.TaskGroup() as tasks:
                for child in children.children(self._wanted):
                    runner.hear(machine.Added(child))
                others = [
                    tasks.create_task(self._prepare(preparer), name="prepare"),
                    tasks.create_task(self._follow_clusters(), name="follow clusters"),
                ]
                await runner.run()
                for other in others:
                    other.cancel()
        finally:
            runner.say("stopped")
            await asyncio.to_thread(terminal.close)
        return self._failure

    def _take_signals(self, stop: Callable[[], None]) -> None:
        loop = asyncio.get_running_loop()
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
            loop.add_signal_handler(number, stop)

    # ---- what must be there first ----

    async def _prepare(self, preparer: Preparer) -> None:
        say = self._runner.say
        try:
            password = await preparer.wait(say)
        except Unprepared as error:
            if not self._runner.supervisor.is_stopping:
                self._failure = f"it cannot start: {error}"
                self._runner.hear(machine.Stop())
            return
        finally:
            self._runner.unguard(preparer.group)
        if password is not None:
            say(f"log in as {FIRST_ADMIN} with the password {password}  (shown this once)")
        say(f"everything is prepared ({self._took()})")
        self._runner.hear(machine.Reached(children.PREPARED))

    def _prepare_all(self, say: Say) -> str | None:
        preparing.prepare_tables(say)
        preparing.prepare_static_files(Path(settings.STATIC_ROOT), say)
        preparing.put_cluster(self._cluster(), now_ms())
        return make_first_admin(now=now_ms())

    def _took(self) -> str:
        return f"{time.monotonic() - self._began:.1f} s"

    def _cluster(self) -> preparing.Asked:
        if self._asked.namesrv is None:
            namesrv = f"127.0.0.1:{self._namesrv_port}"
            return preparing.Asked(name=children.DEMO_CLUSTER, namesrv=namesrv, is_demo=True, is_read_only=False)
        return preparing.Asked(
            name=self._asked.cluster or self._asked.namesrv,
            namesrv=self._asked.namesrv,
            is_demo=False,
            is_read_only=not self._asked.is_writable,
        )

    # ---- a watcher for each cluster ----

    async def _follow_clusters(self) -> None:
        """Start a watcher for each cluster of the database, those that are added later too."""
        while not self._runner.supervisor.is_stopping:
            if self._runner.supervisor.was_ready(children.PREPARED):
                with contextlib.suppress(DatabaseError):  # it is asked again soon
                    self._see_to_watchers(await sync_to_async(self._clusters, thread_sensitive=True)())
                await asyncio.sleep(LOOK_FOR_CLUSTERS_EVERY_S)
            else:
                await asyncio.sleep(0.05)

    def _clusters(self) -> dict[str, bool]:
        try:
            return preparing.clusters_to_watch(has_demo=self._wanted.has_demo)
        finally:
            connections.close_all()

    def _see_to_watchers(self, clusters: dict[str, bool]) -> None:
        if self._runner.supervisor.is_stopping:
            return
        for name in clusters.keys() - self._watched:
            self._runner.hear(machine.Added(children.watcher(name, is_demo=clusters[name])))
        for name in self._watched - clusters.keys():
            self._runner.hear(machine.Removed(f"{children.WATCH}{name}"))
        self._watched = set(clusters)

    # ---- the children ----

    def _start_of(self, name: str) -> children.Start:
        assert self._web is not None, "it listens from the beginning"
        if name == children.REDIS:
            self._write_redis_settings()
        return children.start_of(name, self._wanted, self._places(self._web))

    def _write_redis_settings(self) -> None:
        run = self._home / "run"
        if not self._runner.supervisor.was_ready(children.REDIS):  # who uses it was not told where it is yet
            self._redis_port = free_port([self._redis_port], self._luck)
            (run / "redis.port").write_text(str(self._redis_port))
        path = run / "redis.conf"
        path.touch(mode=0o600)
        path.write_text(children.redis_settings(self._redis_port, self._password, run))

    def _places(self, web: socket.socket) -> children.Places:
        own = f"redis://:{self._password}@127.0.0.1:{self._redis_port}/0"
        return children.Places(
            redis_url=own if self._wanted.has_own_redis else os.environ["REDIS_URL"],
            redis_port=self._redis_port,
            web=web.fileno(),
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
        assert self._web is not None, "it is closed only after the web process has ended"
        host, port = self._web.getsockname()[:2]
        if not await probes.web_answers(host, port):
            return False
        took = "" if self._has_opened else f"  ({self._took()})"  # a web process that starts again says its own time
        self._has_opened = True
        self._runner.say(f"open http://{_shown(self._asked.host)}:{port}/{took}")
        if self._wanted.has_demo:
            with contextlib.suppress(NoDemo):  # one that is not there yet is told as soon as it is
                await ask_to_begin(self._home / "demo")
        return True

    def _on_exit(self, name: str) -> None:
        is_stopping = self._runner.supervisor.is_stopping
        if name == children.WEB and is_stopping:
            self._close_web()
        if name == children.REDIS and not is_stopping:
            self._runner.say(f"why redis ended stands in {self._home / 'run' / children.REDIS_LOG}")

    def _close_web(self) -> None:
        if self._web is not None:
            self._web.close()
            self._web = None


def _shown(host: str) -> str:
    plain = urlsplit(f"//{host}").hostname or host
    return "127.0.0.1" if plain in {"0.0.0.0", "::"} else host  # noqa: S104 # it is not listened on here
