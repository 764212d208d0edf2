from __future__ import annotations

from contextlib import suppress

from dashboard.common.rest import Rest


class Clock:
    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


def ask_in_vain(rest: Rest, clock: Clock, seconds: float) -> None:
    with suppress(TimeoutError), rest.asking():
        clock.now += seconds
        raise TimeoutError


def test_what_hung_is_left_alone_until_its_time_is_over() -> None:
    clock = Clock()
    rest = Rest(for_s=30, clock=clock)
    assert not rest.is_on

    ask_in_vain(rest, clock, 10)
    clock.now += 29.9
    assert rest.is_on
    clock.now += 0.1
    assert not rest.is_on


def test_what_answers_has_no_rest_any_more() -> None:
    clock = Clock()
    rest = Rest(for_s=30, clock=clock)
    ask_in_vain(rest, clock, 10)

    with rest.asking():
        pass

    assert not rest.is_on


def test_what_fails_at_once_may_be_asked_again_at_once() -> None:
    clock = Clock()
    rest = Rest(for_s=30, clock=clock)

    ask_in_vain(rest, clock, 0.1)

    assert not rest.is_on
