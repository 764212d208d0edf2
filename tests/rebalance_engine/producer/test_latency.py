import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rebalance_engine.producer import java
from rebalance_engine.producer.latency import FaultTable, Lesson
from tests.rebalance_engine.producer.luck import WrittenLuck, faults

VECTORS = json.loads((Path(__file__).parent / "vectors" / "backoff.json").read_text())["latency_to_not_available"]
OLD, NEW = java("4.9.7"), java("5.3.0")
ANSWERED = [
    (version, int(latency_ms), wanted) for version, table in VECTORS.items() for latency_ms, wanted in table.items()
]


def table(version: str, *luck: int, **given: object) -> FaultTable:
    return faults(java(version), WrittenLuck(*luck), **given)


def test_the_vectors_are_there() -> None:
    assert len(ANSWERED) == 72
    assert set(VECTORS) == {"4.9.7", "5.3.3", "5.5.0"}


@pytest.mark.parametrize(("version", "latency_ms", "wanted"), ANSWERED)
def test_a_latency_is_backed_off_from_as_long_as_the_released_client_does(
    version: str, latency_ms: int, wanted: int
) -> None:
    assert table(version).duration_ms(latency_ms) == wanted


def test_the_table_is_the_applications_to_set() -> None:
    own = table("5.3.0", latency_max_ms=(10, 20), not_available_ms=(1, 2))

    assert [own.duration_ms(latency_ms) for latency_ms in (9, 10, 20)] == [0, 1, 2]


def test_a_latency_without_its_duration_is_refused() -> None:
    with pytest.raises(ValueError, match="3 latencies and 7 durations"):
        table("5.3.0", latency_max_ms=(1, 2, 3))


@pytest.mark.parametrize(
    ("lesson", "old_ms", "new_ms", "is_reachable"),
    [
        (Lesson.RETURNED, 0, 0, True),
        (Lesson.CLIENT_ERROR, 600_000, 0, True),
        (Lesson.REMOTING_ERROR, 600_000, 10_000, True),
        (Lesson.BROKER_ERROR, 600_000, 10_000, False),
        (Lesson.INTERRUPTED, 0, 0, True),
        (Lesson.ASYNC_REFUSED, 600_000, 10_000, True),
        (Lesson.ASYNC_FAILED, 600_000, 10_000, True),
        (Lesson.ASYNC_NOT_ISSUED, 600_000, 10_000, False),
    ],
)
def test_each_outcome_isolates_as_its_version_says(
    lesson: Lesson, old_ms: int, new_ms: int, *, is_reachable: bool
) -> None:
    old, new = table("4.9.7"), table("5.3.0")

    changes = [faults_.learn("east", lesson, 1, at=100) for faults_ in (old, new)]

    assert [change.backoff_ms for change in changes] == [old_ms, new_ms]
    assert (old.is_reachable("east"), new.is_reachable("east")) == (True, is_reachable)


def test_a_failed_transport_makes_unreachable_only_where_the_detector_runs() -> None:
    with_detector, without = table("5.3.0", detects=True), table("5.3.0")

    for faults_ in (with_detector, without):
        faults_.learn("east", Lesson.REMOTING_ERROR, 1, at=0)

    assert (with_detector.is_reachable("east"), without.is_reachable("east")) == (False, True)


def test_the_stored_latency_is_the_measured_one_even_in_isolation() -> None:
    old = table("4.9.7")

    old.learn("east", Lesson.BROKER_ERROR, 3, at=0)

    item = old.item("east")
    assert item is not None and (item.latency_ms, item.is_isolated) == (3, True)


def test_in_4_x_a_quick_success_ends_an_isolation() -> None:
    old = table("4.9.7")
    old.learn("east", Lesson.BROKER_ERROR, 1, at=0)

    change = old.learn("east", Lesson.RETURNED, 1, at=5)

    assert change.has_ended and old.is_available("east", 5)


def test_from_5_1_4_on_a_quick_success_does_not() -> None:
    new = table("5.3.0")
    new.learn("east", Lesson.BROKER_ERROR, 1, at=0)

    change = new.learn("east", Lesson.RETURNED, 1, at=5)

    assert not change.has_ended and not new.is_available("east", 9_999)
    assert new.is_available("east", 10_000)
    assert change.reachable is True


def test_a_shorter_back_off_moves_nothing_from_5_1_4_on() -> None:
    new = table("5.3.0")
    new.learn("east", Lesson.BROKER_ERROR, 1, at=0)

    assert new.learn("east", Lesson.RETURNED, 600, at=8_000).backoff_ms == 0  # until 10,000 either way
    assert new.learn("east", Lesson.RETURNED, 600, at=8_001).backoff_ms == 2_000


def test_an_unknown_broker_is_available_and_reachable() -> None:
    new = table("5.3.0")

    assert new.is_available("east", 0) and new.is_reachable("east") and new.item("east") is None
    assert len(new) == 0


