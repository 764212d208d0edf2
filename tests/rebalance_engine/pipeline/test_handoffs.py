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


def test_of_pulls_that_were_refused_only_those_at_the_beginning_pause_a_queue() -> None:
    """A broker may refuse one half a minute later, too: the members subscribed anew, and it had been pulled since."""
    late = told(Clue(11_000, "pull refused", "b"), Clue(31_000, "pull refused", "b"))

    assert (late.refused, late.pause_ms) == (1, 2_000)
    assert told(Clue(31_000, "pull refused", "b")).pause_ms == 800


def test_a_logged_first_pull_that_may_have_been_refused_makes_no_pause_exact() -> None:
    """The line of 4.x about a pull that was refused does not say of which queue."""
    a, b = Hold(0, 10_000, "A", "released", "a", "java4"), Hold(10_300, 90_000, "B", "open", "b", "java4")

    def pause(*refused: int) -> tuple[bool, int | None]:
        clues = {QUEUE: [Clue(10_900, "first pull", "b", 7)]}
        (only,) = handoffs_of({QUEUE: [a, b]}, clues, {"b": refused})
        return only.is_pause_exact, only.refused

    assert pause(9_000, 60_000) == (True, 0)
    assert pause(10_950) == (False, None)


def test_what_a_listener_finished_too_late_is_of_the_hold_before_it_only() -> None:
    """A has it, B, and A again: A's second drop is followed by such a line, half a minute after its first."""
    first, second = Hold(0, 10_000, "A", "released", "a"), Hold(30_000, 40_000, "A", "released", "a")
    others = Hold(10_300, 30_200, "B", "released", "b"), Hold(40_300, 90_000, "B", "open", "b")
    late = [Clue(40_100, "uncommitted", "a", 3), Clue(40_200, "pull ended", "a", 52), Clue(9_990, "persisted", "a", 40)]

    one, _, last = handoffs_of({QUEUE: [first, second, *others]}, {QUEUE: late})

    assert (one.duplicates_least, one.duplicates_most, last.duplicates_least) == (None, None, 3)


def test_lines_of_another_client_of_one_process_are_not_its_own() -> None:
    """Pods of one machine may all have the pid 1."""
    theirs = Clue(10_010, "pull ended", "a", 900, client="C")

    mine = told(Clue(9_990, "persisted", "a", 40, client="A"), Clue(10_010, "pull ended", "a", 52, client="A"), theirs)

    assert mine.duplicates_most == 12


def test_silence_begins_when_the_offset_before_the_last_was_persisted() -> None:
    """What was persisted last was consumed since the time before; where the taker was first, nothing was silent."""
    ends = (Clue(8_000, "persisted all", "a", 30), Clue(9_990, "persisted", "a", 40))

    assert told(*ends, Clue(15_000, "persisted all", "b", 44)).silence_most_ms == 7_000
    assert told(*ends, Clue(9_600, "first pull", "b", 35), Clue(9_800, "persisted all", "b", 36), taken=9_500,
                ).silence_most_ms == 1_800  # fmt: skip


def test_where_a_member_begins_is_persisted_too_and_ends_no_silence() -> None:
    """Who is killed has told the broker more by its pulls than what it persisted last."""
    killed = told(
        Clue(8_000, "persisted all", "a", 30),
        Clue(15_000, "persisted all", "b", 33),
        Clue(60_000, "persisted all", "b", 34),
        ended="lost",
    )

    assert killed.silence_most_ms == 57_000
