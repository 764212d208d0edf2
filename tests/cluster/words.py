"""What a consumer or producer of ours is started with: words like ``group=G``, those of several parted by ``--``."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Iterable
from pathlib import Path

from rebalance_engine.network.settings import NetworkSettings
from rebalance_engine.network.tls import Tls
from rebalance_engine.remoting.acl import Credentials


class Words:
    """The options of one client."""

    def __init__(self, words: Iterable[str]) -> None:
        self._given = dict(word.split("=", 1) for word in words)

    def text(self, name: str, otherwise: str | None = None) -> str:
        value = self._given.get(name, otherwise)
        if value is None:
            raise SystemExit(f"needed {name}=..., saw only {', '.join(self._given)}")
        return value

    def number(self, name: str, otherwise: int) -> int:
        return int(self.text(name, str(otherwise)))

    def flag(self, name: str) -> bool:
        return self.text(name, "false") == "true"

    def network(self) -> NetworkSettings:
        """Read ``acl=access:secret`` and ``tls=FILE``, the certificate that is trusted."""
        acl = None
        if "acl" in self._given:
            access, _, secret = self.text("acl").partition(":")
            acl = Credentials(access_key=access, secret_key=secret)
        tls = Tls(ca=Path(self.text("tls"))) if "tls" in self._given else None
        return NetworkSettings(acl=acl, tls=tls)


def read(words: list[str]) -> list[Words]:
    """Read the options of all clients."""
    clients: list[list[str]] = [[]]
    for word in words:
        if word == "--":
            clients.append([])
        else:
            clients[-1].append(word)
    return [Words(client) for client in clients]


class Stopwatch:
    """Time and processor time since it was made."""

    def __init__(self) -> None:
        self._begun_ns, self._begun_cpu_ns = time.perf_counter_ns(), time.process_time_ns()

    def say(self, name: str, messages: int) -> None:
        """Tell how long so many messages took."""
        took_ns, took_cpu_ns = time.perf_counter_ns() - self._begun_ns, time.process_time_ns() - self._begun_cpu_ns
        say("timed", name=name, messages=messages, ns=took_ns, cpu_ns=took_cpu_ns)


def say(saw: str, **rest: object) -> None:
    """Print one line, as our Java programs do."""
    line = {"ms": time.time_ns() // 1_000_000, "saw": saw, **rest}
    sys.stdout.write(json.dumps(line) + "\n")
    sys.stdout.flush()
