"""Marked tests: skipped where their programs are missing, never in CI, and last in any case."""

import pytest

from tests.house.project import ROOT

JAVA = """
import pytest

@pytest.mark.java
@pytest.mark.parametrize("queue", range(6))
def test_java(queue): pass
"""
PYTHON = "def test_python(): pass\n"


@pytest.fixture
def suite(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> pytest.Pytester:
    """Make a test suite of its own with the project's options, on a machine without any program."""
    monkeypatch.delenv("CI", raising=False)
    monkeypatch.setenv("PATH", str(pytester.mkdir("bin")))
    pytester.makepyprojecttoml((ROOT / "pyproject.toml").read_text())
    pytester.makeconftest((ROOT / "tests" / "conftest.py").read_text())
    pytester.makepyfile(test_east=JAVA + PYTHON, test_west=JAVA + PYTHON)
    return pytester


@pytest.fixture
def suite_with_java(suite: pytest.Pytester) -> pytest.Pytester:
    for program in ("javac", "mvn"):
        (suite.path / "bin" / program).touch(mode=0o755)
    return suite


def test_a_java_test_is_skipped_where_java_is_missing(suite: pytest.Pytester) -> None:
    result = suite.runpytest_subprocess(".")

    result.assert_outcomes(passed=2, skipped=12)
    result.stdout.fnmatch_lines("*needs javac and mvn*")


def test_a_java_test_is_never_skipped_in_ci(suite: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CI", "true")

    result = suite.runpytest_subprocess(".")

    result.assert_outcomes(passed=2, errors=12)


def test_java_tests_run_last(suite_with_java: pytest.Pytester) -> None:
    result = suite_with_java.runpytest_subprocess(".", "-v")

    result.stdout.fnmatch_lines(["*::test_python*", "*::test_python*", "*::test_java*", "*::test_java*"])


def test_java_tests_share_one_process(suite_with_java: pytest.Pytester) -> None:
    result = suite_with_java.runpytest_subprocess(".", "-v", "-n", "2")

    workers = {line.split()[0] for line in result.outlines if "PASSED" in line and "::test_java" in line}
    result.assert_outcomes(passed=14)
    assert len(workers) == 1
