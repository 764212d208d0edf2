from rebalance_engine.embedded.rates import Rates, Snapshot


def test_what_nobody_counted_is_not_there() -> None:
    rates = Rates()

    assert rates.spans("PUT", "T", 5) is None
    assert (rates.total("PUT", "T"), rates.per_second("PUT", "T", 5), rates.mornings("PUT", "T")) == (0, 0.0, (0, 0))
    assert rates.recent("PUT", "T", 5) == (0.0, 0.0, 0.0)


def test_a_rate_is_over_the_time_since_counting_began() -> None:
    rates = Rates()
    for _ in range(30):
        rates.add("PUT", "T", 2, 0)

    spans = rates.spans("PUT", "T", 20_000)

    assert spans == (Snapshot(total=60, per_second=3.0, per_time=2.0),) * 3


def test_what_was_more_than_a_minute_ago_is_in_the_hour_only() -> None:
    rates = Rates()
    rates.add("PUT", "T", 6, 0)
    for at in range(10_000, 80_000, 10_000):
        rates.sample(at)

    spans = rates.spans("PUT", "T", 75_000)

    assert spans is not None
    assert (spans[0].total, spans[1].total, rates.per_second("PUT", "T", 75_000)) == (0, 6, 0.0)


def test_the_last_seconds_are_told_apart() -> None:
    rates = Rates()
    rates.add("PUT", "T", 10, 0)
    for at in range(10_000, 30_000, 10_000):
        rates.sample(at)
    rates.add("PUT", "T", 10, 25_000)

    assert rates.recent("PUT", "T", 30_000) == (1.0, 0.67, 0.67)


def test_what_is_still_for_a_day_is_forgotten() -> None:
    rates = Rates()
    rates.add("PUT", "T", 1, 0)
    for hour in range(1, 27):
        rates.sample(hour * 3_600_000)

    assert rates.total("PUT", "T") == 0


def test_mornings_are_those_of_yesterday_and_today() -> None:
    day, rates = 86_400_000, Rates()
    rates.sample(0)
    rates.add("PUT", "T", 5, 1)
    rates.sample(day)
    rates.add("PUT", "T", 2, day + 1)
    rates.sample(2 * day)
    rates.add("PUT", "T", 2, 2 * day + 1)

    assert (rates.mornings("PUT", "T"), rates.total("PUT", "T")) == ((5, 7), 9)
