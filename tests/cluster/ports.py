"""Ports of this machine on which nobody listens."""

from __future__ import annotations

import contextlib
import random
import socket

LOOPBACK = "127.0.0.1"
FROM, BELOW = 21_000, 31_000  # below those that the system hands out by itself (ip_local_port_range)
BROKER = (-2, 0, 1)  # a broker listens on its own port, two below (VIP), and one above (replication)
TRIES = 500


def free_port(*, beside: tuple[int, ...] = (0,)) -> int:
    """Find a port that is free together with those at the given distances from it."""
    for _ in range(TRIES):
        port = random.randrange(FROM, BELOW)
        if all(_is_free(port + distance) for distance in beside):
            return port
    raise RuntimeError(f"{TRIES} ports between {FROM} and {BELOW} were tried, and none was free")


def accepts(port: int) -> bool:
    """Ask whether somebody listens on a port."""
    with socket.socket() as caller:
        caller.settimeout(1)
        return caller.connect_ex((LOOPBACK, port)) == 0


def _is_free(port: int) -> bool:
    with contextlib.suppress(OSError), socket.socket() as listener:
        # as servers do: a port of connections that ended a moment ago is free
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind((LOOPBACK, port))
        return True
    return False
