from typing import Any, cast

import pytest

from rebalance_engine.events import EXACT, Bound, Exactness, MemberJoined, Origin, Source, Unowned
from tests.rebalance_engine.facts import AT, plain


@pytest.mark.parametrize("at", [0, AT, 253_402_300_799_999])
def test_any_instant_from_1970_on_is_taken(at: int) -> None:
    assert plain(MemberJoined, at=at).at == at


@pytest.mark.parametrize("at", [-1, AT * 1_000, AT * 1_000_000, 1.5, True, None])
def test_an_instant_before_1970_or_in_smaller_units_is_refused(at: object) -> None:
    with pytest.raises(ValueError, match=r"MemberJoined\.at is .*; it needs int from 0 to 253402300799999"):
        plain(MemberJoined, at=at)


def test_a_fact_of_no_group_is_refused() -> None:
    with pytest.raises(ValueError, match=r"MemberJoined\.group is ''; it needs str of at least 1 character"):
        plain(MemberJoined, group="")


def test_a_fact_without_a_source_is_refused() -> None:
    with pytest.raises(ValueError, match=r"MemberJoined\.source is None; it needs Source"):
        plain(MemberJoined, source=None)


def test_a_source_says_where_to_find_the_proof() -> None:
    source = Source(
        origin=Origin.ADMIN_ANSWER, cluster="demo", broker="east", address="10.0.0.1:10911", detail="code 203"
    )

    assert plain(MemberJoined, source=source).source.broker == "east"


@pytest.mark.parametrize("field", ["cluster", "broker", "address", "client", "detail"])
def test_an_empty_word_in_a_source_is_refused_for_it_would_pass_for_a_known_one(field: str) -> None:
    with pytest.raises(ValueError, match=rf"Source\.{field} is ''"):
        Source(origin=Origin.CLIENT_LOG, **cast(Any, {field: ""}))


@pytest.mark.parametrize(
    ("bound", "low", "high", "words"),
    [
        (Bound.EXACT, 1, None, "'exact' with low; it needs neither low nor high"),
        (Bound.AT_MOST, 1, 2, "'at most' with low and high; it needs high"),
        (Bound.AT_MOST, None, None, "'at most' with neither low nor high; it needs high"),
        (Bound.AT_LEAST, None, 2, "'at least' with high; it needs low"),
        (Bound.BETWEEN, 1, None, "'between' with low; it needs low and high"),
        (Bound.BETWEEN, 2, 1, "low is 2, high 1; low must not be above high"),
    ],
)
def test_a_bound_with_other_limits_than_its_own_is_refused(
    bound: Bound, low: int | None, high: int | None, words: str
) -> None:
    with pytest.raises(ValueError, match=words):
        Exactness(bound, low, high)


@pytest.mark.parametrize(
    ("exactness", "allowed"),
    [
        (EXACT, {1, 2, 3, 4}),
        (Exactness.at_most(3), {1, 2, 3}),
        (Exactness.at_least(2), {2, 3, 4}),
        (Exactness.between(2, 3), {2, 3}),
        (Exactness.between(2, 2), {2}),
    ],
)
def test_limits_belong_to_the_range(exactness: Exactness, allowed: set[int]) -> None:
    assert {figure for figure in (1, 2, 3, 4) if exactness.allows(figure)} == allowed


def test_an_instant_outside_of_its_own_bounds_is_refused() -> None:
    with pytest.raises(ValueError, match=r"MemberJoined: at is 5, outside of its own bounds: .*low=6, high=9"):
        plain(MemberJoined, at=5, exactness=Exactness.between(6, 9))


def test_the_bounds_of_an_interval_are_those_of_its_length() -> None:
    with pytest.raises(ValueError, match="Unowned: duration_ms is 500, outside of its own bounds"):
        plain(Unowned, duration_ms=500, exactness=Exactness.between(AT - 1, AT + 1))

    assert plain(Unowned, duration_ms=500, exactness=Exactness.between(400, 3400)).duration_ms == 500
