"""Whether Spark can run, and whether there is a Java that it can run on; asked without loading PySpark."""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import tempfile
from collections.abc import Iterator, Mapping, MutableMapping
from contextlib import contextmanager
from pathlib import Path

NEEDED_JAVA = 17  # Spark 4 starts on nothing older
JAVA_ANSWERS_WITHIN_S = 20


def spark_trouble(environment: Mapping[str, str] = os.environ) -> str | None:
    """Say why Spark cannot run; None where it can, or runs at a server of Spark Connect, which has the Java."""
    return None if environment.get("SPARK_REMOTE") else java_trouble(environment)


def java_trouble(environment: Mapping[str, str] = os.environ) -> str | None:
    """Say why Java cannot be started; None where it can."""
    home, java = environment.get("JAVA_HOME"), _java(environment)
    if java is None:
        where = f"JAVA_HOME is {home}, and there is no bin/java in it" if home else "there is no java on the PATH"
        return f"{where}; Spark needs Java {NEEDED_JAVA} or later"
    try:
        asked = subprocess.run(
            [java, "-XshowSettings:properties", "-version"],
            capture_output=True,
            text=True,
            timeout=JAVA_ANSWERS_WITHIN_S,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        return f"{java} does not start: {error}; Spark needs Java {NEEDED_JAVA} or later"
    return _version_trouble(java, asked.stderr)


def _java(environment: Mapping[str, str]) -> str | None:
    home = environment.get("JAVA_HOME")
    return shutil.which(str(Path(home) / "bin" / "java") if home else "java", path=environment.get("PATH", ""))


@contextmanager
def quiet_java(environment: MutableMapping[str, str]) -> Iterator[None]:
    """Let what is started meanwhile by ``environment`` run a Java that says nothing where nothing is wrong.

    Spark adds ``jdk.incubator.vector`` to every Java (``JavaModuleOptions``), which machine learning alone makes use
    of, and Java warns of it on stderr. No option takes a module back, so a Java of our own leaves the word out and
    becomes the real one. It also passes over SIGTERM, as PySpark has it pass over SIGINT: where all processes of a run
    get that, Java would end first, and write down every job that it breaks off. Who started it ends it, and it ends
    with whoever did. Where no program can be run from the folder of temporary files, all stays as it is.

    Args:
        environment: whose ``JAVA_HOME`` names that Java until the block ends; Spark looks for it there first.
    """
    real, home = _java(environment), environment.get("JAVA_HOME")
    with tempfile.TemporaryDirectory(prefix="evenkeel-java-") as place:
        script = Path(place) / "bin" / "java"
        script.parent.mkdir()
        script.write_text(_QUIET.format(real=shlex.quote(str(real))))
        script.chmod(0o700)
        if real is None or not os.access(script, os.X_OK):
            yield
            return
        environment["JAVA_HOME"] = place
        try:
            yield
        finally:
            environment.pop("JAVA_HOME")
            environment.update({"JAVA_HOME": home} if home is not None else {})


_QUIET = """#!/bin/sh
trap '' TERM
for word do
    shift
    [ "$word" = --add-modules=jdk.incubator.vector ] || set -- "$@" "$word"
done
exec {real} "$@"
"""


def _version_trouble(java: str, said: str) -> str | None:
    found = [line.split("=")[1].strip() for line in said.splitlines() if "java.specification.version =" in line]
    if not found:
        return f"{java} does not tell its version; Spark needs Java {NEEDED_JAVA} or later"
    major = found[0].removeprefix("1.").split(".")[0]
    if not major.isdigit() or int(major) < NEEDED_JAVA:
        return f"{java} is Java {found[0]}; Spark needs Java {NEEDED_JAVA} or later"
    return None
