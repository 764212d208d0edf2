"""Run the tests, and what failed of those that play in real time once more, alone: ``again.py [pytest's words]``.

Real clusters, supervised processes and browsers go by their own clocks: where four such plays share two busy cores, a
broker's answer can be late enough for a client to leave it alone for minutes, as it should. What fails beside others
and passes alone is told by name; what fails alone too is a failure. All other tests are by no clock, and fail at once.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path

FAILED = Path(".pytest_cache/v/cache/lastfailed")
# Folders and files whose tests play in real time.
IN_REAL_TIME = (
    "tests/browser/",
    "tests/dashboard/config/management/",
    "tests/dashboard/config/supervising/",
    "tests/dashboard/test_kills.py",
    "tests/matrix/",
)
# What pytest-xdist puts behind a test's name: the group that it was run in.
GROUP = re.compile(r"@(?:java(?:-[\w.]+)?|spark-\d+|browser-\d+(?:_up)?|up)$")
MOST = 25  # more is no bad luck
TESTS_FAILED = 1  # pytest's exit code


def main(words: Sequence[str]) -> int:
    """Run pytest; give the exit code."""
    code = _pytest([*words, "--cache-clear"])
    if code != TESTS_FAILED:
        return code
    chosen = to_run_again(json.loads(FAILED.read_text()))
    if not chosen:
        return code
    told = [f"{len(chosen)} failed beside others, all of tests that play in real time. Once more, alone:", *chosen]
    sys.stdout.write("\n" + "\n  ".join(told) + "\n")
    sys.stdout.flush()
    return _pytest(chosen)


def to_run_again(failed: Iterable[str]) -> list[str]:
    """Name the tests to run once more: none if any of them is by no clock, or if too many failed.

    Args:
        failed: pytest's names of all that failed.
    """
    names = sorted({GROUP.sub("", name) for name in failed})
    is_bad_luck = len(names) <= MOST and all(name.startswith(IN_REAL_TIME) for name in names)
    return names if is_bad_luck else []


def _pytest(words: Sequence[str]) -> int:
    return subprocess.run([sys.executable, "-m", "pytest", *words], check=False).returncode


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
