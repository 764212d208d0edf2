"""The checkers of `make check` do find faults: each is shown a sound file and a broken one."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.house.project import IN_CI, ROOT

BIN = Path(sys.executable).parent

needs_node = pytest.mark.skipif(shutil.which("node") is None and not IN_CI, reason="Node.js is missing")


def run(*command: str | Path, cwd: Path = ROOT, text: str = "", **environment: str) -> subprocess.CompletedProcess[str]:
    merged = os.environ | environment
    return subprocess.run(command, cwd=cwd, env=merged, input=text, check=False, capture_output=True, text=True)


def check(checker: str, path: Path, text: str) -> subprocess.CompletedProcess[str]:
    path.write_text(text)
    return run(sys.executable, "-m", f"tests.house.{checker}", path)


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("{% if lag %}\n    <p>late</p>\n{% endif %}\n", None),
        ("{% if lag %}\n    <p>late</p>\n", "T038"),
        ("<div>\n    <p>late</p>\n", "H025"),
    ],
)
def test_templates(tmp_path: Path, text: str, fault: str | None) -> None:
    answer = check("check_templates", tmp_path / "page.html", text)

    assert answer.returncode == (0 if fault is None else 1)
    assert fault is None or fault in answer.stdout


@needs_node
@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ('import { paint } from "./paint.js";\nexport const lag = await paint();\n', None),
        ("export const lag = ;\n", "SyntaxError"),
        ("with (lag) { late; }\n", "SyntaxError"),  # sound in a script, not in a module
    ],
)
def test_javascript(tmp_path: Path, text: str, fault: str | None) -> None:
    answer = check("check_javascript", tmp_path / "lag.js", text)

    assert answer.returncode == (0 if fault is None else 1)
    assert fault is None or (fault in answer.stdout and "lag.js:1" in answer.stdout)


@needs_node
@pytest.mark.parametrize(("expected", "status"), [(2, 0), (3, 1)])
def test_javascript_tests(tmp_path: Path, expected: int, status: int) -> None:
    suite = f'const {{ test }} = await import("node:test");\nif (1 + 1 !== {expected}) throw new Error("no");\n'
    (tmp_path / "package.json").write_text('{"type": "module"}')

    answer = check("check_javascript", tmp_path / "sum.test.js", suite)

    assert answer.returncode == status


@pytest.fixture
def engine(tmp_path: Path) -> Path:
    """Copy the engine and its floors."""
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    return Path(shutil.copytree(ROOT / "rebalance_engine", tmp_path / "rebalance_engine"))


def floors_hold(engine: Path) -> subprocess.CompletedProcess[str]:
    return run(BIN / "lint-imports", "--no-cache", "--no-logo", cwd=engine.parent, PYTHONPATH=str(engine.parent))


def test_the_floors_hold_as_they_are(engine: Path) -> None:
    assert floors_hold(engine).returncode == 0


@pytest.mark.parametrize(
    ("module", "line", "complaint"),
    [
        ("model.py", "from rebalance_engine import tables", "rebalance_engine.model -> rebalance_engine.tables"),
        ("helpers.py", "", "rebalance_engine.helpers"),
        ("model.py", "import django", "rebalance_engine.model -> django"),
    ],
    ids=["upwards", "without a floor", "not plain Python"],
)
def test_a_broken_floor_is_found(engine: Path, module: str, line: str, complaint: str) -> None:
    with (engine / module).open("a") as source:
        source.write(f"\n{line}\n")

    answer = floors_hold(engine)

    assert answer.returncode == 1
    assert complaint in " ".join(answer.stdout.split())


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ('"""A room."""\n', None),
        ('"""A room."""\n\nimport os\n', "F401"),
        ('"""A room."""\n\n\ndef join(member) -> None:\n    """Join."""\n', "ANN001"),
        ('"""A room."""\n\n\ndef join() -> None:\n    print("joined")\n', "T201"),
    ],
)
def test_lint(text: str, fault: str | None) -> None:
    answer = run(BIN / "ruff", "check", "--stdin-filename", "rebalance_engine/room.py", "-", text=text)

    assert answer.returncode == (0 if fault is None else 1)
    assert fault is None or fault in answer.stdout


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("def double(lag: int) -> int:\n    return 2 * lag\n", None),
        ("def double(lag):\n    return 2 * lag\n", "no-untyped-def"),
        ("def double(lag: int) -> str:\n    return 2 * lag\n", "return-value"),
    ],
)
def test_types(tmp_path: Path, text: str, fault: str | None) -> None:
    (tmp_path / "room.py").write_text(text)

    answer = run(BIN / "mypy", "--config-file", ROOT / "pyproject.toml", "--cache-dir", tmp_path, tmp_path / "room.py")

    assert answer.returncode == (0 if fault is None else 1)
    assert fault is None or fault in answer.stdout
