"""The port of one home, which answers from the first moment on: by a doorkeeper until the web process takes over.

It knows nothing of Django, so that a home is taken, and its port answers, before anything large is loaded.
"""

from __future__ import annotations

import contextlib
import json
import os
import socket
import subprocess
import sys
import time
from pathlib import Path

from dashboard.config.supervising import doorkeeper
from dashboard.config.supervising.lock import HomeLock, in_address, listen

TAKE_OVER_S = 5.0  # a doorkeeper that hangs is not waited for
SEE_OFF_S = 60.0  # it has answered its last callers long before


class Door:
    """The lock of a home, the socket that listens for browsers, and who answers there.

    Args:
        home: where all data lives.
        host, port: where to listen.

    Raises:
        HomeTaken: another one has this home.
        CannotListen: it cannot listen there.
        ImproperlyConfigured: the home cannot be written.
    """

    def __init__(self, home: Path, host: str, port: int) -> None:
        self.began = time.monotonic()
        self.lock = HomeLock(home)
        self._host = host
        self.lock.take(f"process {os.getpid()}, http://{in_address(host)}:{port}/")
        try:
            self.listener = listen(host, port)
        except BaseException:
            self.lock.release()
            raise
        self._said: dict[str, bytes] = {}
        self._station()

    @property
    def address(self) -> str:
        """Where a browser on this machine finds it."""
        return f"http://{in_address(self._host)}:{self.listener.getsockname()[1]}/"

    def _station(self) -> None:
        theirs, self.knocker = socket.socketpair()
        self._keeper = subprocess.Popen(
            [sys.executable, "-I", "-S", doorkeeper.__file__, str(self.listener.fileno()), str(theirs.fileno())],
            stdin=subprocess.PIPE,
            start_new_session=True,
            pass_fds=(self.listener.fileno(), theirs.fileno()),
        )
        theirs.close()  # the doorkeeper's alone: that it is closed says that nobody is accepted there any more
        for line in self._said.values():
            self._tell(line)

    def show(self, step: str, state: str, at: int = 0, of: int | None = None) -> None:
        """Let browsers see how far a step of the start is."""
        self._said[step] = json.dumps([step, state, at, of]).encode() + b"\n"
        self._tell(self._said[step])

    def _tell(self, line: bytes) -> None:
        assert self._keeper.stdin is not None
        with contextlib.suppress(OSError, ValueError):  # it has left
            self._keeper.stdin.write(line)
            self._keeper.stdin.flush()

    def keep(self) -> None:
        """Let a doorkeeper stand there again, where the last one has left."""
        try:
            self.knocker.recv(1, socket.MSG_PEEK | socket.MSG_DONTWAIT)
        except BlockingIOError:
            return  # it stands there
        except OSError:
            pass
        self._dismiss()
        self._station()

    def see_off(self) -> None:
        """Wait until the doorkeeper, which a web process let leave, has ended: else it stays there, defunct.

        In a thread of its own; ``keep`` and ``shut`` may come meanwhile.
        """
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._keeper.wait(SEE_OFF_S)

    def _dismiss(self) -> None:
        assert self._keeper.stdin is not None
        with contextlib.suppress(OSError):
            self._keeper.stdin.close()
        self.knocker.close()
        try:
            self._keeper.wait(doorkeeper.LAST_ANSWERS_S + 1)
        except subprocess.TimeoutExpired:
            self._keeper.kill()
            self._keeper.wait()

    def shut(self) -> None:
        """Listen no more."""
        self.listener.close()
        self._dismiss()

    def leave(self) -> None:
        """Give everything back."""
        self.shut()
        self.lock.release()


def take_over(descriptor: int) -> None:
    """In the web process, once it can serve: let the doorkeeper leave, and wait until it accepts nobody any more."""
    with socket.socket(fileno=descriptor) as door:
        door.settimeout(TAKE_OVER_S)
        with contextlib.suppress(OSError):
            door.send(b"!")
            door.recv(1)
