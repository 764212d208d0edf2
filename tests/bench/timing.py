"""How long a call takes: the median of many rounds in this process."""

from __future__ import annotations

import gc
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from statistics import median
from time import perf_counter_ns
from typing import TypeVar

T = TypeVar("T")
WARM_UPS = 2
FEWEST_ROUNDS = 5
MOST_ROUNDS = 301
ENOUGH_S = 0.5  # of one measurement: the median of very quick calls does not get better after that


@dataclass(frozen=True, slots=True)
class Timing:
    """What the rounds of one measurement took."""

    rounds_ns: Sequence[int]

    @property
    def median_s(self) -> float:
        """The median round, in seconds."""
        return median(self.rounds_ns) / 1e9


def measure(prepare: Callable[[], T], call: Callable[[T], object]) -> Timing:
    """Time ``call`` on what ``prepare`` makes for each round; making it is not timed, and neither is collecting it."""
    for _ in range(WARM_UPS):
        call(prepare())
    collecting = gc.isenabled()
    gc.disable()
    try:
        return Timing(_rounds(prepare, call))
    finally:
        if collecting:
            gc.enable()


def _rounds(prepare: Callable[[], T], call: Callable[[T], object]) -> list[int]:
    rounds: list[int] = []
    while len(rounds) < FEWEST_ROUNDS or (len(rounds) < MOST_ROUNDS and sum(rounds) < ENOUGH_S * 1e9):
        given = prepare()
        begun = perf_counter_ns()
        result = call(given)
        rounds.append(perf_counter_ns() - begun)
        del result
    return rounds


def repeat(call: Callable[[], object]) -> Timing:
    """Time a call that needs nothing prepared."""
    return measure(lambda: None, lambda _: call())
