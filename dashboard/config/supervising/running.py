"""Carries out what the supervisor decides: processes, their words, their ends, and the clock."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import signal
import subprocess
import sys
import uuid
from collections.abc import Awaitable, Callable, Iterable
from pathlib import Path

from dashboard.config.supervising import machine, reaper
from dashboard.config.supervising.children import Start, in_our_words
from dashboard.config.supervising.output import Lines, Terminal

logger = logging.getLogger(__name__)

Probe = Callable[[], Awaitable[bool]]
OWN_NAME = "evenkeel"
PROBE_EVERY_S = 0.1
LAST_WORDS_S = 0.5  # how long a pipe is read after its process has ended
REAPER_S = 1.5  # it looks through all processes once more; what it still finds it ends without us
COULD_NOT_START = 127
MOST_EVENTS = 1_000


class Runner:
    """Runs children until there are none.

    Args:
        start_of: says how a child is started, each time anew.
        probe_of: gives what tells whether a child answers; it may raise OSError and TimeoutError.
        on_exit: is told each child that has ended, and its status: below 0 is the signal that ended it.
    """

    def __init__(
        self,
        terminal: Terminal,
        lock: int,
        *,
        start_of: Callable[[str], Start],
        probe_of: Callable[[str], Probe],
        on_exit: Callable[[str, int], None] = lambda _name, _status: None,
    ) -> None:
        self.supervisor = machine.Supervisor()
        self._terminal = terminal
        self._start_of = start_of
        self._probe_of = probe_of
        self._on_exit = on_exit
        self._events: asyncio.Queue[machine.Event] = asyncio.Queue(MOST_EVENTS)
        self._tasks: asyncio.TaskGroup | None = None
        self._groups: dict[str, int] = {}
        self._probes: dict[str, asyncio.Task[None]] = {}
        self._timer: asyncio.TimerHandle | None = None
        self._mark = uuid.uuid4().hex
        self._reaper = _start_reaper(lock, self._mark)

    def hear(self, event: machine.Event) -> None:
        """Let the supervisor hear something soon."""
        self._events.put_nowait(event)

    def say(self, text: str, who: str = OWN_NAME) -> None:
        """Tell the person at the terminal."""
        self._terminal.tell(who, text)

    def guard(self, group: int) -> None:
        """Let a process group that is not a child's end with us, even if we are killed."""
        self._tell_reaper("+", group)

    def unguard(self, group: int) -> None:
        """Hear that such a process group has ended."""
        self._tell_reaper("-", group)

    async def run(self) -> None:
        """Run until everything has ended."""
        loop = asyncio.get_running_loop()
        async with asyncio.TaskGroup() as self._tasks:
            is_over = False
            while not is_over:
                event = await self._events.get()
                for effect in self.supervisor.handle(event, int(loop.time() * 1_000)):
                    is_over = is_over or isinstance(effect, machine.Over)
                    self._carry_out(effect, loop)
        if self._timer is not None:
            self._timer.cancel()
        assert self._reaper.stdin is not None
        self._reaper.stdin.close()
        with contextlib.suppress(subprocess.TimeoutExpired):
            await asyncio.to_thread(self._reaper.wait, REAPER_S)

    def _carry_out(self, effect: machine.Effect, loop: asyncio.AbstractEventLoop) -> None:
        match effect:
            case machine.Launch(name):
                assert self._tasks is not None
                self._tasks.create_task(self._live(name), name=f"child {name}")
            case machine.Terminate(name):
                self._signal(name, signal.SIGTERM)
            case machine.Kill(name):
                self._signal(name, signal.SIGKILL)
            case machine.WakeAt(at):
                if self._timer is not None:
                    self._timer.cancel()
                self._timer = loop.call_at(at / 1_000 + 0.001, self.hear, machine.Woken())
            case machine.Say(text):
                self.say(text)
            case machine.Over():
                pass

    def _signal(self, name: str, number: signal.Signals) -> None:
        """Signal a child: asked to end is its first process alone, which knows its own; killed are all of them."""
        group = self._groups.get(name)
        if group is None:
            return
        with contextlib.suppress(ProcessLookupError):
            if number is signal.SIGKILL:
                os.killpg(group, number)
            else:
                os.kill(group, number)

    # ---- the life of one process ----

    async def _live(self, name: str) -> None:
        status = COULD_NOT_START
        try:
            status = await self._run_process(name)
        except OSError as error:
            self.say(f"{name} cannot be started: {error}")
        self._on_exit(name, status)
        self.hear(machine.Exited(name, status))

    async def _run_process(self, name: str) -> int:
        start = self._start_of(name)
        ear, mouth = os.pipe()
        try:
            process = await asyncio.create_subprocess_exec(
                *start.arguments,
                env={**os.environ, **start.env, reaper.MARK: self._mark},
                cwd=start.folder,
                stdin=asyncio.subprocess.DEVNULL,
                stdout=mouth,  # a pipe of asyncio's would let us wait for everybody who has inherited it
                stderr=asyncio.subprocess.STDOUT,
                start_new_session=True,
                pass_fds=start.descriptors,
            )
        except BaseException:
            os.close(ear)
            raise
        finally:
            os.close(mouth)
        self._groups[name] = process.pid
        self._tell_reaper("+", process.pid)
        reading = asyncio.create_task(self._read(name, ear), name=f"words of {name}")
        probing = self._begin_probe(name)
        try:
            return await process.wait()
        finally:
            del self._groups[name]
            if probing is not None:
                probing.cancel()
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(process.pid, signal.SIGKILL)  # what it has started and left behind
            self._tell_reaper("-", process.pid)
            await asyncio.wait((reading,), timeout=LAST_WORDS_S)
            reading.cancel()

    async def _read(self, name: str, ear: int) -> None:
        reader = asyncio.StreamReader()
        with os.fdopen(ear, "rb", 0) as pipe:
            transport, _ = await asyncio.get_running_loop().connect_read_pipe(
                lambda: asyncio.StreamReaderProtocol(reader), pipe
            )
            lines = Lines()
            try:
                while data := await reader.read(65_536):
                    self._say_all(lines.take(data), name)
            finally:
                transport.close()
                self._say_all(lines.rest(), name)

    def _say_all(self, lines: Iterable[str], name: str) -> None:
        for line in filter(str.strip, map(in_our_words, lines)):
            self.say(line, name)

    def _begin_probe(self, name: str) -> asyncio.Task[None] | None:
        if self.supervisor.state(name) is not machine.State.STARTING:
            return None
        return asyncio.create_task(self._ask_until_it_answers(name, self._probe_of(name)), name=f"probe {name}")

    async def _ask_until_it_answers(self, name: str, probe: Probe) -> None:
        while True:
            try:
                if await probe():
                    break
            except (OSError, TimeoutError, EOFError):
                pass  # not yet
            await asyncio.sleep(PROBE_EVERY_S)
        self.hear(machine.Answered(name))

    def _tell_reaper(self, sign: str, group: int) -> None:
        assert self._reaper.stdin is not None
        try:
            self._reaper.stdin.write(f"{sign}{group}\n".encode())
            self._reaper.stdin.flush()
        except OSError:
            logger.warning("the reaper is gone: if this process is killed, its children run on")


def _start_reaper(lock: int, mark: str) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [sys.executable, "-I", "-S", str(Path(reaper.__file__)), mark],
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
        pass_fds=(lock,),
    )
