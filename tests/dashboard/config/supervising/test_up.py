"""``manage.py up`` as a person starts it: on an empty home, with real processes."""

from __future__ import annotations

import http.client
import os
import re
import select
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from dashboard.config.home import ROOT
from tests.dashboard.config.supervising.processes import ends

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("up")]
MOST_LOOKS = 1_000  # at figures, each after a quarter of a second or a line
LONG_S = 240  # turns a start that never ends into a test that fails


class Instance:
    """One ``manage.py up``, and what it says."""

    def __init__(self, home: Path, *arguments: str) -> None:
        env = {name: value for name, value in os.environ.items() if name not in {"REDIS_URL", "DATABASE_URL"}}
        self.process = subprocess.Popen(
            [sys.executable, str(ROOT / "manage.py"), "up", "--port", "0", *arguments],
            env={**env, "EVENKEEL_HOME": str(home), "DJANGO_SETTINGS_MODULE": "dashboard.config.settings"},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
        )
        self.said = ""
        self.url = ""

    def until(self, pattern: str) -> re.Match[str]:
        """Read on until a line fits."""
        assert self.process.stdout is not None
        while (found := re.search(pattern, self.said, re.MULTILINE)) is None:
            assert select.select([self.process.stdout], [], [], LONG_S)[0], f"no {pattern!r} in {self.said}"
            data = os.read(self.process.stdout.fileno(), 65_536)
            assert data, f"it ended before {pattern!r}: {self.said}"
            self.said += data.decode()
        return found

    def listen(self, within_s: float) -> None:
        """Take in what it says, if it says anything by then."""
        assert self.process.stdout is not None
        if select.select([self.process.stdout], [], [], within_s)[0]:
            self.said += os.read(self.process.stdout.fileno(), 65_536).decode(errors="replace")

    def open(self) -> str:
        """Wait for the first page; give the address."""
        self.url = self.until(r"open (http://127\.0\.0\.1:\d+/)").group(1)
        return self.url

    def get(self, path: str) -> tuple[int, str, str]:
        """Ask for a page: status, where it leads, text."""
        connection = http.client.HTTPConnection(urlsplit(self.url).netloc, timeout=LONG_S)
        try:
            connection.request("GET", path)
            answer = connection.getresponse()
            return answer.status, answer.getheader("Location", ""), answer.read().decode()
        finally:
            connection.close()

    def children(self) -> dict[str, int]:
        """Give the processes of it that run, by what they are."""
        found = {}
        for folder in Path("/proc").glob("[0-9]*"):
            try:
                words = (folder / "cmdline").read_bytes().decode(errors="replace")
                parent = (folder / "stat").read_text().rpartition(")")[2].split()[1]
            except OSError:
                continue
            if int(parent) == self.process.pid:
                kinds = (
                    "redis-server",
                    "dashboard.demo",
                    "watch_cluster",
                    "web",
                    "queues=jobs",
                    "worker",
                    "beat",
                    "reaper",
                )
                found[next((kind for kind in kinds if kind in words), words)] = int(folder.name)
        return found

    def started(self, *kinds: str) -> dict[str, int]:
        """Give its processes once these are among them."""
        for _ in range(MOST_LOOKS):
            if set(kinds) <= set(processes := self.children()):
                return processes
            self.listen(0.25)
        pytest.fail(f"of {kinds} there are only {set(processes)}: {self.said}")

    def stop(self, number: signal.Signals = signal.SIGTERM) -> int:
        """Stop it, and read what it says to its end."""
        self.process.send_signal(number)
        assert self.process.stdout is not None
        rest, _ = self.process.communicate(timeout=LONG_S)
        self.said += rest.decode()
        return self.process.returncode


@contextmanager
def up(home: Path, *arguments: str) -> Iterator[Instance]:
    instance = Instance(home, *arguments)
    try:
        yield instance
    finally:
        if instance.process.poll() is None:
            instance.process.terminate()
            instance.process.communicate(timeout=LONG_S)
        assert instance.process.stdout is not None
        instance.process.stdout.close()


