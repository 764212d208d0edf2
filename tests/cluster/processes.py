"""Programs that a test starts: their output goes to a file, and they are ended by their number."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

LOOK_EVERY_S = 0.05
TAIL_CHARACTERS = 3000


class TooLate(Exception):
    """Something did not come about in the time that it was given."""


def wait_until(holds: Callable[[], object], *, within_s: float, what: str) -> None:
    """Look until something holds.

    Raises:
        TooLate: it did not within the time; ``what`` says what was waited for.
    """
    end = time.monotonic() + within_s
    while not holds():
        if time.monotonic() > end:
            raise TooLate(f"{what} did not come about within {within_s:g} s")
        time.sleep(LOOK_EVERY_S)


class Program:
    """A running program."""

    def __init__(
        self, name: str, command: Sequence[str], output: Path, environment: Mapping[str, str] | None = None
    ) -> None:
        output.parent.mkdir(parents=True, exist_ok=True)
        self.name = name
        self.output = output
        with output.open("ab") as kept, output.with_suffix(".err").open("ab") as complaints:
            self._process = subprocess.Popen(
                command,
                stdin=subprocess.DEVNULL,
                stdout=kept,
                stderr=complaints,
                env={**os.environ, **(environment or {})},
                start_new_session=True,  # an interrupt at the terminal is for the tests, which end what they started
            )

    @property
    def pid(self) -> int:
        return self._process.pid

    @property
    def runs(self) -> bool:
        return self._process.poll() is None

    def kill(self) -> None:
        """End it at once, as a crash would."""
        if self.runs:
            self._process.kill()
        self._process.wait(30)

    def stop(self, within_s: float = 40) -> None:
        """Ask it to end, wait, and end it where it does not.

        Raises:
            TooLate: it had to be killed.
        """
        if self.runs:
            self._process.terminate()
        try:
            self._process.wait(within_s)
        except subprocess.TimeoutExpired:
            self.kill()
            raise TooLate(f"{self.name} did not end within {within_s:g} s of SIGTERM; {self.last_words()}") from None

    def pause(self) -> None:
        """Let it hang: its connections stay open, and nobody answers. Returns when it does."""
        self._process.send_signal(signal.SIGSTOP)
        wait_until(lambda: self._stat()[0] == "T", within_s=10, what=f"{self.name} being stopped")

    def resume(self) -> None:
        self._process.send_signal(signal.SIGCONT)

    def cpu_s(self) -> float:
        """Processor time that it has taken so far, in seconds."""
        fields = self._stat()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def _stat(self) -> list[str]:
        """Read its line of the kernel's, from its state on (proc(5), ``/proc/pid/stat``)."""
        return Path(f"/proc/{self.pid}/stat").read_text().rpartition(")")[2].split()

    def last_words(self) -> str:
        """Give the end of what it printed."""
        texts = [path.read_text(errors="replace") for path in (self.output, self.output.with_suffix(".err"))]
        return f"{self.name} printed last: " + "\n".join(texts)[-TAIL_CHARACTERS:]
