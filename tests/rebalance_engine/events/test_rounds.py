import pytest

from rebalance_engine.events import (
    EXACT,
    Cause,
    Duplicates,
    Exactness,
    Handoff,
    Interval,
    Overlap,
    Pause,
    QueueMoved,
    RoundOpened,
    RoundSuperseded,
    Silence,
    Unowned,
)
from tests.rebalance_engine.facts import plain


def test_rounds_are_counted_from_one() -> None:
    with pytest.raises(ValueError, match=r"RoundOpened\.round is 0; it needs int from 1"):
        plain(RoundOpened, round=0)


def test_a_round_may_open_for_an_unknown_cause() -> None:
    assert plain(RoundOpened, cause=Cause.UNKNOWN).cause.value == "unknown"


@pytest.mark.parametrize("by", [2, 3])
def test_only_a_later_round_supersedes(by: int) -> None:
    with pytest.raises(ValueError, match=f"round 3 superseded by {by}; it needs a later one"):
        plain(RoundSuperseded, round=3, by=by)


@pytest.mark.parametrize(("from_client", "to_client"), [("A", "B"), (None, "B"), ("A", None)])
def test_a_move_has_two_different_owners_one_of_whom_may_be_nobody(
    from_client: str | None, to_client: str | None
) -> None:
    assert plain(QueueMoved, from_client=from_client, to_client=to_client).to_client == to_client


@pytest.mark.parametrize("owner", ["A", None])
def test_a_move_to_the_same_owner_is_refused(owner: str | None) -> None:
    with pytest.raises(ValueError, match="to the same; a move needs two different owners"):
        plain(QueueMoved, from_client=owner, to_client=owner)


def test_a_handoff_to_oneself_is_refused() -> None:
    with pytest.raises(ValueError, match="from 'A' to the same; a handoff needs two members"):
        plain(Handoff, from_client="A", to_client="A")


def test_nobody_pulls_before_adding() -> None:
    with pytest.raises(ValueError, match="first pull at 9, added at 10; nobody pulls before adding"):
        plain(Handoff, added_at=10, first_pull_at=9)


def test_a_queue_may_be_added_before_it_is_dropped_for_that_is_an_overlap() -> None:
    assert plain(Handoff, added_at=10, dropped_at=900, first_pull_at=10).dropped_at == 900


@pytest.mark.parametrize("kind", [Unowned, Overlap, Pause, Silence], ids=lambda kind: kind.__name__)
@pytest.mark.parametrize("exactness", [EXACT, Exactness.at_most(900), Exactness.between(0, 900)], ids=str)
def test_what_still_lasts_is_a_lower_bound_and_nothing_else(kind: type[Interval], exactness: Exactness) -> None:
    assert not plain(kind, duration_ms=500, has_ended=False, exactness=Exactness.at_least(500)).has_ended
    with pytest.raises(ValueError, match=r"still lasts, and is .*; it needs 'at least'"):
        plain(kind, duration_ms=500, has_ended=False, exactness=exactness)


@pytest.mark.parametrize("clients", [(), ("A",), ("A", "A")])
def test_an_overlap_needs_two_members(clients: tuple[str, ...]) -> None:
    with pytest.raises(ValueError, match="it needs two members or more"):
        plain(Overlap, clients=clients)


def test_duplicates_lie_between_a_first_and_a_last_offset() -> None:
    assert plain(Duplicates, count=1, first_offset=8, last_offset=8).last_offset == 8
    with pytest.raises(ValueError, match="offsets 9 to 8; the first must not be above the last"):
        plain(Duplicates, count=2, first_offset=9, last_offset=8)


def test_a_count_outside_of_its_own_bounds_is_refused() -> None:
    with pytest.raises(ValueError, match="Duplicates: count is 3, outside of its own bounds"):
        plain(Duplicates, count=3, exactness=Exactness.at_most(2))
