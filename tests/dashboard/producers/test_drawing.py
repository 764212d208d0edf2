from __future__ import annotations

from dashboard.producers.drawing import Box, draw, name_bands, steps, ticks
from dashboard.producers.standing import Backoff, Send


def test_sends_and_backoffs_stand_where_they_were() -> None:
    box = Box(100, 50, 1_000, 2_000)
    sends = [Send(900, 5, "ok", None), Send(1_500, 1, "ok", None), Send(2_000, 900, "ok", None)]
    sends.append(Send(1_000, 30_000, "broker error", None))
    backoffs = [
        Backoff(500, 100, is_isolated=True, ended_at=None),
        Backoff(1_500, 9_000, is_isolated=True, ended_at=None),
    ]

    picture = draw(box, sends, backoffs, [1])

    assert picture["sends"] == [
        {"x": 50.0, "y": 48.0, "kind": "fine"},
        {"x": 100.0, "y": box.y(900), "kind": "slow"},
        {"x": 0.0, "y": 4.0, "kind": "failed"},
    ]
    assert picture["backoffs"] == [{"x": 50.0, "width": 50.0, "ms": 9_000, "is_isolated": True}]
    assert picture["lines"] == [{"y": 48.0, "ms": 1}]


def test_the_axis_of_time_has_round_instants_and_not_too_many() -> None:
    assert ticks(Box(1_000, 96, 61_000, 121_000)) == [
        {"x": 15.0, "at": 70_000},
        {"x": 31.67, "at": 80_000},
        {"x": 48.33, "at": 90_000},
        {"x": 65.0, "at": 100_000},
        {"x": 81.67, "at": 110_000},
        {"x": 98.33, "at": 120_000},
    ]
    assert len(ticks(Box(1_000, 96, 0, 600_000))) <= 9
    assert len(ticks(Box(1_000, 96, 0, 30 * 86_400_000))) <= 9


def test_the_lines_of_latencies_say_their_unit() -> None:
    box = Box(1_000, 96, 0, 1)

    assert steps(box, [550, 3_000]) == [{"y": box.y(550), "words": "550 ms"}, {"y": box.y(3_000), "words": "3 s"}]


def test_words_of_backoffs_stand_after_them_or_before_the_last_and_never_on_each_other() -> None:
    box = Box(1_000, 96, 0, 100_000)
    times = [(10_000, 10_000), (12_000, 10_000), (95_000, 60_000), (200_000, 1)]
    backoffs = [Backoff(at, ms, is_isolated=True, ended_at=None) for at, ms in times]

    marks = name_bands(box, backoffs)

    assert [(mark.backoff.at, mark.x, mark.is_end) for mark in marks] == [(95_000, 95.0, True), (12_000, 22.0, False)]


def test_words_of_a_backoff_stand_on_no_other_one() -> None:
    box = Box(1_000, 96, 0, 100_000)
    backoffs = [Backoff(at, 4_000, is_isolated=False, ended_at=None) for at in (80_000, 86_000, 92_000)]

    assert [(mark.backoff.at, mark.x, mark.is_end) for mark in name_bands(box, backoffs)] == [(80_000, 80.0, True)]
