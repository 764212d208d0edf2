"""Marked tests: skipped where their programs are missing, never in CI, last if alone, and first beside others."""

import pytest

from tests.house.project import ROOT

JAVA = """
import pytest

@pytest.mark.java
@pytest.mark.parametrize("queue", range(6))
def test_java(queue): pass
"""
CLUSTERS = """
import pytest

@pytest.mark.java
@pytest.mark.parametrize("queue", range(2))
@pytest.mark.parametrize("cluster", ["5.5.0", "4.9.7", "5.5.0-secured", "4.9.7-secured"])
def test_java_cluster(cluster, queue): pass
"""
BROWSER = """
import pytest

@pytest.mark.browser
@pytest.mark.parametrize("page", range(3))
def test_page(page): pass
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


def test_beside_others_java_tests_begin_first_each_cluster_in_a_process_of_its_own(
    suite_with_java: pytest.Pytester,
) -> None:
    suite_with_java.makepyfile(test_middle=CLUSTERS)

    result = suite_with_java.runpytest_subprocess("test_middle.py", "test_east.py", "-v", "-n", "2")

    result.assert_outcomes(passed=15)
    begun = [line for line in result.outlines if line.startswith("test_") and "PASSED" not in line]
    assert all("test_java_cluster" in line for line in begun[:2])
    done = [line for line in result.outlines if "PASSED" in line]
    ways = [{line.split()[0] for line in done if f"@java-{release}" in line} for release in ("5.5.0", "4.9.7")]
    assert sorted(map(len, ways)) == [1, 1]
    assert ways[0] != ways[1]


def test_java_tests_share_one_process(suite_with_java: pytest.Pytester) -> None:
    result = suite_with_java.runpytest_subprocess(".", "-v", "-n", "2")

    workers = {line.split()[0] for line in result.outlines if "PASSED" in line and "::test_java" in line}
    result.assert_outcomes(passed=14)
    assert len(workers) == 1


def test_files_of_spark_and_of_browser_tests_are_divided_over_two_processes_and_browsers_come_last(
    suite_with_java: pytest.Pytester,
) -> None:
    for program in ("java", "chromium"):
        (suite_with_java.path / "bin" / program).touch(mode=0o755)
    spark = JAVA.replace("java", "spark")
    suite_with_java.makepyfile(test_a=BROWSER, test_b=BROWSER, test_c=spark, test_d=spark, test_east=PYTHON)

    result = suite_with_java.runpytest_subprocess(
        *(f"test_{name}.py" for name in ("a", "b", "c", "d", "east")), "-v", "-n1"
    )

    result.assert_outcomes(passed=19)
    done = [line.rpartition(" ")[2] or line.split()[-1] for line in result.outlines if "PASSED" in line]
    groups = {(name.partition(".")[0], name.partition("@")[2]) for name in done if "@" in name}
    assert groups == {("test_a", "browser-0"), ("test_b", "browser-1"), ("test_c", "spark-0"), ("test_d", "spark-1")}
    assert all("browser" in name for name in done[-6:])


def test_every_test_that_drives_a_browser_says_so() -> None:
    """Without the mark it runs among others, and its loop, which goes on, lets none of them run one."""
    files = sorted(path for path in (ROOT / "tests").rglob("test_*.py") if "playwright.sync_api" in path.read_text())

    unmarked = [path.name for path in files if "pytest.mark.browser" not in path.read_text()]

    assert len(files) > 1
    assert unmarked == []
