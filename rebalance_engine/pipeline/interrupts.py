"""SIGTERM breaks a run off as SIGINT does, also where it comes while Python can let nothing through.

What a handler raises inside a destructor, or in a callback of a weak reference, Python only reports: the run would go
on as if nobody had asked it to stop.
"""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Timer
from types import FrameType

AGAIN_AFTER_S = 0.05


@contextmanager
def stoppable() -> Iterator[None]:
    """Let SIGTERM and SIGINT raise ``KeyboardInterrupt`` inside; what is swallowed of them comes again.

    Only in a main thread, as Python has it for signals.
    """
    report, before = sys.unraisablehook, signal.signal(signal.SIGTERM, _stop)
    coming: list[Timer] = []

    def again(swallowed: sys.UnraisableHookArgs) -> None:
        if not issubclass(swallowed.exc_type, KeyboardInterrupt):
            report(swallowed)
            return
        coming.append(Timer(AGAIN_AFTER_S, os.kill, (os.getpid(), signal.SIGTERM)))  # at once it would be swallowed too
        coming[-1].start()

    sys.unraisablehook = again
    try:
        yield
    finally:
        for timer in coming:
            timer.cancel()
        sys.unraisablehook = report
        signal.signal(signal.SIGTERM, before)


def _stop(*_: int | FrameType | None) -> None:
    raise KeyboardInterrupt
