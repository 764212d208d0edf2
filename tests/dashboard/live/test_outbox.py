from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from dashboard.live.outbox import CatchUp, Outbox, Send


def following(*, most_messages: int = 4, most_bytes: int = 100) -> Outbox:
    """A socket that has step 1 of a stream."""
    outbox = Outbox(most_messages=most_messages, most_bytes=most_bytes)
    outbox.follow("s", None)
    bring(outbox, 1)
    return outbox


def bring(outbox: Outbox, seq: int) -> CatchUp:
    """Bring its stream up to a step, as it wants next."""
    order = outbox.take()
    assert isinstance(order, CatchUp)
    outbox.caught_up(order, seq)
    return order


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

    assert bring(outbox, 5) == CatchUp("s", 1)
    assert outbox.take() is None


def test_a_step_that_comes_after_the_state_was_read_is_asked_for() -> None:
    outbox = following()
    outbox.follow("s", 1)
    order = outbox.take()
    assert isinstance(order, CatchUp)  # reads up to 2

    outbox.step("s", 3, b"three")
    outbox.caught_up(order, 2)

    assert outbox.take() == CatchUp("s", 2)


def test_who_asks_again_meanwhile_is_answered_again() -> None:
    outbox = following()
    outbox.follow("s", 1)
    order = outbox.take()
    assert isinstance(order, CatchUp)

    outbox.follow("s", None)
    outbox.caught_up(order, 2)

    assert outbox.take() == CatchUp("s", None)


def test_a_step_that_is_nowhere_to_be_read_is_asked_for_only_once() -> None:
    outbox = following()
    outbox.follow("s", 1)

    outbox.step("s", 3, b"of a stream that is no more")
    bring(outbox, 0)
    assert bring(outbox, 0) == CatchUp("s", 0)

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
    outbox.follow("s", 1)
    order = outbox.take()
    assert isinstance(order, CatchUp)
    outbox.unfollow("s")

    outbox.step("s", 2, b"two")
    outbox.pulse("s", b"pulse")
    outbox.caught_up(order, 9)

    assert outbox.take() is None
    assert outbox.streams == ()


@given(
    st.lists(
        st.tuples(st.sampled_from(["step", "skip", "pulse", "take", "sent", "follow", "unfollow"]), st.integers(0, 40)),
        max_size=60,
    )
)
def test_the_queue_is_bounded_and_a_browser_ends_up_with_the_newest_step_that_it_heard_of(
    moves: list[tuple[str, int]],
) -> None:
    """A step that was skipped got lost on the way. A state is sent some time after it was read: *take*, then *sent*."""
    outbox, newest, heard = following(most_messages=3, most_bytes=60), 1, 1
    browser = Taking(outbox)
    for move, size in moves:
        if move in {"step", "skip"}:
            newest += 1
            if move == "step":
                outbox.step("s", newest, f"{newest:02d}".encode().ljust(size))
                heard = newest if "s" in outbox.streams else heard
        elif move == "pulse":
            outbox.pulse("s", bytes(size))
        elif move == "take":
            browser.take(newest)
        elif move == "sent":
            browser.sent()
        elif move == "unfollow":
            outbox.unfollow("s")
        else:
            outbox.follow("s", browser.has)
        outbox.check()

    for _ in range(2 * len(moves) + 2):
        browser.take(newest)
        browser.sent()

    assert outbox.take() is None
    assert browser.has >= heard or "s" not in outbox.streams


class Taking:
    """What takes from an outbox, one after the other, and what its browser has."""

    def __init__(self, outbox: Outbox) -> None:
        self.outbox = outbox
        self.has = 1
        self._read: tuple[CatchUp, int] | None = None  # what was read to bring it up to date, and is being sent

    def take(self, newest: int) -> None:
        if self._read is not None:
            return
        order = self.outbox.take()
        if isinstance(order, CatchUp):
            self._read = order, newest
        elif order is not None and order.body[:2].strip().isdigit():
            self.has = max(self.has, int(order.body[:2]))

    def sent(self) -> None:
        if self._read is not None:
            order, self.has = self._read
            self.outbox.caught_up(order, self.has)
            self._read = None
