"""To leave alone for a while what did not answer: whoever asks it anyway waits as long again, each time."""

from __future__ import annotations

import time
from collections.abc import Callable


class Rest:
    """One thing that may not answer, as this process knows it; threads may share it.

    Args:
        for_s: so long nobody asks it after it did not answer.
        clock: seconds.
    """

    def __init__(self, *, for_s: float, clock: Callable[[], float] = time.monotonic) -> None:
        self._for_s, self._clock = for_s, clock
        self._until: float | None = None

    @property
    def is_on(self) -> bool:
        """Whether it is to be left alone."""
        return self._until is not None and self._clock() < self._until

    def begin(self) -> None:
        """It did not answer."""
        self._until = self._clock() + self._for_s

    def end(self) -> None:
        """It answered."""
        self._until = None
