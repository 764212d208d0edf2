"""A watcher's clock by two that are told what to say, in seconds."""

from __future__ import annotations

from dataclasses import dataclass

from hypothesis import given
from hypothesis import strategies as st

from rebalance_engine.network.watcher import WatcherClock

HOUR = 3_600.0


@dataclass
class Clocks:
    """A wall clock that can be set, and one that only goes on."""

    wall: float = 1_000_000.0
    monotone: float = 5.0

    def pass_by(self, seconds: float) -> None:
        self.wall += seconds
        self.monotone += seconds

    def watcher(self) -> WatcherClock:
        return WatcherClock(wall=lambda: self.wall, monotone=lambda: self.monotone)


def test_it_tells_the_time_of_the_wall_clock() -> None:
    clocks = Clocks()
    watcher = clocks.watcher()
    first = watcher.now()

    clocks.pass_by(1.5)

    assert (first, watcher.now()) == (1_000_000_000, 1_000_001_500)


def test_a_wall_clock_that_is_set_back_is_waited_for_and_time_goes_on() -> None:
    clocks = Clocks()
    watcher = clocks.watcher()
    watcher.now()

    clocks.wall -= 10
    clocks.pass_by(1)
    later = watcher.now()
    clocks.pass_by(200)

    assert later == 1_000_000_900
    assert watcher.now() == int(clocks.wall * 1000)


def test_a_wall_clock_that_is_set_ahead_or_went_on_while_the_machine_slept_is_followed() -> None:
    clocks = Clocks()
    watcher = clocks.watcher()
    watcher.now()

    clocks.wall += HOUR

    assert watcher.now() == int(clocks.wall * 1000)


def test_a_lease_begins_after_what_is_stored() -> None:
    clocks = Clocks()
    watcher = clocks.watcher()

    assert watcher.keep_after(999_999_000) == 0
    assert watcher.now() == 1_000_000_000
    assert watcher.keep_after(1_000_003_000) == 3_001
    assert watcher.now() == 1_000_003_001


@given(st.lists(st.tuples(st.floats(-HOUR, HOUR), st.floats(0, 60))))
def test_it_never_goes_back_nor_behind_the_wall_clock(steps: list[tuple[float, float]]) -> None:
    clocks = Clocks()
    watcher, before = clocks.watcher(), 0

    for is_set_by, seconds in steps:
        clocks.wall += is_set_by
        clocks.pass_by(seconds)
        now = watcher.now()
        assert now >= max(before, int(clocks.wall * 1000))
        before = now
