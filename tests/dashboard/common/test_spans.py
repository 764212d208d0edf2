from __future__ import annotations

import json

import pytest

from dashboard.common.spans import between, clock, day, estimate, span
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
        (200, 200, "~ 200 ms"),
        (100, 200, "~ 100 ms – 200 ms"),
        (0, 900, "≤ ~ 900 ms"),
        (0, 0, "~ 0 ms"),
        (100, None, "≥ ~ 100 ms"),
        (236_200, 236_400, "~ 3 min 56 s"),
    ],
)
def test_what_earlier_ones_let_expect_is_marked_as_an_estimate(low: int, high: int | None, words: str) -> None:
    assert estimate(low, high) == words


def test_at_least_nothing_is_no_figure() -> None:
    assert between(0, None) == between(None, None) == ("unknown", "unknown")
    assert (estimate(0, None), between(1, None)) == ("unknown", ("≥ 1 ms", "bound"))
