"""The virtual clock: what is to happen, in the order in which it is due."""

from __future__ import annotations

from collections.abc import Callable
from heapq import heappop, heappush
from typing import Any

EPOCH = 1_700_000_000_000  # ms; subscription versions and born times are taken from the clock, so it begins in 2023

Action = Callable[[], object]
Alarm = list[Any]  # [when, number, action]; a list, so that the heap compares it in C and it can be called off


class Clock:
    """The time, in ms, and what is still to come.

    Attributes:
        now: the time.
        ticks: how many things have happened.
    """

    def __init__(self) -> None:
        self.now = EPOCH
        self.ticks = 0
        self._heap: list[Alarm] = []
        self._numbers = 0

    def at(self, when: int, action: Action) -> Alarm:
        """Let something happen at a time; what is due together happens in the order in which it was asked for."""
        self._numbers += 1
        alarm: Alarm = [max(when, self.now), self._numbers, action]
        heappush(self._heap, alarm)
        return alarm

    def after(self, ms: int, action: Action) -> Alarm:
        """Let something happen after so many ms."""
        return self.at(self.now + ms, action)

    @staticmethod
    def call_off(alarm: Alarm) -> None:
        """Do not let it happen."""
        alarm[2] = None

    def run_until(self, end: int) -> None:
        """Let everything happen that is due up to ``end``."""
        heap = self._heap
        while heap and heap[0][0] <= end:
            when, _, action = heappop(heap)
            if action is not None:
                self.now = when
                self.ticks += 1
                action()
        self.now = max(self.now, end)