def test_in_5_1_4_alone_unreachable_means_unavailable() -> None:
    tables = [table(version) for version in ("5.1.4", "5.2.0")]

    for faults_ in tables:
        faults_.learn("east", Lesson.BROKER_ERROR, 1, at=0)

    assert [faults_.is_available("east", 60_000) for faults_ in tables] == [False, True]


def test_a_probe_clears_what_it_finds_and_nothing_else() -> None:
    new = table("5.3.0")
    new.learn("east", Lesson.BROKER_ERROR, 1, at=0)

    assert new.found_reachable("east").reachable is True
    assert new.found_reachable("east").reachable is None
    assert new.found_reachable("west").reachable is None
    assert not new.is_available("east", 1)


def test_a_removed_broker_is_available_and_reachable_at_once() -> None:
    new = table("5.3.0")
    new.learn("east", Lesson.BROKER_ERROR, 1, at=0)

    change = new.remove("east", at=1)

    assert (change.has_ended, change.reachable, len(new)) == (True, True, 0)
    assert not new.remove("east", at=1).has_ended


def test_with_an_empty_table_nobody_is_picked() -> None:
    assert table("4.9.7").pick_one_at_least("A", 0) is None
    assert table("5.3.0").pick_one_at_least("A", 0) is None


def test_of_one_item_it_is_picked_however_bad() -> None:
    old = table("4.9.7")
    old.learn("east", Lesson.BROKER_ERROR, 1, at=0)

    assert old.pick_one_at_least("A", 1) == "east"


def test_in_4_x_the_better_half_is_picked_in_turn() -> None:
    old = table("4.9.7", 0)
    for latency_ms, broker in enumerate(["a", "b", "c", "d", "e"]):
        old.learn(broker, Lesson.RETURNED, latency_ms, at=0)

    assert [old.pick_one_at_least("A", 0) for _ in range(4)] == ["b", "a", "b", "a"]  # 1, 2, 3, 4 of two


def test_available_comes_before_quick_and_quick_before_early() -> None:
    old = table("4.9.7", 3)
    old.update("isolated", 1, 0, is_isolated=True, is_reachable=True)
    old.update("slow", 20, 0, is_isolated=False, is_reachable=True)
    old.update("late", 10, 5, is_isolated=False, is_reachable=True)
    old.update("early", 10, 0, is_isolated=False, is_reachable=True)

    assert [old.pick_one_at_least("A", 10) for _ in range(2)] == ["early", "late"]


def test_ties_are_broken_by_luck_to_4_9_3_and_by_the_map_later() -> None:
    shuffled, walked = table("4.9.3", 0), table("4.9.4", 0)
    for faults_ in (shuffled, walked):
        for broker in ("A", "B"):
            faults_.learn(broker, Lesson.RETURNED, 1, at=0)

    assert shuffled.pick_one_at_least("A", 0) == "B"  # the written luck turns the list round
    assert walked.pick_one_at_least("A", 0) == "A"


def test_from_5_1_4_on_any_reachable_one_is_picked() -> None:
    new = table("5.3.0")
    new.learn("A", Lesson.RETURNED, 1, at=0)
    new.learn("B", Lesson.BROKER_ERROR, 1, at=0)

    assert new.pick_one_at_least("A", 0) == "A"
    new.learn("A", Lesson.BROKER_ERROR, 1, at=0)
    assert new.pick_one_at_least("A", 0) is None


def test_the_counter_of_4_9_0_can_fail_at_its_wrap() -> None:
    old = table("4.9.0", 2**31 - 1)
    for latency_ms in range(6):
        old.learn(f"b{latency_ms}", Lesson.RETURNED, latency_ms, at=0)

    with pytest.raises(IndexError, match="place -2 of 3"):
        old.pick_one_at_least("A", 0)


lessons = st.lists(st.tuples(st.sampled_from(list(Lesson)), st.integers(0, 20_000), st.integers(0, 5_000)), max_size=30)


@given(lessons)
def test_from_5_1_4_on_a_back_off_is_only_ever_extended(learned: list[tuple[Lesson, int, int]]) -> None:
    new, at, ends = table("5.3.0"), 0, 0

    for lesson, latency_ms, later in learned:
        at += later
        change = new.learn("east", lesson, latency_ms, at)
        item = new.item("east")
        assert item is not None and item.available_from >= ends
        assert (item.available_from > ends) == (change.backoff_ms > 0)
        assert not change.has_ended
        ends = item.available_from


@given(lessons)
def test_in_4_x_the_last_word_counts(learned: list[tuple[Lesson, int, int]]) -> None:
    old, at = table("4.9.7"), 0

    for lesson, latency_ms, later in learned:
        at += later
        change = old.learn("east", lesson, latency_ms, at)
        item = old.item("east")
        assert item is not None and item.available_from == at + change.backoff_ms
        assert item.is_reachable
