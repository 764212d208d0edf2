import pytest

from rebalance_engine.consumer.offsets import NOT_STORED, UNKNOWN, LocalOffsets, RemoteOffsets, read_file, write_file
from rebalance_engine.consumer.threads import Code
from rebalance_engine.model import MessageQueue

EAST = MessageQueue("orders", "east", 0)
WEST = MessageQueue("orders", "west", 0)


def finish(code: Code[int] | Code[None]) -> int | None:
    try:
        next(code)
    except StopIteration as end:
        return end.value
    raise AssertionError("it waits")


class Store:
    def __init__(self, stored: dict[MessageQueue, int]) -> None:
        self.stored = stored
        self.sent: list[tuple[MessageQueue, int]] = []
        self.offsets = RemoteOffsets(self.fetch, self.send)

    def fetch(self, mq: MessageQueue) -> Code[int]:
        return self.stored.get(mq, NOT_STORED)
        yield

    def send(self, mq: MessageQueue, offset: int) -> Code[None]:
        self.sent.append((mq, offset))
        return
        yield


def test_an_offset_only_grows_unless_it_is_set() -> None:
    offsets = Store({}).offsets
    offsets.update(EAST, 5)
    offsets.update(EAST, 3)
    assert offsets.in_memory(EAST) == 5

    offsets.update(EAST, 3, increase_only=False)

    assert offsets.in_memory(EAST) == 3


def test_a_frozen_offset_stays_until_it_is_forgotten() -> None:
    offsets = Store({}).offsets
    offsets.update_and_freeze(EAST, 5)
    offsets.update(EAST, 9)
    assert offsets.in_memory(EAST) == 5

    offsets.forget(EAST)
    offsets.update(EAST, 9)

    assert offsets.in_memory(EAST) == 9


def test_storing_one_queue_forgets_the_others_in_go_only() -> None:
    store = Store({})
    for offsets in (store.offsets, RemoteOffsets(store.fetch, store.send, forgets_others=True)):
        offsets.update(EAST, 5)
        offsets.update(WEST, 6)
        finish(offsets.persist(EAST))
        finish(offsets.persist(WEST))

    assert store.sent == [(EAST, 5), (WEST, 6), (EAST, 5)]


def test_what_is_stored_is_read_into_memory_too() -> None:
    store = Store({EAST: 7})

    assert finish(store.offsets.read_stored(EAST)) == 7
    assert finish(store.offsets.read_stored(WEST)) == NOT_STORED
    assert store.offsets.in_memory(EAST) == 7
    assert store.offsets.in_memory(WEST) is None


def test_go_notes_that_nothing_is_stored_and_of_what_is_only_more_than_it_knows() -> None:
    store = Store({EAST: 7})
    offsets = RemoteOffsets(store.fetch, store.send, notes_nothing_stored=True)

    finish(offsets.read_stored(WEST))
    finish(offsets.read_stored(EAST))
    store.stored[EAST] = 3
    assert finish(offsets.read_stored(EAST)) == 3

    assert (offsets.in_memory(WEST), offsets.in_memory(EAST)) == (NOT_STORED, 7)
    assert offsets.is_excused(EAST) and not offsets.is_excused(WEST)
    finish(offsets.persist(WEST))
    assert store.sent == [(WEST, NOT_STORED)]


def test_go_does_not_note_what_it_could_not_read() -> None:
    store = Store({EAST: UNKNOWN})
    offsets = RemoteOffsets(store.fetch, store.send, notes_nothing_stored=True)

    assert finish(offsets.read_stored(EAST)) == UNKNOWN
    assert offsets.in_memory(EAST) is None


@pytest.mark.parametrize(("reads_whole_file", "of_west"), [(False, 9), (True, 2)])
def test_go_sets_all_queues_back_to_the_file_when_it_reads_one(reads_whole_file: bool, of_west: int) -> None:
    offsets = LocalOffsets(write_file({EAST: 1, WEST: 2}), lambda _: None, reads_whole_file=reads_whole_file)
    offsets.update(WEST, 9)

    assert finish(offsets.read_stored(EAST)) == 1
    assert offsets.in_memory(WEST) == of_west


@pytest.mark.parametrize(("reads_whole_file", "written"), [(False, {EAST: 5}), (True, {EAST: 5, WEST: 6})])
def test_go_writes_all_that_it_knows_into_its_file(reads_whole_file: bool, written: dict[MessageQueue, int]) -> None:
    saved: list[str] = []
    offsets = LocalOffsets(None, saved.append, reads_whole_file=reads_whole_file)
    offsets.update(EAST, 5)
    offsets.update(WEST, 6)

    finish(offsets.persist_all({EAST}))

    assert [read_file(text) for text in saved] == [written]


def test_persisting_all_sends_what_is_held_and_loses_the_rest() -> None:
    store = Store({})
    store.offsets.update(EAST, 5)
    store.offsets.update(WEST, 6)

    finish(store.offsets.persist_all({EAST}))

    assert store.sent == [(EAST, 5)]
    assert store.offsets.queues == {EAST}


def test_persisting_all_of_nothing_keeps_everything() -> None:
    store = Store({})
    store.offsets.update(EAST, 5)

    finish(store.offsets.persist_all(set()))

    assert store.offsets.queues == {EAST}


def test_persisting_one_sends_it_if_it_is_known() -> None:
    store = Store({})
    store.offsets.update(EAST, 5)

    finish(store.offsets.persist(EAST))
    finish(store.offsets.persist(WEST))

    assert store.sent == [(EAST, 5)]


def test_a_topic_has_its_own_offsets() -> None:
    offsets = Store({}).offsets
    offsets.update(EAST, 5)
    offsets.update(MessageQueue("bills", "east", 0), 6)

    assert offsets.of_topic("orders") == {EAST: 5}


def test_a_file_is_read_as_it_was_written() -> None:
    assert read_file(write_file({EAST: 5, WEST: 6})) == {EAST: 5, WEST: 6}


def test_a_missing_or_broken_file_has_no_offsets() -> None:
    for text in (None, "", "{", "[]", '{"offsetTable":[{}]}', '{"offsetTable":3}'):
        assert read_file(text) == {}


def test_a_local_store_writes_its_file_and_forgets_nothing() -> None:
    written: list[str] = []
    offsets = LocalOffsets(write_file({WEST: 6}), written.append)
    assert finish(offsets.read_stored(WEST)) == 6
    assert finish(offsets.read_stored(EAST)) == NOT_STORED
    offsets.update(EAST, 5)

    finish(offsets.persist_all({EAST}))
    offsets.forget(EAST)
    finish(offsets.persist(WEST))
    finish(offsets.persist_all(set()))

    assert [read_file(text) for text in written] == [{EAST: 5, WEST: 6}] * 2
    assert finish(offsets.read_stored(EAST)) == 5
