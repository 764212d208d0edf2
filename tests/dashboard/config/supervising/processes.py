"""Waiting for the end of processes that are not our children, and which children a process has."""

from __future__ import annotations

import os
import select
from pathlib import Path

LONG_S = 90  # turns a process that never ends into a test that fails, also beside three others


def ends(pid: int) -> bool:
    """Wait until a process has ended; False if it has not for long."""
    try:
        process = os.pidfd_open(pid)
    except ProcessLookupError:
        return True
    try:
        return bool(select.select([process], [], [], LONG_S)[0])
    finally:
        os.close(process)


def children_of(pid: int) -> set[int]:
    """Give the children of a process, also those that ended and that nobody waited for."""
    found = set()
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            parent = (folder / "stat").read_text().rpartition(")")[2].split()[1]
        except OSError:
            continue
        if int(parent) == pid:
            found.add(int(folder.name))
    return found
