"""To leave alone for a while what hangs: whoever asks it anyway waits as long again, each time."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager


class Rest:
    """One thing that may hang, as this process knows it; threads may share it.

    Args:
        for_s: so long nobody asks it after it hung.
        hung_s: whoever waited so long, in vain, knows that it hangs; what fails at once costs nobody anything.
        clock: seconds.
    """

    def __init__(self, *, for_s: float, hung_s: float = 1.0, clock: Callable[[], float] = time.monotonic) -> None:
        self._for_s, self._hung_s, self._clock = for_s, hung_s, clock
        self._until: float | None = None

    @property
    def is_on(self) -> bool:
        """Whether it is to be left alone."""
        return self._until is not None and self._clock() < self._until

    @contextmanager
    def asking(self) -> Iterator[None]:
        """Ask it: its rest begins where that fails after long, and ends where it answers."""
        begun = self._clock()
        try:
            yield
        except Exception:
            if self._clock() - begun >= self._hung_s:
                self._until = self._clock() + self._for_s
            raise
        self._until = None
