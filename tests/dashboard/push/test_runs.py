import pytest
from hypothesis import given
from hypothesis import strategies as st

from dashboard.push.runs import differ, pack, unpack

numbers = st.sets(st.integers(0, 60))


def test_runs_skip_and_take_alternately() -> None:
    assert pack([9, 3, 4, 5]) == (3, 3, 3, 1)
    assert unpack((3, 3, 3, 1)).tolist() == [3, 4, 5, 9]
    assert pack([]) == ()


@given(numbers)
def test_a_set_comes_back(given_numbers: set[int]) -> None:
    assert set(unpack(pack(list(given_numbers))).tolist()) == given_numbers


@given(numbers, numbers)
def test_the_difference_of_two_sets_leads_from_either_to_the_other(one: set[int], other: set[int]) -> None:
    change = differ(pack(list(one)), pack(list(other)))

    assert change == pack(list(one ^ other))
    assert differ(pack(list(one)), change) == pack(list(other))


@pytest.mark.parametrize("runs", [(1,), (-1, 2), (0, 1, 2)])
def test_what_is_no_runs_is_refused(runs: tuple[int, ...]) -> None:
    with pytest.raises(ValueError, match="pairs of numbers from 0 up"):
        unpack(runs)
