from rebalance_engine.model import MessageQueue
from rebalance_engine.simulation.store import Store

QUEUE = MessageQueue("orders", "east", 0)


def test_offsets_count_in_each_queue_and_places_in_the_log() -> None:
    store = Store("east")

    first = store.append(QUEUE, 10)
    other = store.append(QUEUE._replace(queue_id=1), 20)
    second = store.append(QUEUE, 30)

    assert [message.offset for message in (first, other, second)] == [0, 0, 1]
    assert [message.commit_log_offset for message in (first, other, second)] == [0, 1, 2]
    assert (store.end("orders", 0), store.end("orders", 5)) == (2, 0)
    assert store.read("orders", 0, 1, 32) == (second,)
    assert store.stored_at == [10, 20, 30]


def test_a_failed_message_comes_back_after_its_delay_with_one_more_try() -> None:
    store = Store("east")
    store.append(QUEUE, 0)

    number, returned = store.take_back("g", 0, 0, 16, 1_000)
    place = store.release(number, returned.due)

    assert (returned.due, returned.offset, returned.place) == (11_000, 0, QUEUE)
    assert place == MessageQueue("%RETRY%g", "east", 0)
    [again] = store.read("%RETRY%g", 0, 0, 32)
    assert (again.topic, again.reconsume_times) == ("orders", 1)
    assert store.delayed == {}


def test_each_try_waits_longer() -> None:
    store = Store("east")
    tried_before = store.append(QUEUE, 0, reconsumed=1)

    _, returned = store.take_back("g", tried_before.commit_log_offset, 0, 16, 0)

    assert returned.due == 30_000


def test_a_message_is_a_dead_letter_after_its_last_try_or_at_once() -> None:
    store = Store("east")
    store.append(QUEUE, 0, reconsumed=16)
    store.append(QUEUE, 0)

    _, last = store.take_back("g", 0, 0, 16, 5)
    _, at_once = store.take_back("g", 1, -1, 16, 5)

    assert [(each.topic, each.due) for each in (last, at_once)] == [("%DLQ%g", 5), ("%DLQ%g", 5)]
