"""Real brokers refuse messages on a disk that is nearly full; their stores lie elsewhere then."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from tests.cluster import disks


@pytest.mark.parametrize(
    ("on_disk", "expected"), [(0.10, "cluster"), (0.85, "cluster"), (0.86, "shm/evenkeel-cluster")]
)
def test_stores_lie_in_memory_once_the_disk_is_nearly_full(tmp_path: Path, on_disk: float, expected: str) -> None:
    folder, memory = tmp_path / "cluster", tmp_path / "shm"
    memory.mkdir()
    shares = {folder: on_disk, memory: 0.2}
    chosen = disks.for_stores(folder, in_memory=memory, used=shares.__getitem__, free=lambda _: disks.NEEDED_BYTES)
    assert chosen == tmp_path / expected


@pytest.mark.parametrize(("in_memory", "free"), [(0.9, disks.NEEDED_BYTES), (0.0, disks.NEEDED_BYTES - 1)])
def test_where_no_place_has_room_it_says_so(tmp_path: Path, in_memory: float, free: int) -> None:
    folder, memory = tmp_path / "cluster", tmp_path / "shm"
    memory.mkdir()
    shares = {folder: 0.92, memory: in_memory}
    with pytest.raises(disks.NoRoom, match=r"cluster is 92% full, and brokers refuse messages .* 2 GB to spare"):
        disks.for_stores(folder, in_memory=memory, used=shares.__getitem__, free=lambda _: free)


def test_memory_that_is_not_there_is_no_place(tmp_path: Path) -> None:
    with pytest.raises(disks.NoRoom):
        disks.for_stores(tmp_path, in_memory=tmp_path / "none", used=lambda _: 0.92)


def test_a_disk_is_measured_as_the_broker_does(tmp_path: Path) -> None:
    system = shutil.disk_usage(tmp_path)  # what is held back for root counts as neither used nor free
    assert disks.used_share(tmp_path) == pytest.approx(system.used / (system.used + system.free), abs=0.01)
    assert disks.free_bytes(tmp_path) == pytest.approx(system.free, rel=0.05)
