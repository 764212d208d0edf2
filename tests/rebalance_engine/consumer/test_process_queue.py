from hypothesis import given
from hypothesis import strategies as st

from rebalance_engine.consumer.messages import Message
from rebalance_engine.consumer.process_queue import MIB, ProcessQueue
from rebalance_engine.model import MessageQueue

EAST = MessageQueue("orders", "east", 0)


def queue_of(*offsets: int, size: int = 10) -> ProcessQueue:
    pq = ProcessQueue(EAST, 1_000, is_locked=True)
    pq.put([Message(offset, "orders", size) for offset in offsets])
    return pq


def messages(*offsets: int) -> list[Message]:
    return [Message(offset, "orders", 10) for offset in offsets]


def test_the_smallest_cached_offset_is_how_far_it_is() -> None:
    pq = queue_of(5, 6, 7)

    assert pq.remove(messages(7), 2_000) == 5
    assert pq.remove(messages(5), 2_000) == 6
    assert pq.remove(messages(6), 2_000) == 8
    assert pq.last_consume == 2_000


def test_what_is_cached_already_does_not_say_how_far_the_queue_was_read() -> None:
    pq = queue_of(5, 6, 7)

    pq.put(messages(5))  # again: as in Java, only what is new moves ``queueOffsetMax``

    assert pq.remove(messages(5, 6, 7), 2_000) == 8


def test_removing_from_an_empty_queue_says_nothing_about_how_far_it_is() -> None:
    assert queue_of().remove(messages(5), 2_000) == -1


def test_it_counts_messages_bytes_and_span() -> None:
    pq = queue_of(5, 6, 9, size=MIB)

    assert (pq.count, pq.mib, pq.span, pq.first, pq.last) == (3, 3, 4, 5, 9)
    pq.put(messages(9))  # again
    assert pq.count == 3
    assert queue_of().span == 0


def test_it_says_once_that_an_orderly_listener_must_be_started() -> None:
    pq = ProcessQueue(EAST, 1_000, is_locked=True)

    assert pq.put(messages(5))
    assert not pq.put(messages(6))
    pq.take(2, 1_000)
    pq.commit()
    assert pq.take(1, 1_000) == ()
    assert pq.put(messages(7))


def test_what_is_in_hand_counts_until_it_is_committed() -> None:
    pq = queue_of(5, 6, 7)

    taken = pq.take(2, 3_000)

    assert [message.offset for message in taken] == [5, 6] == list(pq.in_hand)
    assert (pq.count, pq.first, pq.unfinished, pq.bytes) == (3, 7, 5, 30)
    assert pq.commit() == 7
    assert (pq.count, pq.unfinished, pq.bytes) == (1, 7, 10)
    assert pq.commit() == -1


def test_what_is_put_back_comes_first_again() -> None:
    pq = queue_of(5, 6, 7)

    pq.put_back(pq.take(2, 3_000))

    assert [message.offset for message in pq.take(3, 3_000)] == [5, 6, 7]
    pq.check()


def test_expiry_needs_more_than_the_time() -> None:
    pq = queue_of()

    assert not pq.has_pull_expired(121_000)
    assert pq.has_pull_expired(121_001)
    assert not pq.has_lock_expired(31_000)
    assert pq.has_lock_expired(31_001)


def test_the_oldest_message_is_known_by_when_the_listener_got_it() -> None:
    pq = queue_of(5, 6)
    assert pq.oldest_since(10_000) is None

    pq.start(messages(5), 4_000)

    assert pq.oldest_since(4_000) is None
    oldest = pq.oldest_since(4_001)
    assert oldest is not None and oldest.offset == 5


def test_a_cleared_queue_has_nothing() -> None:
    pq = queue_of(5, 6)
    pq.take(1, 2_000)
    pq.clear()

    assert (pq.count, pq.bytes, pq.first, pq.unfinished) == (0, 0, None, None)
    pq.check()


@given(
    st.lists(st.tuples(st.sampled_from(["put", "remove", "take", "commit", "back"]), st.integers(0, 30)), max_size=60)
)
def test_it_behaves_like_two_plain_sets(steps: list[tuple[str, int]]) -> None:
    pq = queue_of()
    cached: set[int] = set()
    in_hand: list[int] = []
    for step, offset in steps:
        if step == "put" and offset not in in_hand:
            pq.put(messages(offset))
            cached.add(offset)
        elif step == "remove":
            pq.remove(messages(offset), 2_000)
            cached.discard(offset)
        elif step == "take" and not in_hand:
            in_hand = [message.offset for message in pq.take(2, 2_000)]
            assert in_hand == sorted(cached)[:2]
            cached -= set(in_hand)
        elif step == "commit":
            assert pq.commit() == (max(in_hand) + 1 if in_hand else -1)
            in_hand = []
        elif step == "back" and (not cached or not in_hand or max(in_hand) < min(cached)):
            pq.put_back(messages(*in_hand))
            cached |= set(in_hand)
            in_hand = []
        pq.check()
        assert (pq.first, pq.last) == (min(cached, default=None), max(cached, default=None))
        assert pq.unfinished == min(in_hand, default=min(cached, default=None))
        assert pq.count == len(cached) + len(in_hand)
