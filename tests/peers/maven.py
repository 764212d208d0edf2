"""Released Java classes on this machine: fetched by Maven, compiled against, kept below ``build/java``."""

from __future__ import annotations

import fcntl
import hashlib
import os
import shutil
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
SOURCES = ROOT / "tests" / "java"
BUILT = ROOT / "build" / "java"
PATIENCE_S = 600  # a first fetch over a slow line; afterwards nothing is fetched


class Unavailable(Exception):
    """The Java side cannot be had on this machine; the message is one sentence that says why."""


@dataclass(frozen=True, slots=True)
class Program:
    """A compiled project of ``tests/java``, ready to be started."""

    class_path: str
    home: Path

    def command(self, main: str, *options: str) -> list[str]:
        """Give the command that starts the class ``main``."""
        # clients write logs below the home directory of whoever runs them, unless they are told another one
        return ["java", f"-Duser.home={self.home}", *options, "-cp", self.class_path, main]


def program(project: str, release: str) -> Program:
    """Fetch and compile a project once, whoever asks first; later calls and processes find it done.

    Raises:
        Unavailable: there is no Maven or no JDK, or the release cannot be fetched.
    """
    for tool in ("mvn", "javac", "java"):
        if shutil.which(tool) is None:
            raise Unavailable(f"{tool} is not on the PATH: the Java peers need Maven and a JDK (`make debs` as root).")
    folder = BUILT / f"{project}-{release}"
    folder.mkdir(parents=True, exist_ok=True)
    with _alone_in(folder):
        wanted, stamp = _fingerprint(project, release), folder / "stamp"
        if not stamp.exists() or stamp.read_text() != wanted:
            _build(project, release, folder)
            stamp.write_text(wanted)
    return Program(os.pathsep.join([str(folder / "classes"), str(folder / "lib" / "*")]), folder)


@contextmanager
def _alone_in(folder: Path) -> Iterator[None]:
    with (folder / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def _fingerprint(project: str, release: str) -> str:
    digest = hashlib.sha256(release.encode())
    for path in sorted((SOURCES / project).rglob("*")):
        if path.is_file():
            digest.update(path.read_bytes())
    return digest.hexdigest()


def _build(project: str, release: str, folder: Path) -> None:
    libraries, classes = folder / "lib", folder / "classes"
    (folder / "stamp").unlink(missing_ok=True)  # first: a build that fails leaves nothing that looks built
    for made_before in (libraries, classes):
        shutil.rmtree(made_before, ignore_errors=True)
    pom = SOURCES / project / "pom.xml"
    goal = ["dependency:copy-dependencies", "-DincludeScope=runtime", f"-DoutputDirectory={libraries}"]
    _run(
        ["mvn", "-q", "-B", "-f", str(pom), f"-Drelease={release}", *goal], f"Maven could not fetch {project} {release}"
    )
    sources = [str(path) for path in sorted((SOURCES / project).rglob("*.java"))]
    if not sources:
        return  # wanted is what others released, as it is
    compiler = ["javac", "-encoding", "UTF-8", "-d", str(classes), "-cp", str(libraries / "*")]
    _run([*compiler, *sources], f"javac did not accept our sources against {project} {release}")


def _run(command: Sequence[str], complaint: str) -> None:
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE_S, check=False)
    except subprocess.TimeoutExpired as late:
        raise Unavailable(f"{complaint} within {PATIENCE_S} s.") from late
    if done.returncode:
        said = (done.stdout + done.stderr).strip().splitlines()
        raise Unavailable(f"{complaint}: {said[0] if said else f'exit code {done.returncode}'}")
