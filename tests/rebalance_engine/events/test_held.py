import pytest

from rebalance_engine.events import DropReason, HeldSeen, LockRefused, QueueDropped, QueueTaken
from rebalance_engine.model import MessageQueue
from tests.rebalance_engine.facts import plain

FIRST, SECOND = MessageQueue("orders", "east", 0), MessageQueue("orders", "east", 1)


def test_a_consumer_may_hold_nothing() -> None:
    assert plain(HeldSeen, queues=(), dropped=()).queues == ()


def test_a_queue_is_held_or_dropped_but_not_both() -> None:
    assert plain(HeldSeen, queues=(FIRST,), dropped=(SECOND,)).dropped == (SECOND,)
    with pytest.raises(ValueError, match="more than once; each queue is either held or dropped"):
        plain(HeldSeen, queues=(FIRST, SECOND), dropped=(FIRST,))


def test_an_offset_that_nobody_knows_is_none_and_never_below_zero() -> None:
    assert plain(QueueTaken).start_offset is None
    with pytest.raises(ValueError, match=r"QueueTaken\.start_offset is -1; it needs int from 0 .* or None"):
        plain(QueueTaken, start_offset=-1)


def test_a_queue_that_is_taken_may_be_shared() -> None:
    assert plain(QueueTaken).is_shared is None
    assert plain(QueueTaken, is_shared=True).is_shared


def test_a_drop_has_its_reason() -> None:
    with pytest.raises(ValueError, match=r"QueueDropped\.reason is 'stopped'; it needs DropReason: not in target, "):
        plain(QueueDropped, reason="stopped")

    assert plain(QueueDropped, reason=DropReason.STOPPED).reason is DropReason.STOPPED


def test_who_holds_a_refused_lock_may_be_unknown() -> None:
    assert plain(LockRefused).holder is None
