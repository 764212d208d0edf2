"""What ``make test`` runs once more, and what it does not."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.again import MOST, to_run_again

AGAIN = Path(__file__).parents[1] / "again.py"
QUICK = ("-p", "no:django", "-p", "no:playwright", "-p", "no:hypothesispytest")
FAILS = "def test_it():\n    assert False\n"
# As a broker that was late: what it left behind is why the next try finds it in time.
FAILS_ONCE = """
from pathlib import Path

def test_it():
    tried = Path(__file__).with_suffix(".tried")
    was_tried = tried.exists()
    tried.touch()
    assert was_tried
"""


@pytest.mark.parametrize(
    ("files", "code"),
    [
        ({"tests/matrix/test_a.py": FAILS_ONCE}, 0),
        ({"tests/matrix/test_a.py": FAILS_ONCE, "tests/browser/test_b.py": FAILS_ONCE}, 0),
        ({"tests/matrix/test_a.py": FAILS}, 1),
        ({"tests/matrix/test_a.py": FAILS_ONCE, "tests/browser/test_b.py": FAILS}, 1),
        ({"tests/engine/test_a.py": FAILS_ONCE}, 1),
        ({"tests/matrix/test_a.py": FAILS_ONCE, "tests/engine/test_a.py": FAILS_ONCE}, 1),
        ({"tests/matrix/test_a.py": "import nothing_of_this_name"}, 2),
    ],
)
def test_only_what_plays_in_real_time_is_run_once_more_and_must_pass_then(
    tmp_path: Path, files: dict[str, str], code: int
) -> None:
    (tmp_path / "pytest.ini").write_text("[pytest]\naddopts = --import-mode=importlib\n")
    for name, text in files.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)

    ran = subprocess.run(
        [sys.executable, str(AGAIN), *QUICK], cwd=tmp_path, capture_output=True, text=True, check=False, timeout=120
    )

    assert ran.returncode == code, ran.stdout + ran.stderr


def test_names_lose_the_group_they_were_run_in() -> None:
    assert to_run_again(
        [
            "tests/matrix/test_a.py::test_b[a@b-4.9.7]@java-4.9.7",
            "tests/browser/test_c.py::test_d@up",
            "tests/browser/test_e.py::test_f[dark]@browser-1",
            "tests/browser/test_g.py::test_h@browser-0_up",
        ]
    ) == [
        "tests/browser/test_c.py::test_d",
        "tests/browser/test_e.py::test_f[dark]",
        "tests/browser/test_g.py::test_h",
        "tests/matrix/test_a.py::test_b[a@b-4.9.7]",
    ]


def test_many_failures_are_no_bad_luck() -> None:
    names = [f"tests/matrix/test_a.py::test_{number}" for number in range(MOST + 1)]

    assert to_run_again(names[1:]) == sorted(names[1:])
    assert to_run_again(names) == []
