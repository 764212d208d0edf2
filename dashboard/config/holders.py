"""The name under which a process holds a lease, and whether the holder of such a name is known to be gone.

``HOST:PID@PLACE.START``: ``PLACE`` is of the machine's boot and of the PID namespace, ``START`` when the process began,
in ticks since that boot. A number of a process means something in its own namespace alone: containers that share the
name of a host see no processes of each other, and numbers are given again.
"""

from __future__ import annotations

import hashlib
import os
import socket
from functools import cache
from pathlib import Path

PROC = Path("/proc")
PLACE_BYTES = 4
START = 19  # the 22nd field of proc_pid_stat(5), counted behind the command, which may hold anything


def holder_name() -> str:
    """Name this process."""
    pid = os.getpid()
    return f"{_host_and_pid(pid)}@{_place()}.{_start_of(pid) or 0}"


def is_dead(holder: str) -> bool:
    """Whether the process that holds a lease is known to be gone: it ran where this one would see it, and runs no more.

    Of whoever ran elsewhere, and where the system does not tell (there is no /proc), nothing is known.
    """
    who, _, where = holder.rpartition("@")
    place, _, start = where.rpartition(".")
    _, _, pid = who.rpartition(":")
    if not pid.isdecimal() or not start.isdecimal() or who != _host_and_pid(int(pid)) or not place or place != _place():
        return False
    return _start_of(int(pid)) != int(start)


def _host_and_pid(pid: int) -> str:
    return f"{socket.gethostname()}:{pid}"


@cache
def _place() -> str:
    """Give a digest of the boot and the PID namespace that this process is of; empty where they are not told."""
    try:
        boot = (PROC / "sys/kernel/random/boot_id").read_text().strip()
        namespace = str((PROC / "self/ns/pid").readlink())
        is_of_another = str((PROC / "self").readlink()) != str(os.getpid())
    except OSError:
        return ""
    if is_of_another:  # it has the numbers of the namespace in which it was mounted
        return ""
    return hashlib.blake2b(f"{boot} {namespace}".encode(), digest_size=PLACE_BYTES).hexdigest()


def _start_of(pid: int) -> int | None:
    """Say when a process of this namespace began, in ticks since the boot; None: there is none."""
    try:
        stat = (PROC / str(pid) / "stat").read_text(errors="replace")
    except OSError:
        return None
    return int(stat.rpartition(")")[2].split()[START])
