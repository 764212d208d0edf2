from __future__ import annotations

import json

import pytest

from dashboard.common.spans import HARD, between, clock, day, estimate, plain, plain_between, plain_span, span, together
from tests.house.project import ROOT

CASES = json.loads((ROOT / "tests/words/spans.json").read_text())
BOUNDS = json.loads((ROOT / "tests/words/bounds.json").read_text())


@pytest.mark.parametrize(("ms", "words"), CASES)
def test_durations_are_written_as_javascript_writes_them(ms: int, words: str) -> None:
    assert span(ms) == words


def test_what_is_unknown_is_said() -> None:
    assert span(None) == "unknown"
    assert clock(None) == "–"


def test_instants_are_utc() -> None:
    assert clock(1_700_000_000_007) == "22:13:20.007"
    assert clock(1_700_000_000_007, millis=False) == "22:13:20"
    assert day(1_700_000_000_007) == "2023-11-14"


@pytest.mark.parametrize(("low", "high", "words", "mark"), BOUNDS)
def test_bounds_are_said_as_bounds_as_javascript_says_them(
    low: int | None, high: int | None, words: str, mark: str
) -> None:
    assert between(low, high) == (words, mark)


@pytest.mark.parametrize(
    ("low", "high", "words"),
    [
        (200, 200, "~\u00a0200\u00a0ms"),
        (100, 200, "~\u00a0100\u00a0ms\u00a0– 200\u00a0ms"),
        (0, 900, "≤\u00a0~\u00a0900\u00a0ms"),
        (0, 0, "~\u00a00\u00a0ms"),
        (100, None, "≥\u00a0~\u00a0100\u00a0ms"),
        (236_200, 236_400, "~\u00a03\u00a0min\u00a056\u00a0s"),
    ],
)
def test_what_earlier_ones_let_expect_is_marked_as_an_estimate(low: int, high: int | None, words: str) -> None:
    assert estimate(low, high) == words


def test_at_least_nothing_is_no_figure() -> None:
    assert between(0, None) == between(None, None) == ("unknown", "unknown")
    assert (estimate(0, None), between(1, None)) == ("unknown", ("≥\u00a01\u00a0ms", "bound"))


def test_a_number_its_sign_and_its_units_stay_in_one_line() -> None:
    sentence = "for 1 min 00 s, 2 h 05 min or 3 d 04 h, ≥ ~ 42 s in 3 of 4 %, 5 members, 59 s内, A 5 sends"

    told = together(sentence).replace(HARD, "_")

    assert told == "for 1_min_00_s, 2_h_05_min or 3_d_04_h, ≥_~_42_s in 3 of 4_%, 5 members, 59_s内, A 5 sends"


def test_what_a_machine_reads_has_ordinary_spaces() -> None:
    assert (plain_span(69_000), plain_between(2, 5)) == ("1 min 09 s", ("2 ms – 5 ms", "bound"))
    assert plain(span(42_000)) == "42.0 s"
