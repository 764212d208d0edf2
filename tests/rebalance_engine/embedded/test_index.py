from rebalance_engine.embedded.index import QueueIndex


def index(*times: int, first: int = 0) -> QueueIndex:
    made = QueueIndex(first)
    for number, time in enumerate(times):
        made.add(100 * number, 100, number, time)
    return made


def test_offsets_count_from_the_first_on() -> None:
    queue = index(10, 20, first=7)

    assert (queue.first, queue.end) == (7, 9)
    assert (queue.place(8), queue.tag_code(8), queue.stored_at(8)) == ((100, 100), 1, 20)


def test_a_message_that_is_not_there_has_no_time() -> None:
    queue = index(10, first=7)

    assert [queue.stored_at(offset) for offset in (6, 8)] == [-1, -1]


def test_a_search_by_time_finds_the_first_or_the_last_of_equals() -> None:
    queue = index(10, 20, 20, 30)

    assert [queue.search(time) for time in (5, 10, 20, 25, 31)] == [0, 0, 1, 3, 4]
    assert [queue.search(time, is_upper=True) for time in (5, 20, 25, 31)] == [0, 2, 2, 3]


def test_a_clock_that_was_set_back_does_not_make_searches_wrong() -> None:
    queue = index(10, 30, 20, 40)

    assert queue.search(25) == 1
    assert queue.search(35) == 3


def test_what_left_the_log_leaves_the_index_and_offsets_stay() -> None:
    queue = index(10, 20, 30)

    queue.forget_before(200)

    assert (queue.first, queue.end, queue.place(2)) == (2, 3, (200, 100))

    queue.forget_before(999)

    assert (queue.first, queue.end) == (3, 3)
