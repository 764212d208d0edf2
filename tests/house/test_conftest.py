"""Marked tests: skipped where their programs are missing, never in CI, and last in any case."""

from pathlib import Path

import pytest

from tests.house.project import ROOT

MARKED = "import pytest\n@pytest.mark.java\ndef test_java(): pass\n"
UNMARKED = "def test_python(): pass\n"


@pytest.fixture
def suite(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> pytest.Pytester:
    """Make a test suite of its own with the project's conftest, on a machine without any program."""
    monkeypatch.delenv("CI", raising=False)
    monkeypatch.setenv("PATH", "")
    pytester.makeconftest((ROOT / "tests" / "conftest.py").read_text())
    pytester.makeini("[pytest]\nmarkers =\n  java\n  spark\n  browser\n")
    pytester.makepyfile(MARKED + UNMARKED)
    return pytester


def test_a_java_test_is_skipped_where_java_is_missing(suite: pytest.Pytester) -> None:
    result = suite.runpytest_subprocess("-rs")

    result.assert_outcomes(passed=1, skipped=1)
    result.stdout.fnmatch_lines("*needs javac and mvn*")


def test_a_java_test_is_never_skipped_in_ci(suite: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CI", "true")

    result = suite.runpytest_subprocess()

    result.assert_outcomes(passed=1, errors=1)


def test_java_tests_run_last(suite: pytest.Pytester, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for program in ("javac", "mvn"):
        (tmp_path / program).touch(mode=0o755)
    monkeypatch.setenv("PATH", str(tmp_path))

    result = suite.runpytest_subprocess("-v")

    result.stdout.fnmatch_lines(["*::test_python*", "*::test_java*"])
