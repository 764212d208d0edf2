"""A Java program of ours that answers questions until it is closed."""

from __future__ import annotations

import subprocess
import tempfile
from types import TracebackType
from typing import Self

from tests.peers import maven
from tests.peers.wire import Ended, Reader

TAIL_CHARACTERS = 2000


class Peer:
    """A running program; use it in a ``with`` statement."""

    def __init__(self, project: str, release: str, main: str, *options: str) -> None:
        command = maven.program(project, release).command(main, *options)
        self.release = release
        self._complaints = tempfile.TemporaryFile()  # noqa: SIM115  # closed with the process
        self._process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self._complaints
        )

    def ask(self, question: bytes) -> Reader:
        """Send a question; the answer is read by the caller, whole."""
        assert self._process.stdin is not None and self._process.stdout is not None
        self._process.stdin.write(question)
        self._process.stdin.flush()
        return Reader(self._process.stdout)  # type: ignore[arg-type]  # a BufferedReader reads as a BinaryIO does

    def close(self) -> None:
        """End the program by ending its input."""
        self._process.communicate()
        self._complaints.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if isinstance(error, Ended | BrokenPipeError):
            self._process.kill()
            self._process.wait()
            self._complaints.seek(0)
            error.add_note("Java's last words: " + self._complaints.read().decode(errors="replace")[-TAIL_CHARACTERS:])
        self.close()
