from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from rebalance_engine.model import MessageQueue
from rebalance_engine.pipeline.sweep import Hold, Owners, changes, returns, stopping_ms, stretches, with_holds

QUEUE = MessageQueue("orders", "east", 0)


def owners_at(holds: Sequence[Hold], at_ms: int) -> tuple[str, ...]:
    return tuple(sorted({hold.client for hold in holds if hold.from_ms <= at_ms < hold.until_ms}))


def test_a_handoff_without_overlap_leaves_the_queue_unowned_between() -> None:
    a, b = Hold(0, 10, "A"), Hold(14, 30, "B")

    (change,) = changes([b, a])

    assert (change.giver, change.taker, change.unowned_ms, change.overlap_ms) == (a, b, 4, 0)


def test_a_newcomer_that_takes_early_overlaps() -> None:
    a, b = Hold(0, 10, "A"), Hold(7, 30, "B")

    (change,) = changes([a, b])

    assert (change.giver, change.taker, change.unowned_ms, change.overlap_ms) == (a, b, 0, 3)


def test_a_giver_that_shuts_down_bounds_what_lies_between_by_its_good_bye_and_its_end() -> None:
    late = Hold(0, 10, "A", "stopped", until_after_ms=4)
    (overlapping,) = changes([late, Hold(7, 30, "B")])
    (apart,) = changes([late, Hold(14, 30, "B")])
    (before,) = changes([late, Hold(2, 30, "B")])

    assert [(one.overlap_least_ms, one.overlap_ms) for one in (overlapping, apart, before)] == [(0, 3), (0, 0), (2, 8)]
    assert [(one.unowned_ms, one.unowned_most_ms) for one in (overlapping, apart, before)] == [(0, 3), (4, 10), (0, 0)]


def test_two_owners_of_which_one_shuts_down_are_told_apart_from_two_that_stay() -> None:
    stays, stops = Hold(7, 30, "B"), Hold(0, 10, "A", "stopped", until_after_ms=9)
    looked_at = Hold(0, 10, "A", "released", until_after_ms=4)

    def stopping(*holds: Hold) -> list[int]:
        return [stopping_ms(stretch, holds) for stretch in stretches(holds)]

    assert stopping(stops, stays) == [0, 1, 0]
    assert stopping(stops, stays, Hold(7, 30, "C")) == [0, 0, 0]
    assert stopping(looked_at, stays) == [0, 0, 0]


def test_a_queue_that_comes_back_to_its_owner_is_a_return_and_no_handoff() -> None:
    a, again = Hold(0, 10, "A"), Hold(25, 30, "A")

    (change,) = returns([a, again])

    assert list(changes([a, again])) == []
    assert (change.giver, change.taker, change.unowned_ms) == (a, again, 15)


def test_who_holds_it_inside_of_another_holds_time_changes_nothing() -> None:
    assert list(changes([Hold(0, 30, "A"), Hold(5, 10, "B")])) == []


HOLDS = st.lists(
    st.builds(
        lambda begin, lasts, client: Hold(begin, begin + lasts, client),
        st.integers(0, 60),
        st.integers(1, 30),
        st.sampled_from("ABC"),
    ),
    max_size=8,
)


@given(HOLDS)
def test_stretches_say_of_every_moment_who_holds(holds: list[Hold]) -> None:
    told = list(stretches(holds))

    for stretch in told:
        for at in range(stretch.from_ms, stretch.until_ms):
            assert owners_at(holds, at) == stretch.clients
    assert sum(stretch.lasts_ms for stretch in told) == (
        max(h.until_ms for h in holds) - min(h.from_ms for h in holds) if holds else 0
    )


@given(HOLDS, st.integers(0, 30))
def test_a_handoffs_bounds_hold_whenever_in_its_shutdown_the_giver_let_go(holds: list[Hold], early: int) -> None:
    stopped = [
        replace(hold, ended="stopped", until_after_ms=max(hold.from_ms, hold.until_ms - early)) for hold in holds
    ]

    for change in changes(stopped):
        assert 0 <= change.overlap_least_ms <= change.overlap_ms
        assert change.unowned_ms <= change.unowned_most_ms <= change.unowned_ms + early
    for stretch in stretches(stopped):
        several = [
            len({hold.client for hold in stopped if hold.from_ms <= at < hold.stays_ms}) > 1
            for at in range(stretch.from_ms, stretch.until_ms)
        ]
        assert stopping_ms(stretch, stopped) == (several.count(False) if len(stretch.clients) > 1 else 0)


@given(HOLDS)
def test_handoffs_lead_from_owner_to_owner(holds: list[Hold]) -> None:
    told = list(changes(holds))

    assert all(change.giver.client != change.taker.client for change in told)
    assert all(one.taker.client == other.giver.client for one, other in pairwise(told))


@given(HOLDS)
def test_owners_are_those_who_hold_at_each_moment_asked_for(holds: list[Hold]) -> None:
    told = Owners({QUEUE: holds})

    for at in range(0, 100, 3):
        told.reach(at)
        ((queue, owners),) = told.of_queues
        assert (queue, tuple(sorted(owners))) == (QUEUE, owners_at(holds, at))
        assert sorted(told.clients) == sorted(owners)


@given(HOLDS)
def test_holds_stand_beside_each_stretch_that_they_last_through(holds: list[Hold]) -> None:
    for stretch, there in with_holds(stretches(holds), holds):
        through = [hold for hold in holds if hold.from_ms <= stretch.from_ms and stretch.until_ms <= hold.until_ms]
        assert sorted(map(repr, there)) == sorted(map(repr, through))


@given(HOLDS)
def test_a_handoff_is_from_the_givers_last_hold_before_it_to_the_takers_first_that_goes_on(holds: list[Hold]) -> None:
    singles = [stretch for stretch in stretches(holds) if len(stretch.clients) == 1]
    pairs = [(one, other) for one, other in pairwise(singles) if one.clients != other.clients]
    for change, (before, after) in zip(changes(holds), pairs, strict=True):
        given = [hold for hold in holds if (hold.client,) == before.clients and hold.until_ms <= after.from_ms]
        taken = [hold for hold in holds if (hold.client,) == after.clients and hold.until_ms >= after.until_ms]
        assert change.giver == max(given, key=lambda hold: hold.until_ms)
        assert change.taker.from_ms == min(hold.from_ms for hold in taken)


def test_two_processes_under_one_client_id_are_two_owners_and_no_handoff() -> None:
    one = Hold(0, 60_000, "A", "stopped", "web1/7")
    other = Hold(10_000, 70_000, "A", "open", "web2/7")
    copy = Hold(30_000, 60_000, "A", "stopped", "copy-of-web1/7")

    cut = [(piece.from_ms, piece.until_ms, piece.clients) for piece in stretches([one, other])]

    assert cut == [(0, 10_000, ("A",)), (10_000, 60_000, ("A", "A")), (60_000, 70_000, ("A",))]
    assert {piece.clients for piece in stretches([one, copy])} == {("A",)}
    assert (list(changes([one, other])), list(returns([one, other]))) == ([], [])
