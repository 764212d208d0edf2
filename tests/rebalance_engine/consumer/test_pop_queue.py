from rebalance_engine.consumer.pop_queue import PopQueue
from tests.rebalance_engine.consumer.running import EAST


def test_a_queue_expires_after_more_than_two_minutes_without_a_pop() -> None:
    pq = PopQueue(EAST, 1_000)

    assert not pq.has_expired(121_000)
    assert pq.has_expired(121_001)
    assert pq.has_expired(1_011, max_idle=10)
