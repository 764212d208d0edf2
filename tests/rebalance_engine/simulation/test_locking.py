import pytest

from rebalance_engine.model import MessageQueue
from rebalance_engine.simulation.breach import Breach
from rebalance_engine.simulation.locking import LockBook, Loss
from rebalance_engine.simulation.timers import LOCK as LOCK_LIVES

QUEUE = MessageQueue("orders", "east", 0)


def holder(book: LockBook, queue: MessageQueue = QUEUE) -> str | None:
    lock = book.lock(queue)
    return lock.client if lock else None


def test_two_may_not_have_one_lock() -> None:
    book = LockBook()
    book.granted("A", [QUEUE], 0)

    with pytest.raises(Breach, match="is locked for B, and for A too"):
        book.granted("B", [QUEUE], LOCK_LIVES)


def test_a_lock_that_was_renewed_lives_on() -> None:
    book = LockBook()
    book.granted("A", [QUEUE], 0)
    book.granted("A", [QUEUE], 50_000)

    with pytest.raises(Breach):
        book.granted("B", [QUEUE], LOCK_LIVES + 1)


def test_an_expired_lock_may_be_taken_over() -> None:
    book = LockBook()
    book.granted("A", [QUEUE], 0)

    book.granted("B", [QUEUE], LOCK_LIVES + 1)

    lost = book.lost("A", QUEUE)
    assert lost is not None and (lost.how, lost.unrenewed_ms) == (Loss.EXPIRED, LOCK_LIVES + 1)
    assert holder(book) == "B"


def test_a_lock_is_given_back_by_its_holder_only() -> None:
    book = LockBook()
    book.granted("A", [QUEUE], 0)

    book.released("B", [QUEUE], 5)
    still = holder(book)
    book.released("A", [QUEUE], 10)

    lost = book.lost("A", QUEUE)
    assert (still, holder(book)) == ("A", None)
    assert lost is not None and (lost.how, lost.unrenewed_ms) == (Loss.RELEASED, 10)


def test_a_restarted_broker_knows_no_locks_and_another_one_its_own() -> None:
    west = QUEUE._replace(broker="west")
    book = LockBook()
    book.granted("A", [QUEUE, west], 0)

    book.forgotten("east", 10)

    lost = book.lost("A", QUEUE)
    assert (holder(book), holder(book, west)) == (None, "A")
    assert lost is not None and lost.how is Loss.FORGOTTEN


def test_who_gets_a_lock_again_has_not_lost_it() -> None:
    book = LockBook()
    book.granted("A", [QUEUE], 0)
    book.released("A", [QUEUE], 1)

    book.granted("A", [QUEUE], 2)

    assert book.lost("A", QUEUE) is None


def test_a_process_that_gives_a_lock_back_has_its_own_last_renewal() -> None:
    book = LockBook()
    book.granted("A", [QUEUE], 0, "A")
    book.granted("A", [QUEUE], 15, "twin")

    book.released("A", [QUEUE], 20, "A")

    lost = book.lost("A", QUEUE)
    assert lost is not None and (lost.by, lost.unrenewed_ms, lost.by_unrenewed_ms) == ("A", 5, 20)


def test_a_lock_knows_when_it_was_granted_and_when_renewed() -> None:
    book = LockBook()
    book.granted("A", [QUEUE], 10)

    book.granted("A", [QUEUE], 20)

    [(queue, lock)] = book.all()
    assert (queue, lock.client, lock.granted_at, lock.renewed_at) == (QUEUE, "A", 10, 20)
