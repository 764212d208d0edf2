import pytest

from rebalance_engine.model import MessageQueue
from rebalance_engine.pipeline.handoffs import Clue, Handoff, handoffs_of
from rebalance_engine.pipeline.sweep import Hold

QUEUE = MessageQueue("orders", "east", 0)


def told(*clues: Clue, layout: str = "java5", ended: str = "released", taken: int = 10_300) -> Handoff:
    """Tell the handoff from A, which drops at 10,000, to B."""
    a, b = Hold(0, 10_000, "A", ended, "a", layout), Hold(taken, 90_000, "B", "open", "b", layout)
    (only,) = handoffs_of({QUEUE: [a, b]}, {QUEUE: list(clues)})
    return only


def test_a_new_pull_of_5_x_comes_half_a_second_after_the_add() -> None:
    assert (told().pause_ms, told(layout="java4").pause_ms) == (800, 300)
    assert told(taken=9_000).pause_ms == 0


def test_a_logged_first_pull_makes_the_pause_exact() -> None:
    pulled = told(Clue(10_900, "first pull", "b", 7))

    assert (pulled.first_pull_ms, pulled.pause_ms) == (10_900, 900)


def test_refused_pulls_count_as_paused() -> None:
    refused = told(
        Clue(11_000, "pull refused", "b"), Clue(12_000, "pull refused", "b"), Clue(12_500, "pull refused", "a")
    )

    assert (refused.refused, refused.pause_ms) == (2, 3_000)


@pytest.mark.parametrize("layout", ["cpp", "go", "history"])
def test_refused_pulls_are_unknown_where_no_line_would_tell_them(layout: str) -> None:
    assert told(layout=layout).refused is None
    assert told(Clue(11_000, "pull refused", "b"), layout=layout).refused == 1
    assert told(Clue(10_900, "first pull", "b", 7), layout=layout).refused == 0


def test_what_two_looks_show_pauses_for_no_longer_than_is_certain() -> None:
    """A looked-at member took it after 9,000, the look of 12,000 showed it; it was let go at 10,000 at the latest."""
    a = Hold(0, 10_000, "A", "released", "a", "history", until_after_ms=8_000)

    def pause(taken_after_ms: int) -> int:
        b = Hold(12_000, 90_000, "B", "open", "b", "history", from_after_ms=taken_after_ms)
        (only,) = handoffs_of({QUEUE: [a, b]}, {})
        return only.pause_ms

    assert (pause(9_000), pause(11_000)) == (0, 1_000)


def test_a_lock_is_waited_for_from_its_first_refusal() -> None:
    assert told().lock_wait_ms is None
    assert (
        told(Clue(100, "lock refused", "b"), *(Clue(at, "lock refused", "b") for at in (9_800, 10_100))).lock_wait_ms
        == 10_200
    )
    assert told(Clue(10_100, "lock refused", "b"), taken=60_000).lock_wait_ms is None


def test_duplicates_lie_between_what_was_uncommitted_and_how_far_the_giver_had_pulled() -> None:
    known = told(
        Clue(9_990, "persisted", "a", 40),
        Clue(10_010, "pull ended", "a", 52),
        Clue(10_200, "uncommitted", "a", 3),
    )

    assert (known.duplicates_least, known.duplicates_most) == (3, 12)


def test_where_the_taker_began_is_taken_from_its_own_line() -> None:
    clues = (Clue(9_990, "persisted", "a", 40), Clue(10_010, "pull ended", "a", 52))

    assert told(*clues, Clue(10_310, "start offset", "b", 50)).duplicates_most == 2


def test_what_no_line_bounds_is_unknown() -> None:
    nothing = told()
    killed = told(Clue(9_000, "persisted all", "a", 40), Clue(9_000, "pull ended", "a", 52), ended="lost")
    away = told(Clue(9_990, "persisted", "a", 40), Clue(10_010, "pull ended", "a", 40), taken=40_000)

    assert (nothing.duplicates_least, nothing.duplicates_most, nothing.silence_most_ms) == (None, None, None)
    assert killed.duplicates_most is None
    assert away.duplicates_most is None


def test_silence_is_bounded_by_offsets_that_grow() -> None:
    grown = told(
        Clue(5_000, "persisted all", "a", 40),
        Clue(9_990, "persisted", "a", 40),
        Clue(15_000, "persisted all", "b", 40),
        Clue(20_000, "persisted all", "b", 44),
    )

    assert grown.silence_most_ms == 20_000


def test_offsets_that_go_back_while_a_queue_changes_hands_tell_what_two_consumed() -> None:
    """The broker has the second only; it may be told one message again and again, and of a member alone too."""
    known = (Clue(9_490, "persisted", "a", 40), Clue(9_990, "persisted", "a", 50))
    twice = told(
        *known,
        Clue(10_000, "offset back", "broker", 40, 43), Clue(10_000, "offset back", "broker", 42, 44),
        Clue(12_000, "offset back", "broker", 90, 99), Clue(8_000, "offset back", "broker", 30, 39), taken=9_500,
    )  # fmt: skip
    bounded = told(
        *known,
        Clue(10_000, "offset back", "broker", 40, 60),
        Clue(10_010, "pull ended", "a", 48),
        taken=9_500,
    )

    assert (twice.duplicates_least, twice.duplicates_most) == (4, None)
    assert (bounded.duplicates_least, bounded.duplicates_most) == (8, 8)
    assert told(*known, Clue(12_000, "offset back", "broker", 90, 99), taken=9_500).duplicates_least is None
    assert told(*known, Clue(10_000, "offset back", "broker", 40, 43), taken=11_000).duplicates_least is None


def test_of_what_went_back_nothing_counts_that_not_both_can_have_consumed() -> None:
    """An offset may be put back far below all that a group consumes: no message of these comes to two."""
    reset = Clue(10_000, "offset back", "broker", 0, 300_000_000)
    before, last = Clue(9_490, "persisted", "a", 299_999_990), Clue(9_990, "persisted", "a", 299_999_995)

    assert told(reset, before, last, taken=9_500).duplicates_least == 5
    assert told(reset, before, last, Clue(9_600, "first pull", "b", 299_999_992), taken=9_500).duplicates_least == 3
    assert told(reset, last, taken=9_500).duplicates_least is None
    assert told(reset, Clue(9_600, "first pull", "b", 40), taken=9_500).duplicates_least is None
    assert told(reset, before, taken=9_500).duplicates_least is None


def test_each_line_of_what_went_back_is_held_against_the_handoffs_of_its_time_only() -> None:
    counted = [0]

    class Time(int):
        """A time that counts what it is compared with."""

        def __lt__(self, other: int) -> bool:
            counted[0] += 1
            return int(self) < other

        def __le__(self, other: int) -> bool:
            counted[0] += 1
            return int(self) <= other

        def __gt__(self, other: int) -> bool:
            counted[0] += 1
            return int(self) > other

    holds = [
        Hold(10_000 * at, 10_000 * at + 10_500, "AB"[at % 2], "released", "ab"[at % 2], "java5") for at in range(500)
    ]
    backs = [Clue(Time(10_000 * at + 200), "offset back", "broker", at, at + 1) for at in range(1, 500)]

    found = list(handoffs_of({QUEUE: holds}, {QUEUE: backs}))

    assert len(found) == 499
    assert counted[0] < 100 * len(backs)
