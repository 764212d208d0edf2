"""Ports of this machine on which nobody listens, and which nobody else who asks here is about to use."""

from __future__ import annotations

import contextlib
import os
import random
import socket
import tempfile
import time
from fcntl import LOCK_EX, flock
from pathlib import Path

LOOPBACK = "127.0.0.1"
FROM, BELOW = 10_000, 15_000  # below those that `manage.py up` and the system choose from (ip_local_port_range)
BROKER = (-2, 0, 1)  # a broker listens on its own port, two below (VIP), and one above (replication)
TRIES = 500
GIVEN = Path(tempfile.gettempdir()) / f"evenkeel-ports-{os.getuid()}"
GIVEN_FOR_S = 600  # a server listens long before; a port of one that ended is given again


def free_port(*, beside: tuple[int, ...] = (0,)) -> int:
    """Find a port that is free together with those at the given distances from it.

    A Java server takes up to a minute until it listens: for ten, nobody else on this machine is given these ports.
    """
    GIVEN.mkdir(exist_ok=True)
    with (GIVEN / "lock").open("a") as lock:
        flock(lock, LOCK_EX)
        for _ in range(TRIES):
            port = random.randrange(FROM, BELOW)
            wanted = [port + distance for distance in beside]
            if not any(map(_is_given, wanted)) and all(map(_is_free, wanted)):
                for one in wanted:
                    (GIVEN / str(one)).touch()
                return port
    raise RuntimeError(f"{TRIES} ports between {FROM} and {BELOW} were tried, and none was free")


def accepts(port: int) -> bool:
    """Ask whether somebody listens on a port."""
    with socket.socket() as caller:
        caller.settimeout(1)
        return caller.connect_ex((LOOPBACK, port)) == 0


def _is_given(port: int) -> bool:
    with contextlib.suppress(FileNotFoundError):
        return time.time() - (GIVEN / str(port)).stat().st_mtime < GIVEN_FOR_S
    return False


def _is_free(port: int) -> bool:
    with contextlib.suppress(OSError), socket.socket() as listener:
        # as servers do: a port of connections that ended a moment ago is free
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind((LOOPBACK, port))
        return True
    return False
