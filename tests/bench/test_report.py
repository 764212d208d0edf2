"""The arithmetic of the benchmarks: medians, ratios, aims and the table. Nothing here looks at a clock."""

from __future__ import annotations

import pytest

from tests.bench.report import Aim, Row, at_most, figure, short_size, table, times_faster, within_times
from tests.bench.timing import FEWEST_ROUNDS, WARM_UPS, Timing, measure


def test_the_median_of_the_rounds_counts() -> None:
    assert Timing([5_000, 1_000, 9_000_000]).median_s == pytest.approx(5e-6)


def test_every_round_gets_something_freshly_prepared() -> None:
    prepared: list[int] = []
    called: list[int] = []

    def prepare() -> int:
        prepared.append(len(prepared))
        return prepared[-1]

    timing = measure(prepare, called.append)

    assert called == prepared
    assert len(called) == WARM_UPS + len(timing.rounds_ns)
    assert len(timing.rounds_ns) >= FEWEST_ROUNDS


def test_a_ratio_says_how_many_times_better_ours_is() -> None:
    assert Row("AVG", "1k/100", ours=0.002, theirs=0.5).ratio == pytest.approx(250)
    assert Row("AVG", "1k/100", ours=0.002).ratio is None
    assert Row("moves", "1k/100", ours=0, unit="moves", theirs=3).ratio is None


@pytest.mark.parametrize(
    ("aim", "ours", "theirs", "met"),
    [
        (at_most(0.2), 0.2, None, True),
        (at_most(0.2), 0.21, None, False),
        (times_faster(10), 0.1, 1.0, True),
        (times_faster(10), 0.11, 1.0, False),
        (within_times(5), 5.0, 1.0, True),
        (within_times(5), 5.1, 1.0, False),
    ],
)
def test_an_aim_is_met_or_not(aim: Aim, ours: float, theirs: float | None, met: bool) -> None:
    assert aim.is_met(ours, theirs) is met


def test_an_aim_against_a_peer_needs_the_peer() -> None:
    with pytest.raises(ValueError, match="needs a peer's figure"):
        times_faster(10).is_met(1.0, None)


@pytest.mark.parametrize(
    ("value", "unit", "text"),
    [
        (0.000_012_34, "s", "12.3 µs"),
        (0.0021, "s", "2.1 ms"),
        (25.04, "s", "25 s"),
        (259_431.0, "s", "259,431 s"),
        (48.83, "B", "48.8 B"),
        (2047, "B", "2,047 B"),
        (10, "moves", "10 moves"),
    ],
)
def test_a_figure_has_three_digits_that_count(value: float, unit: str, text: str) -> None:
    assert figure(value, unit) == text


@pytest.mark.parametrize(("queues", "consumers", "text"), [(1_000_000, 10_000, "1M/10k"), (1_500, 100, "1500/100")])
def test_a_size_is_short(queues: int, consumers: int, text: str) -> None:
    assert short_size(queues, consumers) == text


def test_the_table_says_aim_and_verdict() -> None:
    rows = [Row("AVG", "1k/100", 1e-5, peer="Java", theirs=0.1, aim=times_faster(5000)), Row("write", "1k/100", 1e-6)]

    lines = table(rows).splitlines()

    assert [cell.strip() for cell in lines[2].split("|")[1:-1]] == [
        *("AVG", "1k/100", "10 µs", "Java", "100 ms", "10,000", ">= 5,000 x", "yes", "")
    ]
    assert "NO" not in lines[3]
    assert len({len(line) for line in lines}) == 1
