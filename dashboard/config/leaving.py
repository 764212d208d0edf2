"""The last step of a process: it leaves, and does not take apart first what it had loaded.

Python frees every module and object one by one at its end. Of what our processes load that takes 0.4 to 0.6 s of
processor time each, and seven of them do it side by side: at a load of 8 a worker that had ended in order after 2 s was
there for 4.7 s more. The kernel takes everything back at once.

``python -m dashboard.config.leaving MODULE ARGUMENTS`` runs another module so, as ``python -m`` does.
"""

from __future__ import annotations

import atexit
import contextlib
import os
import runpy
import sys
from collections.abc import Callable


def leave_after(main: Callable[[], object]) -> None:
    """Call it; where the process ends after it, it leaves at once, with the status that it would have had.

    To be called first of all: threads are waited for, and what others register with ``atexit`` is done, before it
    leaves. What it had open is not flushed, but for its two streams.
    """
    status = 1  # of an error that nobody catches

    def leave() -> None:
        for stream in (sys.stdout, sys.stderr):
            with contextlib.suppress(OSError, ValueError, AttributeError):  # nobody reads it any more, or it is None
                stream.flush()
        os._exit(status)

    atexit.register(leave)  # who came first is called last
    try:
        main()
    except SystemExit as end:
        status = _status_of(end)
        raise
    status = 0


def _status_of(end: SystemExit) -> int:
    """Give the status of a process that ends by it, as Python does.

    >>> _status_of(SystemExit()), _status_of(SystemExit(3)), _status_of(SystemExit("it cannot start"))
    (0, 3, 1)
    """
    if end.code is None:
        return 0
    return end.code & 0xFF if isinstance(end.code, int) else 1


def run_module(words: list[str]) -> None:
    """Run a module as a program; the first word is its name."""
    sys.argv[1:] = words[1:]
    runpy.run_module(words[0], run_name="__main__", alter_sys=True)


if __name__ == "__main__":
    leave_after(lambda: run_module(sys.argv[1:]))
