from __future__ import annotations

from dataclasses import replace

from dashboard.pauses.costs import Between, Sum, Told, cost_of, longest_of, pause_of, sum_of


def told(queue: str, pause: Between, unowned: Between | None = None) -> Told:
    return Told(queue, 1, 0, "A", "B", pause, unowned or Between(0, 0), Between(0, 0), is_seen=True)


def test_the_longest_is_known_no_closer_than_its_bounds() -> None:
    assert longest_of([]) == Between(0, 0)
    assert longest_of([Between(5, 9), Between(1, 20)]) == Between(5, 20)
    assert longest_of([Between(5, 9), Between(7, None)]) == Between(7, None)
    assert longest_of([Between(None, None)]) == Between(None, None)


def test_a_sum_with_something_unknown_has_no_upper_bound() -> None:
    assert sum_of([Between(1, 2), Between(3, 4)]) == Sum(4, 6, 0)
    assert sum_of([Between(1, 2), Between(3, None), Between(None, None)]) == Sum(4, None, 2)


def test_without_a_first_pull_a_pause_lasts_at_least_as_long_as_nobody_had_the_queue() -> None:
    assert pause_of(Between(3, 4), Between(1, 2)) == Between(3, 4)
    assert pause_of(Between(None, None), Between(1, 2)) == Between(1, None)
    assert pause_of(Between(None, None), Between(None, None)).is_known is False


def test_a_cost_counts_a_queue_once() -> None:
    cost = cost_of([told("a", Between(1, 2)), told("a", Between(3, 4), Between(2, 2)), told("b", Between(0, 0))])

    assert (cost.queues, cost.longest) == (2, Between(3, 4))
    assert (cost.paused, cost.unowned) == (Sum(3, 6, 0), Sum(2, 2, 0))  # when they were nobody knows: perhaps at once


def test_the_time_that_two_handoffs_of_a_queue_share_counts_once() -> None:
    """B kept 0 from 1.0 to 5.0 s while C had it, and from 2.0 to 6.0 s while D had it too."""
    first = replace(
        told("a", Between(0, 0)),
        overlap=Between(4_000, 4_400),
        taken=Between(800, 1_000),
        dropped=Between(5_000, 5_200),
    )
    second = replace(first, overlap=Between(4_000, 4_400), taken=Between(1_800, 2_000), dropped=Between(6_000, 6_200))
    later = replace(first, taken=Between(20_000, 20_000), dropped=Between(24_000, 24_400))
    other = replace(first, queue="b")

    assert cost_of([first, second]).overlap == Sum(5_000, 5_400, 0)
    assert cost_of([first, second, later]).overlap == Sum(9_000, 9_800, 0)
    assert cost_of([first, other]).overlap == Sum(8_000, 8_800, 0)


def test_what_is_unknown_of_a_queue_stays_unknown_whatever_overlaps() -> None:
    first = replace(
        told("a", Between(0, 0)), unowned=Between(3_000, 3_000), dropped=Between(0, 0), taken=Between(3_000, 3_000)
    )
    second = replace(first, unowned=Between(2_000, None), taken=Between(2_000, None))

    assert cost_of([first, second]).unowned == Sum(3_000, None, 1)


def test_what_three_had_at_once_counts_once_where_not_all_of_it_is_known() -> None:
    def two(taken: int, low: int, dropped: Between) -> Told:
        return replace(told("q0", Between()), overlap=Between(low, None), taken=Between(taken, taken), dropped=dropped)

    beside = [two(0, 10, Between()), two(2, 8, Between(10, 10))]

    assert cost_of(beside).overlap.low == 10
    assert cost_of([*beside, two(-20, 5, Between(-15, -10))]).overlap.low == 15


def test_pauses_of_a_queue_that_lie_apart_add_up_also_where_no_first_pull_is_known() -> None:
    def paused(dropped: int, taken: int) -> Told:
        each = told("q0", Between(taken - dropped, None), Between(taken - dropped, taken - dropped))
        return replace(each, dropped=Between(dropped, dropped), taken=Between(taken, taken))

    assert cost_of([paused(0, 10), paused(20, 25)]).paused.low == 15
