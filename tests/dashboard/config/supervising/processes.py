"""Waiting for the end of processes that are not our children."""

from __future__ import annotations

import os
import select

LONG_S = 30  # turns a process that never ends into a test that fails


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
