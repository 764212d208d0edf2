import stat
from pathlib import Path

import pytest

from rebalance_engine.pipeline.java import java_trouble, spark_trouble


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
