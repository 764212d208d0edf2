from collections.abc import Sequence
from itertools import pairwise
from random import Random

import pytest

from dashboard.demo.script import (
    BROKER_PAUSE_MS,
    OPENING_MS,
    RESPECT_MS,
    Act,
    Disband,
    Down,
    Go,
    Going,
    Join,
    Resume,
    Script,
    Slow,
    Stall,
)
from dashboard.demo.shop import CASTS

HOUR_MS = 3_600_000


class Theatre:
    """Plays a script on a clock of its own, and keeps who lives."""

    def __init__(self, seed: int) -> None:
        self.script = Script(0, Random(seed))
        self.members = {cast.group: [cast.member(number + 1) for number in range(cast.first)] for cast in CASTS}
        self.numbers = {cast.group: cast.first for cast in CASTS}
        self.played: list[tuple[int, Act]] = []

    def play(self, until: int) -> Sequence[tuple[int, Act]]:
        while (at := self.script.next_at) <= until:
            for act in self.script.due(at, self.members):
                self.played.append((at, act))
                self._perform(act)
        return self.played

    def _perform(self, act: Act) -> None:
        match act:
            case Join(group):
                self.numbers[group] += 1
                self.members[group].append(f"{group}-{self.numbers[group]}")
            case Go(group, _, member):
                self.members[group].remove(member or self.members[group][-1])
            case Disband(group):
                self.members[group].clear()


def test_the_first_minute_shows_every_kind_of_change() -> None:
    opening = [act for _, act in Theatre(1).play(60_000)]

    assert {type(act) for act in opening} == {Join, Go, Disband, Slow, Stall}
    assert {act.how for act in opening if isinstance(act, Go)} == set(Going)


def test_the_same_seed_is_the_same_play_and_another_one_another() -> None:
    assert Theatre(7).play(HOUR_MS) == Theatre(7).play(HOUR_MS)
    assert Theatre(7).play(HOUR_MS) != Theatre(8).play(HOUR_MS)


@pytest.mark.parametrize("seed", range(20))
def test_groups_stay_within_their_sizes_and_something_happens_all_the_time(seed: int) -> None:
    theatre = Theatre(seed)
    last = 0

    while last < HOUR_MS:
        at = theatre.script.next_at
        assert at - last <= 25_000
        theatre.play(at)
        last = at
        for cast in CASTS:
            if cast.is_lively:
                assert cast.least - 1 <= len(theatre.members[cast.group]) <= cast.most, cast.group
    assert {type(act) for _, act in theatre.played} >= {Join, Go, Stall, Slow}


@pytest.mark.parametrize("seed", range(5))
def test_one_broker_is_in_trouble_at_a_time(seed: int) -> None:
    troubles = [(at, act) for at, act in Theatre(seed).play(3 * HOUR_MS) if isinstance(act, Slow | Down)]

    assert any(isinstance(act, Down) for _, act in troubles)
    for (at, act), (later, _) in pairwise(troubles):
        assert later >= at + act.for_ms + BROKER_PAUSE_MS


def test_a_group_is_left_alone_after_an_order() -> None:
    theatre = Theatre(3)
    theatre.play(OPENING_MS - 1)
    for cast in CASTS:
        theatre.script.leave_alone(cast.group, OPENING_MS)
    before = len(theatre.played)

    theatre.play(OPENING_MS + RESPECT_MS - 1)

    assert [act for _, act in theatre.played[before:] if not isinstance(act, Slow | Down)] == []


def test_the_opening_leaves_a_group_alone_too_and_makes_up_for_it() -> None:
    theatre = Theatre(3)
    theatre.play(50_000)
    theatre.script.leave_alone("billing", 50_000)
    theatre.members["billing"].append("somebody's own")
    theatre.script.add(60_000, Resume("billing", "billing-1"))
    before = len(theatre.played)

    theatre.play(50_000 + RESPECT_MS - 1)
    assert [act for _, act in theatre.played[before:] if getattr(act, "group", "") == "billing"] == [
        Resume("billing", "billing-1")
    ]

    theatre.play(50_000 + RESPECT_MS)
    assert (50_000 + RESPECT_MS, Go("billing", Going.FALLS_SILENT)) in theatre.played


def test_what_is_added_happens_then() -> None:
    script = Script(0, Random(1))
    script.add(3_000, Resume("billing", "billing-1"))

    assert script.next_at == 3_000
    assert script.due(2_999, {}) == []
    assert script.due(3_000, {}) == [Resume("billing", "billing-1")]
