"""One supervisor for each home: a lock that the kernel takes back whatever happens, and ports that nobody has."""

from __future__ import annotations

import errno
import fcntl
import os
import random
import socket
from collections.abc import Iterable
from ipaddress import ip_address
from pathlib import Path

from dashboard.config.home import unusable

LOOPBACK = "127.0.0.1"
# Below the ports that Linux gives to callers (32768 and up), so that a port that was found free stays free.
PORTS = range(15_000, 32_000)
TRIES = 200


class HomeTaken(Exception):
    """Another supervisor has this home; the message says which."""


class CannotListen(Exception):
    """It cannot be listened there; the message says why, and what is needed."""


class PortTaken(CannotListen):
    """Another program listens there."""


class HomeLock:
    """The lock of a home, held from ``take`` until ``release``, and by whoever inherits ``descriptor``."""

    def __init__(self, home: Path) -> None:
        self._path = home / "run" / "up.lock"
        self.descriptor = -1

    def take(self, word: str) -> None:
        """Take the home; ``word`` says by whom.

        Raises:
            HomeTaken: somebody has it; with their word.
            ImproperlyConfigured: nothing can be written there.
        """
        try:
            self._path.parent.mkdir(mode=0o700, exist_ok=True)
            descriptor = os.open(self._path, os.O_RDWR | os.O_CREAT, 0o600)
        except OSError as error:
            raise unusable(self._path.parents[1], error) from None
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            seen = os.pread(descriptor, 500, 0).decode("utf-8", "replace").strip() or "another process"
            os.close(descriptor)
            home = self._path.parents[1]
            raise HomeTaken(
                f"the home {home} is in use by {seen}; stop that one, or give this one another EVENKEEL_HOME"
            ) from None
        os.ftruncate(descriptor, 0)
        os.pwrite(descriptor, word.encode(), 0)
        self.descriptor = descriptor

    def release(self) -> None:
        """Give our hold of it back; the home is free once everybody who inherited it has ended."""
        if self.descriptor >= 0:
            os.close(self.descriptor)
            self.descriptor = -1


def listen(host: str, port: int) -> socket.socket:
    """Listen for browsers, so that nobody else takes the port while the web process starts, or starts again.

    Raises:
        PortTaken: another program listens there.
        CannotListen: the host is no address of this machine, or the port is not allowed.
    """
    try:
        family, _kind, _protocol, _name, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        listener = socket.socket(family, socket.SOCK_STREAM)
    except (OSError, UnicodeError) as error:  # a name that DNS could not have is a UnicodeError
        why = error.strerror if isinstance(error, OSError) else str(error)
        raise CannotListen(f"--host {host!r}; it needs an address of this machine, or a name of one: {why}") from None
    try:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind(address)
        listener.listen(2_048)
    except OSError as error:
        listener.close()
        raise why_not(host, port, error) from None
    return listener


def why_not(host: str, port: int, error: OSError) -> CannotListen:
    """Say in words why nothing can listen there.

    >>> str(why_not("127.0.0.1", 80, PermissionError(errno.EACCES, "Permission denied")))
    '--port 80; who is not root needs one from 1024 on'
    """
    if error.errno == errno.EADDRINUSE:
        return PortTaken(f"port {port} of {host} is taken by another program; choose another one by --port")
    if error.errno == errno.EADDRNOTAVAIL:
        return CannotListen(
            f"--host {host!r}; it needs an address of this machine: 127.0.0.1 for itself alone, 0.0.0.0 for all it has"
        )
    if error.errno in {errno.EACCES, errno.EPERM}:
        return CannotListen(f"--port {port}; who is not root needs one from 1024 on")
    return CannotListen(f"--host {host!r} --port {port}; nothing can listen there: {error.strerror}")


def in_address(host: str) -> str:
    """Write a host as an address of a page, or a ``Host`` header, names it: IPv6 in brackets, all as loopback.

    >>> in_address("::1"), in_address("::"), in_address("0.0.0.0"), in_address("FD00::0:5"), in_address("shop.example")
    ('[::1]', '[::1]', '127.0.0.1', '[fd00::5]', 'shop.example')
    """
    try:
        seen = ip_address(host)
    except ValueError:
        return host or "localhost"
    if seen.is_unspecified:
        return LOOPBACK if seen.version == 4 else "[::1]"
    return str(seen) if seen.version == 4 else f"[{seen}]"


def free_port(preferred: Iterable[int], luck: random.Random) -> int:
    """Find a port of loopback on which nobody listens.

    Raises:
        PortTaken: none was found.
    """
    for port in [*preferred, *(luck.choice(PORTS) for _ in range(TRIES))]:
        with socket.socket() as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                probe.bind((LOOPBACK, port))
                probe.listen(1)
            except OSError:
                continue
            return port
    raise PortTaken(f"{TRIES} ports of {LOOPBACK} were tried, and all were taken")
