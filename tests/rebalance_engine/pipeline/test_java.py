import stat
import subprocess
from pathlib import Path

import pytest

from rebalance_engine.pipeline.java import java_trouble, quiet_java, spark_trouble


def java_that_says(folder: Path, line: str) -> dict[str, str]:
    (folder / "bin").mkdir()
    java = folder / "bin" / "java"
    java.write_text(f"#!/bin/sh\necho '    {line}' >&2\n")
    java.chmod(java.stat().st_mode | stat.S_IXUSR)
    return {"JAVA_HOME": str(folder), "PATH": "/usr/bin:/bin"}


def test_a_machine_without_java_is_told_what_is_missing(tmp_path: Path) -> None:
    assert "there is no java on the PATH" in str(java_trouble({"PATH": str(tmp_path)}))
    assert "there is no bin/java in it" in str(java_trouble({"JAVA_HOME": str(tmp_path), "PATH": ""}))


@pytest.mark.parametrize("version", ["1.8", "11"])
def test_a_java_that_is_too_old_is_refused(tmp_path: Path, version: str) -> None:
    environment = java_that_says(tmp_path, f"java.specification.version = {version}")

    assert f"is Java {version}; Spark needs Java 17" in str(java_trouble(environment))


def test_a_java_that_is_new_enough_is_no_trouble(tmp_path: Path) -> None:
    assert java_trouble(java_that_says(tmp_path, "java.specification.version = 21")) is None


def test_a_java_that_does_not_tell_its_version_is_refused(tmp_path: Path) -> None:
    assert "does not tell its version" in str(java_trouble(java_that_says(tmp_path, "hello")))


def test_who_works_at_a_server_of_spark_connect_needs_no_java(tmp_path: Path) -> None:
    nowhere = {"PATH": str(tmp_path)}

    assert spark_trouble(nowhere | {"SPARK_REMOTE": "sc://east:15002"}) is None
    assert spark_trouble(nowhere | {"SPARK_REMOTE": ""}) == java_trouble(nowhere)


def java_that_runs(home: Path, script: str) -> Path:
    java = home / "bin" / "java"
    java.parent.mkdir(parents=True)
    java.write_text(f"#!/bin/sh\n{script}\n")
    java.chmod(0o700)
    return java


@pytest.mark.parametrize("has_home", [True, False])
def test_a_java_that_spark_starts_gets_every_word_but_the_module_of_which_it_would_warn(
    tmp_path: Path, has_home: bool
) -> None:
    java = java_that_runs(tmp_path / "my java", 'printf "%s|" "$@"')
    environment = {"JAVA_HOME": str(java.parents[1])} if has_home else {"PATH": f"{java.parent}:/usr/bin:/bin"}
    before = dict(environment)
    words = ["-cp", "a b", "", "--add-modules=jdk.incubator.vector", "-D$x='y'", "*"]

    with quiet_java(environment):
        started = f"{environment['JAVA_HOME']}/bin/java"
        said = subprocess.run([started, *words], capture_output=True, text=True, check=True).stdout

    assert said == "-cp|a b||-D$x='y'|*|"
    assert environment == before
    with quiet_java(nothing := {"PATH": ""}):
        assert nothing == {"PATH": ""}


def test_a_java_that_spark_starts_is_ended_by_no_signal_that_a_whole_run_gets(tmp_path: Path) -> None:
    """It would write down every job that it breaks off, before the run says that it was stopped."""
    environment = {"JAVA_HOME": str(java_that_runs(tmp_path / "java", "kill -TERM $$; echo goes on").parents[1])}

    with quiet_java(environment):
        started = f"{environment['JAVA_HOME']}/bin/java"
        said = subprocess.run([started], capture_output=True, text=True, check=True).stdout

    assert said == "goes on\n"
