"""What holds for every test: which programs a marked test needs, in which order tests run, how hypothesis behaves."""

import os
import shutil
from collections.abc import Generator, Iterable
from pathlib import Path

import pytest
from hypothesis import settings

pytest_plugins = ["pytester"]

IN_CI = os.environ.get("CI") == "true"
PARTS = {"spark": 2, "browser": 2}  # processes: in one they take longest, and come last while others have nothing to do
PROGRAMS = {"java": ("javac", "mvn"), "spark": ("java",), "browser": ("chromium",)}

# No deadline: a test that measures the wall clock fails on a busy machine.
settings.register_profile("default", deadline=None)
# Random in CI too, where it finds more; a failure prints what reproduces it.
settings.register_profile("ci", deadline=None, derandomize=False, print_blob=True)
settings.load_profile("ci" if IN_CI else "default")


def postgres_programs() -> Path | None:
    """Find the folder of PostgreSQL's programs; Debian keeps it off the PATH. The newest release is taken."""
    folders = sorted(Path("/usr/lib/postgresql").glob("*/bin"), key=lambda folder: int(folder.parent.name))
    on_path = shutil.which("initdb")
    found = [folder for folder in folders if (folder / "initdb").is_file()]
    return found[-1] if found else Path(on_path).parent if on_path else None


@pytest.hookimpl(wrapper=True, tryfirst=True)  # the marks come before xdist reads the groups
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> Generator[None, None, None]:
    """Keep the tests that start large programs together, each kind in one process, so that its fixtures start once.

    Alone they run last, after what is quick to fail. Beside others (-n) they begin first: each cluster's tests mostly
    wait, and take longest, as the run on PostgreSQL does. Browser tests come after all others: in their process a loop
    goes on running, in which no other can run one. And pytest-django has an order of its own, so this one is made after
    it.
    """
    part_of = {kind: _parts(kind, items) for kind in PARTS}
    for item in items:
        kinds = [kind for kind in PROGRAMS if item.get_closest_marker(kind)]
        kinds = [part_of[kind][item.path] if kind in PARTS else kind for kind in kinds]
        release = _release(item)
        for group in [f"java-{release}"] if kinds and release else kinds:
            item.add_marker(pytest.mark.xdist_group(group))
    yield
    is_beside = hasattr(config, "workerinput")
    items.sort(key=lambda item: _turn(item, is_beside=is_beside))


def _parts(kind: str, items: Iterable[pytest.Item]) -> dict[Path, str]:
    """Divide the files with tests of a kind over its processes."""
    files = sorted({item.path for item in items if item.get_closest_marker(kind)})
    return {path: f"{kind}-{number % PARTS[kind]}" for number, path in enumerate(files)}


def _release(item: pytest.Item) -> str | None:
    """Name the release of the cluster that a test runs on, if it runs on one."""
    callspec = getattr(item, "callspec", None)
    named = None if callspec is None else callspec.params.get("cluster")
    return None if named is None else str(named).partition("-")[0]


def _turn(item: pytest.Item, *, is_beside: bool) -> int:
    if item.get_closest_marker("browser"):
        return 2
    if is_beside and item.get_closest_marker("postgres"):
        return -2
    if item.get_closest_marker("xdist_group") is None:
        return 0
    return 1 if not is_beside else -2 if _release(item) else -1


def pytest_runtest_setup(item: pytest.Item) -> None:
    """Skip a test whose programs are missing, with a clear word; in CI that is a failure."""
    kinds = (programs for kind, programs in PROGRAMS.items() if item.get_closest_marker(kind))
    missing = sorted({program for programs in kinds for program in programs if shutil.which(program) is None})
    if missing:
        answer = pytest.fail if IN_CI else pytest.skip
        answer(f"needs {' and '.join(missing)}, which this machine does not have")
    if item.get_closest_marker("postgres") and postgres_programs() is None:
        (pytest.fail if IN_CI else pytest.skip)("needs PostgreSQL's initdb, which this machine does not have")
