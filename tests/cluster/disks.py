"""Where the store of a real broker may lie: from a disk that is 90 % full on, it refuses every message it is sent."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

IN_MEMORY = Path("/dev/shm")  # noqa: S108 - the one place that is memory, and each store there has a name of its own
MOST_USED = 0.85  # what a broker refuses from is 0.90, and a test run fills the disk as well
NEEDED_BYTES = 2 * 1024**3  # two clusters of two brokers at a time, each with a few files of 16 to 37 MB


class NoRoom(Exception):
    """Neither the disk nor memory has room for a broker's store."""


def used_share(folder: Path) -> float:
    """Give the share of a disk that is used, 0 to 1, as a broker reckons it: of what a user without rights may fill.

    Source: ``UtilAll.getDiskPartitionSpaceUsedPercent``.
    """
    disk = os.statvfs(folder)
    used = disk.f_blocks - disk.f_bfree
    return used / max(1, used + disk.f_bavail)


def free_bytes(folder: Path) -> int:
    """Give how much may still be written to the disk of a folder."""
    disk = os.statvfs(folder)
    return disk.f_bavail * disk.f_frsize


def for_stores(
    folder: Path,
    *,
    in_memory: Path = IN_MEMORY,
    used: Callable[[Path], float] = used_share,
    free: Callable[[Path], int] = free_bytes,
) -> Path:
    """Choose where the stores of a cluster's brokers lie: in its folder, or in memory where the disk is nearly full.

    Raises:
        NoRoom: neither has room.
    """
    if used(folder) <= MOST_USED:
        return folder
    if in_memory.is_dir() and used(in_memory) <= MOST_USED and free(in_memory) >= NEEDED_BYTES:
        return in_memory / f"evenkeel-{folder.name}"
    raise NoRoom(
        f"the disk of {folder} is {used(folder):.0%} full, and brokers refuse messages from 90% on; "
        f"{in_memory} has no {NEEDED_BYTES // 1024**3} GB to spare either"
    )
