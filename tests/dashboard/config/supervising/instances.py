"""``manage.py up`` as a person starts it, and what it says."""

from __future__ import annotations

import http.client
import os
import re
import select
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import urlencode, urlsplit
from urllib.request import HTTPCookieProcessor, Request, build_opener

import pytest

from dashboard.config.home import ROOT

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
        self.url = self.until(r"open (http://(127\.0\.0\.1|\[::1\]):\d+/)").group(1)
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

    def log_in(self) -> str:
        """Log in as the first admin, whose password it has said; give the cookies."""
        password = self.until(r"log in as admin with the password (\S+)").group(1)
        jar = HTTPCookieProcessor()
        opener = build_opener(jar)
        opener.open(f"{self.url}login/", timeout=LONG_S).close()
        token = next(cookie.value for cookie in jar.cookiejar if cookie.name.endswith("-csrf"))
        form = {"username": "admin", "password": password, "csrfmiddlewaretoken": token}
        origin = {"Origin": self.url.rstrip("/")}
        request = Request(f"{self.url}login/", urlencode(form).encode(), origin)  # noqa: S310 - it has said http://
        with opener.open(request, timeout=LONG_S) as page:
            assert urlsplit(page.url).path == "/", page.url
        return "; ".join(f"{cookie.name}={cookie.value}" for cookie in jar.cookiejar)

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
