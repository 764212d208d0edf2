from rebalance_engine.consumer.messages import Message
from rebalance_engine.consumer.polling import Polling, Position
from rebalance_engine.consumer.process_queue import ProcessQueue
from rebalance_engine.model import MessageQueue


def position(number: int) -> Position:
    return Position(ProcessQueue(MessageQueue("orders", "east", number), 0, is_locked=False))


def test_batches_come_in_the_order_in_which_they_were_pulled_without_those_of_dropped_queues() -> None:
    polling, first, second = Polling(), position(0), position(1)
    for number, each in enumerate((first, second, first)):
        polling.cache.append((each, (Message(number, "orders"),)))
    second.pq.is_dropped = True

    batches = [polling.next_batch() for _ in range(3)]

    assert [batch and batch[1][0].offset for batch in batches] == [0, 2, None]


def test_what_was_pulled_of_one_queue_can_be_thrown_away() -> None:
    polling, first, second = Polling(), position(0), position(1)
    for each in (first, second):
        each.pq.put([Message(5, "orders", 10)])
        polling.cache.append((each, (Message(5, "orders", 10),)))

    polling.forget_cached(first)

    assert [each for each, _ in polling.cache] == [second]
    assert (first.pq.count, second.pq.count) == (0, 1)


def test_a_released_queue_is_over() -> None:
    polling, first = Polling(), position(0)
    polling.positions[first.pq.mq] = first

    assert polling.release(first.pq.mq) is first and first.is_over
    assert polling.release(first.pq.mq) is None
