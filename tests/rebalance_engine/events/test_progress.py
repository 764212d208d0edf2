import pytest

from rebalance_engine.events import EXACT, DeadLettersSeen, Origin, ProgressSeen, QueueProgress, Source
from rebalance_engine.model import MessageQueue

EAST = Source(origin=Origin.ADMIN_ANSWER, broker="east")
ONE = QueueProgress(queue=MessageQueue("orders", "east", 0), end=5)


def test_a_queue_is_told_once_in_an_answer() -> None:
    with pytest.raises(ValueError, match="more than once"):
        ProgressSeen(at=1, source=EAST, exactness=EXACT, group="g", broker="east", queues=(ONE, ONE))


def test_an_offset_is_not_negative() -> None:
    with pytest.raises(ValueError, match="end"):
        QueueProgress(queue=ONE.queue, end=-1)


def test_no_more_dead_letters_are_kept_than_were_put_there() -> None:
    with pytest.raises(ValueError, match="no more can be kept than the 2"):
        DeadLettersSeen(at=1, source=EAST, exactness=EXACT, group="g", broker="east", put=2, kept=3)