@pytest.fixture(scope="module")
def prepared(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Give a home in which it was started before, to be copied."""
    home = tmp_path_factory.mktemp("first") / "home"
    with up(home) as first:
        first.open()
        assert first.stop() == 0
    return home


def test_alone_on_an_empty_home_it_serves_pages_and_counts_the_demos_first_round(tmp_path: Path) -> None:
    with up(tmp_path / "home") as first:
        first.open()

        assert first.get("/healthz")[0] == 200
        status, place, _ = first.get("/")
        assert (status, urlsplit(place).path) == (302, "/login/")
        assert first.get("/login/")[0] == 200
        assert re.search(r"log in as admin with the password \S{20} ", first.said)
        for _ in range(MOST_LOOKS):
            if rounds(first.get("/metrics")[2]):
                break
            first.listen(0.25)
        else:
            pytest.fail(f"no round was counted: {first.said}")


def rounds(metrics: str) -> float:
    """Add the rounds of all groups up."""
    return sum(float(line.split()[-1]) for line in metrics.splitlines() if line.startswith("rebalance_total"))


def test_it_stops_in_order_leaves_no_process_and_starts_again_where_it_was(prepared: Path, tmp_path: Path) -> None:
    home = tmp_path / "home"
    shutil.copytree(prepared, home)
    with up(home) as again:
        again.open()
        processes = again.started("redis-server", "dashboard.demo", "web", "worker", "beat")

        assert again.stop() == 0
        assert all(map(ends, processes.values()))
        assert "killed" not in again.said
        assert "password" not in again.said
        assert "collecting" not in again.said


def test_a_process_that_is_killed_comes_back(prepared: Path, tmp_path: Path) -> None:
    home = tmp_path / "home"
    shutil.copytree(prepared, home)
    with up(home) as instance:
        instance.open()

        for name, kind in (("web", "web"), ("redis", "redis-server"), ("worker", "worker")):
            killed = instance.started(kind)[kind]
            os.kill(killed, signal.SIGKILL)
            instance.until(rf"{name} ended \(killed by signal 9\)")
        instance.until(r"(?s)web ended .*web is ready")
        instance.until(r"(?s)redis ended .*redis is ready")

        assert instance.get("/healthz")[0] == 200
        opened = re.findall(r"open http://[^ ]+/(.*)", instance.said)
        assert len(opened) > 1 and opened[0].strip() and not any(map(str.strip, opened[1:]))  # its age is told once


def test_nothing_is_left_when_the_supervisor_itself_is_killed(prepared: Path, tmp_path: Path) -> None:
    home = tmp_path / "home"
    shutil.copytree(prepared, home)
    with up(home) as instance:
        instance.open()
        processes = instance.started("worker", "beat")

        instance.stop(signal.SIGKILL)

        assert all(map(ends, processes.values()))
    with up(home) as after:
        after.open()


def test_two_run_side_by_side_and_a_second_one_of_a_home_is_refused(prepared: Path, tmp_path: Path) -> None:
    shutil.copytree(prepared, tmp_path / "east")
    shutil.copytree(prepared, tmp_path / "west")
    with up(tmp_path / "east") as east, up(tmp_path / "west") as west:
        assert east.open() != west.open()

        assert east.get("/healthz")[0] == west.get("/healthz")[0] == 200
        with up(tmp_path / "east") as third:
            third.until(rf"the home {tmp_path / 'east'} is in use by process {east.process.pid}, ")
            assert third.process.wait(LONG_S) == 1


def test_a_port_that_is_taken_is_refused_with_a_clear_word(prepared: Path, tmp_path: Path) -> None:
    shutil.copytree(prepared, tmp_path / "east")
    shutil.copytree(prepared, tmp_path / "west")
    with up(tmp_path / "east") as east:
        port = urlsplit(east.open()).port
        with up(tmp_path / "west", "--port", str(port)) as west:
            west.until(rf"port {port} of 127\.0\.0\.1 is taken by another program")
            assert west.process.wait(LONG_S) == 1


def test_over_a_real_cluster_it_starts_no_demo(prepared: Path, tmp_path: Path) -> None:
    shutil.copytree(prepared, tmp_path / "home")
    with up(tmp_path / "home", "--namesrv", "127.0.0.1:1;127.0.0.1:2") as real:
        real.open()

        assert "dashboard.demo" not in real.children()
