"""Whether Spark can run, and whether there is a Java that it can run on; asked without loading PySpark."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Mapping
from pathlib import Path

NEEDED_JAVA = 17  # Spark 4 starts on nothing older
JAVA_ANSWERS_WITHIN_S = 20


def spark_trouble(environment: Mapping[str, str] = os.environ) -> str | None:
    """Say why Spark cannot run; None where it can, or runs at a server of Spark Connect, which has the Java."""
    return None if environment.get("SPARK_REMOTE") else java_trouble(environment)


def java_trouble(environment: Mapping[str, str] = os.environ) -> str | None:
    """Say why Java cannot be started; None where it can."""
    home = environment.get("JAVA_HOME")
    java = shutil.which(str(Path(home) / "bin" / "java") if home else "java", path=environment.get("PATH", ""))
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


def _version_trouble(java: str, said: str) -> str | None:
    found = [line.split("=")[1].strip() for line in said.splitlines() if "java.specification.version =" in line]
    if not found:
        return f"{java} does not tell its version; Spark needs Java {NEEDED_JAVA} or later"
    major = found[0].removeprefix("1.").split(".")[0]
    if not major.isdigit() or int(major) < NEEDED_JAVA:
        return f"{java} is Java {found[0]}; Spark needs Java {NEEDED_JAVA} or later"
    return None
