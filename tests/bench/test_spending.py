"""What a benchmark says that its processes have used."""

from __future__ import annotations

import pytest

from tests.bench.spending import Process, used_by

JAVA = Process(1, 100.0, 2_700.0, 9_000_000_000)


def test_a_process_and_all_below_it_count_and_no_others() -> None:
    there = {1: Process(0, 1.0, 150.0, 500), 2: JAVA, 3: Process(2, 5.0, 60.0, 300), 9: Process(0, 7.0, 80.0, 400)}

    assert used_by(1, there) == {1: (1.0, 150.0), 2: (100.0, 2_700.0), 3: (5.0, 60.0)}


@pytest.mark.parametrize(
    ("child", "memory_mb"),
    [
        (JAVA._replace(parent=2, cpu_s=0.0, memory_mb=2_699.0), 0.0),
        (Process(2, 0.0, 2_699.0, 4_000_000_000), 2_699.0),  # another program, that is as large by chance
        (Process(2, 0.0, 1.0, 9_000_000_000), 1.0),
    ],
)
def test_a_process_that_is_just_being_started_shows_its_parents_memory_and_none_of_its_own(
    child: Process, memory_mb: float
) -> None:
    found = used_by(1, {1: Process(0, 1.0, 150.0, 500), 2: JAVA, 4: child})

    assert sum(memory for _, memory in found.values()) == 150.0 + 2_700.0 + memory_mb
    assert found[4][0] == 0.0
