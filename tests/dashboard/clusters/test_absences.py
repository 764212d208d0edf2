from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from dashboard.clusters.absences import MOST_ABSENCES, Absence, unkept_return, with_one_more


def away(at: int) -> Absence:
    """Gone between ``at`` and 1 ms later, back between 2 and 3 ms later."""
    return [at, at + 1, at + 2, at + 3]


def test_a_queue_that_was_never_away_came_back_never() -> None:
    assert unkept_return(5, 5, None) is None
    assert unkept_return(5, 5, [away(10)]) is None


def test_of_one_whose_first_coming_nobody_kept_all_that_is_known_is_since_when_it_is_there() -> None:
    assert unkept_return(5, None, None) == 5


def test_a_return_that_nobody_kept_stays_known_after_later_absences() -> None:
    once = with_one_more(None, away(10), since=5, came_at=None)
    twice = with_one_more(once, away(20), since=13, came_at=None)

    assert twice == [[None, None, None, 5], away(10), away(20)]
    assert unkept_return(23, None, twice) == 5


@given(st.integers(0, 40), st.booleans())
def test_the_last_absences_are_kept_in_order_and_when_it_was_back_from_those_before(count: int, is_kept: bool) -> None:
    kept: list[Absence] | None = None
    since, came_at = 5, 5 if is_kept else None
    for number in range(count):
        kept = with_one_more(kept, away(10 * (number + 1)), since=since, came_at=came_at)
        since = 10 * (number + 1) + 3

    whole = [away(10 * (number + 1)) for number in range(count)]
    is_all = count < MOST_ABSENCES or (is_kept and count == MOST_ABSENCES)
    cut = 0 if is_all else count - MOST_ABSENCES + 1
    before = whole[cut - 1][3] if cut else None if is_kept else 5
    first: list[Absence] = [] if before is None or not count else [[None, None, None, before]]
    assert (kept or []) == [*first, *whole[cut:]]
    assert len(kept or ()) <= MOST_ABSENCES
    assert unkept_return(since, came_at, kept) == before
