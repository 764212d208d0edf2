"""Where things stand: each module has its test, and no file becomes the product."""

import subprocess
from pathlib import Path

from tests.house.project import ROOT, files

PYTHON = [path for path in files("*.py") if path.parent.name != "migrations"]  # those are written by makemigrations
ROOMS = ("rebalance_engine", "dashboard")
NO_DECISIONS = {"apps.py", "admin.py", "settings.py", "urls.py", "asgi.py", "celery.py"}  # lists: tested as a whole
MODULES = [
    path
    for path in PYTHON
    if path.parts[0] in ROOMS
    and path.name != "__init__.py"
    and not (path.parts[0] == "dashboard" and path.name in NO_DECISIONS)
]
MAX_LINES = 400
LONG_FOR_A_REASON: dict[str, str] = {}  # path -> reason


def test_the_modules_are_found() -> None:
    assert Path("rebalance_engine/model.py") in MODULES


def test_every_module_has_its_test() -> None:
    tests = [Path("tests") / module.with_name(f"test_{module.name}") for module in MODULES]

    assert [str(test) for test in tests if not (ROOT / test).is_file()] == []


def test_no_python_file_is_long_without_a_reason() -> None:
    lengths = {str(path): len((ROOT / path).read_text().splitlines()) for path in PYTHON}

    too_long = {path: length for path, length in lengths.items() if length > MAX_LINES}

    assert too_long.keys() == LONG_FOR_A_REASON.keys()


def test_git_tracks_no_link_and_no_virtual_environment() -> None:
    """A link to one machine's folder is broken on every other one; in that folder itself it leads to itself."""
    command = ["git", "-c", "safe.directory=*", "ls-files", "--stage", "-z"]
    tracked = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True).stdout.split("\0")

    assert [entry for entry in tracked if entry.startswith("120000") or "\t.venv" in entry] == []
