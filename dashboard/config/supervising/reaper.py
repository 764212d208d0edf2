"""Ends what is left when the supervisor itself was killed. Runs as a script of its own: it needs nothing but Python.

The supervisor tells it process groups by lines, ``+group`` and ``-group``. When the pipe ends, for whatever reason, all
groups that are left are asked to end, and after ``PATIENCE_S`` killed. It inherits the lock of the home, so that the
home stays taken until nothing of it runs.

A process may have begun of which nothing was told yet: so each has the mark of its supervisor in its environment, by
which it is found (where there is ``/proc``).
"""

from __future__ import annotations

import contextlib
import os
import signal
import sys
import time
from collections.abc import Iterable
from pathlib import Path

MARK = "EVENKEEL_SUPERVISOR"
PATIENCE_S = 10.0
LOOK_EVERY_S = 0.05


def groups_left(lines: Iterable[str]) -> set[int]:
    r"""Read what the supervisor told, up to the end of the pipe, and give the groups that were not ended.

    A line that is cut, because its writer died, says nothing.

    >>> sorted(groups_left(["+71\n", "+72\n", "-71\n", "+7"]))
    [72]
    """
    left: set[int] = set()
    for line in lines:
        sign, number = line[:1], line[1:-1]
        if not line.endswith("\n") or not number.isdigit():
            continue
        if sign == "+":
            left.add(int(number))
        elif sign == "-":
            left.discard(int(number))
    return left


def groups_marked(mark: str) -> set[int]:
    """Find the groups of all processes that have this mark in their environment."""
    found: set[int] = set()
    for process in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            if f"{MARK}={mark}".encode() in (process / "environ").read_bytes().split(b"\0"):
                found.add(os.getpgid(int(process.name)))
    return found


def is_there(group: int) -> bool:
    """Say whether a process group has members."""
    try:
        os.killpg(group, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True


def end(groups: Iterable[int], patience_s: float = PATIENCE_S) -> None:
    """Ask groups to end, wait, and kill what is left."""
    left = {group for group in groups if is_there(group)}
    _tell(left, signal.SIGTERM)
    until = time.monotonic() + patience_s
    while left and time.monotonic() < until:
        time.sleep(LOOK_EVERY_S)
        left = {group for group in left if is_there(group)}
    _tell(left, signal.SIGKILL)


def _tell(groups: Iterable[int], number: signal.Signals) -> None:
    for group in groups:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(group, number)


def main() -> None:
    """Wait for the end of the supervisor."""
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)  # it must outlive whoever is asked to end with a whole terminal
    told, mark = groups_left(sys.stdin), sys.argv[1]
    end(told | groups_marked(mark))
    end(groups_marked(mark))  # what was only about to begin


if __name__ == "__main__":
    main()
