import pytest

from rebalance_engine.model import MessageQueue
from rebalance_engine.pipeline.offs import cut_where_off, is_off, off_or_restarted, off_within, times_without_members
from rebalance_engine.pipeline.sweep import Hold, Stretch

QUEUE, OTHER = MessageQueue("orders", "east", 0), MessageQueue("orders", "east", 1)
LATER = Hold(900, 1_000, "C", "open")
THERE = {"A": [(0, 100)], "B": [(0, 200)], "C": [(800, 1_000)]}


def holds(first: str, last: str) -> dict[MessageQueue, list[Hold]]:
    """A has both queues and gives one to B; nobody takes its other one; both go, and C comes."""
    return {
        QUEUE: [Hold(10, 50, "A"), Hold(60, 200, "B", last), LATER],
        OTHER: [Hold(10, 100, "A", first), LATER],
    }


def test_a_group_is_off_from_its_last_members_stop_until_the_next_comes() -> None:
    assert list(times_without_members(holds("stopped", "stopped"), THERE, {})) == [(200, 800)]


@pytest.mark.parametrize(("first", "last"), [("lost", "stopped"), ("stopped", "lost")])
def test_a_group_that_lost_a_queue_with_its_member_is_down_and_not_off(first: str, last: str) -> None:
    assert list(times_without_members(holds(first, last), THERE, {})) == []


def test_who_was_lost_before_others_took_what_it_had_does_not_matter() -> None:
    taken = {QUEUE: [Hold(10, 50, "A", "lost"), Hold(60, 200, "B", "stopped"), LATER]}

    assert list(times_without_members(taken, THERE, {})) == [(200, 800)]
    assert list(times_without_members(taken, {}, {})) == [(200, 900)]


def test_a_group_is_not_off_while_somebody_may_be_there_who_holds_nothing() -> None:
    """That is who is there by a broker's word, or by none: B lets go what its broker took away, and stays."""
    assert list(times_without_members(holds("stopped", "stopped"), THERE, {"D": [(150, 850)]})) == []
    assert list(times_without_members(holds("stopped", "released"), {"A": [(0, 100)]}, {})) == []


def test_time_without_an_owner_is_cut_where_the_group_goes_off_and_comes_back() -> None:
    off = [(0, 50), (200, 300), (400, 500)]

    parts = list(cut_where_off(Stretch(100, 450, ()), off))

    edges = [(part.from_ms, part.until_ms, is_off(part, off)) for part in parts]
    assert edges == [(100, 200, False), (200, 300, True), (300, 400, False), (400, 450, True)]
    assert off_within(off, 100, 450) == 150
    assert list(cut_where_off(Stretch(100, 450, ("A", "B")), off)) == [Stretch(100, 450, ("A", "B"))]


def test_a_group_that_is_there_again_within_minutes_was_restarted_and_not_off() -> None:
    off, restarts = off_or_restarted([(0, 300_000), (900_000, 1_200_001)])

    assert (off, restarts) == ([(900_000, 1_200_001)], [(0, 300_000)])
