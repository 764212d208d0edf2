"""When this machine last did something to a group: a file's time, because two commands are two processes."""

from __future__ import annotations

import fcntl
import hashlib
import os
import time
from dataclasses import dataclass
from pathlib import Path

HOME = "XDG_STATE_HOME"


@dataclass(frozen=True, slots=True)
class Stamp:
    """A small file. Where none can be written there is no limit between commands; brokers bear that."""

    path: Path

    def claim(self, every_s: float) -> bool:
        """Say that it is done now, unless it was done less than so many seconds ago: then give False, and do nothing.

        A time that lies ahead is by a clock that was set since, and forbids nothing.
        """
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            file = os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        except OSError:
            return True
        try:
            fcntl.flock(file, fcntl.LOCK_EX)  # held for a moment only: two that claim at once are one too many
            is_new = os.fstat(file).st_size == 0
            if not is_new and 0 <= time.time() - os.fstat(file).st_mtime < every_s:
                return False
            os.ftruncate(file, 0)
            os.write(file, b"done\n")
        except OSError:
            return True
        finally:
            os.close(file)
        return True


def stamp_of(*names: str) -> Stamp:
    """Give the stamp of what these names name together, below the user's own folder for state (XDG)."""
    folder = Path(os.environ.get(HOME) or Path.home() / ".local" / "state") / "evenkeel" / "recomputed"
    text = "\0".join(names).encode("utf-8", "surrogatepass")
    return Stamp(folder / hashlib.sha256(text).hexdigest()[:32])
