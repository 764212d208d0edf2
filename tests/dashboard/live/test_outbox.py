from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from dashboard.live.outbox import CatchUp, Outbox, Send


def following(*, most_messages: int = 4, most_bytes: int = 100) -> Outbox:
    """A socket that has step 1 of a stream."""
    outbox = Outbox(most_messages=most_messages, most_bytes=most_bytes)
    outbox.follow("s", None)
    assert outbox.take() == CatchUp("s", None)
    outbox.caught_up("s", 1)
    return outbox


def test_steps_are_sent_in_their_order() -> None:
    outbox = following()

    outbox.step("s", 2, b"two")
    outbox.step("s", 3, b"three")

    assert [outbox.take(), outbox.take(), outbox.take()] == [Send(b"two"), Send(b"three"), None]


def test_a_step_that_was_sent_before_is_left_out() -> None:
    outbox = following()

    outbox.step("s", 1, b"one")

    assert outbox.take() is None


def test_a_gap_asks_for_what_is_missing() -> None:
    outbox = following()

    outbox.step("s", 4, b"four")
    outbox.step("s", 5, b"five")

    assert outbox.take() == CatchUp("s", 1)
    outbox.caught_up("s", 5)
    assert outbox.take() is None


def test_who_is_too_slow_is_dropped_to_a_snapshot() -> None:
    outbox = following(most_messages=2)

    for seq in (2, 3, 4):
        outbox.step("s", seq, b"x")

    assert outbox.take() == CatchUp("s", None)


def test_large_messages_count_by_their_size() -> None:
    outbox = following(most_bytes=10)

    outbox.step("s", 2, b"x" * 11)

    assert outbox.take() == CatchUp("s", None)


def test_what_is_not_followed_is_not_sent() -> None:
    outbox = following()
    outbox.unfollow("s")

    outbox.step("s", 2, b"two")
    outbox.pulse("s", b"pulse")
    outbox.caught_up("s", 9)

    assert outbox.take() is None
    assert outbox.streams == ()


@given(
    st.lists(
        st.tuples(st.sampled_from(["step", "skip", "pulse", "take", "follow", "unfollow"]), st.integers(0, 40)),
        max_size=60,
    )
)
def test_the_queue_is_bounded_and_a_browser_ends_up_with_the_newest_step(moves: list[tuple[str, int]]) -> None:
    outbox, newest, has = following(most_messages=3, most_bytes=60), 1, 1
    for move, size in moves:
        if move in {"step", "skip"}:
            newest += 1
            if move == "step":
                outbox.step("s", newest, bytes(size))
        elif move == "pulse":
            outbox.pulse("s", bytes(size))
        elif move == "take":
            has = take(outbox, newest, has)
        elif move == "unfollow":
            outbox.unfollow("s")
        else:
            outbox.follow("s", has)
        outbox.check()
    outbox.follow("s", has)

    while outbox.take() is not None and outbox._behind:
        has = take(outbox, newest, has)

    assert has == newest or "s" not in outbox.streams


def take(outbox: Outbox, newest: int, has: int) -> int:
    order = outbox.take()
    if isinstance(order, CatchUp):
        outbox.caught_up("s", newest)
        return newest
    return has
