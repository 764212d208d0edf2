"""Commands as programs of their own, whose lines a test reads."""

from __future__ import annotations

import asyncio
import json
import signal
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from typing import Any

Line = dict[str, Any]


class Command:
    """A command that runs."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self.process = process
        self.lines: list[Line] = []

    async def line(self) -> Line | None:
        """Read the next line; None once there are no more."""
        assert self.process.stdout is not None
        text = await self.process.stdout.readline()
        if not text:
            return None
        self.lines.append(json.loads(text))
        return self.lines[-1]

    async def sees(self, saw: str, **what: object) -> Line:
        """Read until a line says this."""
        while (line := await self.line()) is not None:
            if line["saw"] == saw and all(line[name] == value for name, value in what.items()):
                return line
        raise AssertionError(f"{saw} {what} was not seen, but {self.lines}")

    async def words(self) -> str:
        """Give what it wrote on standard error, once it has ended."""
        assert self.process.stderr is not None, "its standard error is not read"
        return (await self.process.stderr.read()).decode()

    async def complains(self, words: str) -> str:
        """Read standard error until a line has these words."""
        assert self.process.stderr is not None, "its standard error is not read"
        while line := (await self.process.stderr.readline()).decode():
            if words in line:
                return line
        raise AssertionError(f"{words!r} was not said")

    async def ends(self, number: signal.Signals | None = None) -> int:
        """Send a signal, read what is left, and give the exit status."""
        if number is not None:
            self.process.send_signal(number)
        while await self.line() is not None:
            pass
        return await self.process.wait()


@asynccontextmanager
async def command(
    *words: str, hears_complaints: bool = False, stdout: int = asyncio.subprocess.PIPE
) -> AsyncIterator[Command]:
    """Run a command, and kill it if it is still there in the end."""
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        "-m",
        "rebalance_engine",
        *words,
        stdout=stdout,
        stderr=asyncio.subprocess.PIPE if hears_complaints else None,
    )
    try:
        yield Command(process)
    finally:
        if process.returncode is None:
            process.kill()
            with suppress(ProcessLookupError):
                process.send_signal(signal.SIGCONT)
            await process.wait()


async def run_to_end(*words: str) -> tuple[int, str]:
    """Run a command that ends by itself; give its status and what it wrote."""
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "rebalance_engine", *words, stdout=asyncio.subprocess.PIPE
    )
    out, _ = await process.communicate()
    assert process.returncode is not None
    return process.returncode, out.decode()
