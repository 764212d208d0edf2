from pathlib import Path

import pytest

from rebalance_engine.embedded.store import Draft, Kept, MessageStore, Status, tag_code
from rebalance_engine.remoting.messages import Host, decode_messages
from rebalance_engine.remoting.tags import java_hash

HOST = Host("10.0.0.1", 10911)


def store(directory: Path, *, segment: int = 1_000, most: int = 4_000) -> MessageStore:
    return MessageStore(directory, HOST, segment_bytes=segment, max_bytes=most)


def put(into: MessageStore, body: str, at: int = 10, queue_id: int = 0, **properties: str) -> Kept:
    draft = Draft(
        topic="T",
        queue_id=queue_id,
        body=body.encode(),
        properties=properties,
        born_timestamp=1,
        born_host=Host("10.0.0.9", 5),
    )
    return into.append(draft, at)


def read(from_: MessageStore, offset: int, most: int = 32) -> list[str]:
    found = from_.fetch("T", 0, offset, most, max_bytes=10_000)
    return [message.body.decode() for message in decode_messages(found.data)]


def test_a_message_is_found_by_queue_and_by_position(tmp_path: Path) -> None:
    kept = store(tmp_path)
    put(kept, "one")
    two = put(kept, "two", queue_id=1)

    message = kept.message_at(two.position)

    assert message is not None
    assert (message.body, message.queue_id, message.queue_offset) == (b"two", 1, 0)
    assert message.commit_log_offset == two.position
    assert message.store_host == HOST


def test_a_position_within_a_message_is_none(tmp_path: Path) -> None:
    kept = store(tmp_path)
    put(kept, "one")

    assert [kept.message_at(position) for position in (-1, 1, 9, 10_000)] == [None] * 4


@pytest.mark.parametrize(
    ("offset", "status", "following"),
    [
        (0, Status.FOUND, 2),
        (2, Status.OFFSET_OVERFLOW_ONE, 2),
        (3, Status.OFFSET_OVERFLOW_BADLY, 2),
        (-1, Status.OFFSET_TOO_SMALL, 0),
    ],
)
def test_a_look_says_what_it_came_to(tmp_path: Path, offset: int, status: Status, following: int) -> None:
    kept = store(tmp_path)
    put(kept, "one")
    put(kept, "two")

    found = kept.fetch("T", 0, offset, 32, max_bytes=10_000)

    assert (found.status, found.following, found.begin, found.end) == (status, following, 0, 2)


def test_a_queue_without_messages_says_so(tmp_path: Path) -> None:
    assert store(tmp_path).fetch("T", 0, 5, 32, max_bytes=1).status is Status.NO_MESSAGE_IN_QUEUE


def test_tags_that_are_not_wanted_are_passed_over(tmp_path: Path) -> None:
    kept = store(tmp_path)
    for number in range(4):
        put(kept, str(number), TAGS="A" if number % 2 else "B")

    found = kept.fetch("T", 0, 0, 32, max_bytes=10_000, is_wanted=lambda code: code == java_hash("A"))
    nothing = kept.fetch("T", 0, 0, 32, max_bytes=10_000, is_wanted=lambda _: False)

    assert (found.count, found.following) == (2, 4)
    assert (nothing.status, nothing.following) == (Status.NO_MATCHED_MESSAGE, 4)


def test_a_look_gives_no_more_than_was_asked_for_but_at_least_one(tmp_path: Path) -> None:
    kept = store(tmp_path)
    for number in range(5):
        put(kept, str(number))

    few = kept.fetch("T", 0, 0, 2, max_bytes=10_000)
    small = kept.fetch("T", 0, 0, 32, max_bytes=1)

    assert (few.count, few.following) == (2, 2)
    assert (small.count, small.following) == (1, 1)


def test_all_is_there_after_a_restart(tmp_path: Path) -> None:
    before = store(tmp_path)
    for number in range(9):
        put(before, str(number), at=number, TAGS="A")
    before.close()

    after = store(tmp_path)

    assert read(after, 0) == list("012345678")
    assert after.search("T", 0, 4) == 4
    assert put(after, "next").offset == 9


def test_a_message_that_was_being_written_is_cut_off(tmp_path: Path) -> None:
    before = store(tmp_path)
    put(before, "whole")
    torn = put(before, "torn")
    before.crash()
    file = tmp_path / "commitlog" / f"{0:020}"
    file.write_bytes(file.read_bytes()[:-7])

    after = store(tmp_path)

    assert (read(after, 0), after.log_end) == (["whole"], torn.position)
    assert put(after, "again") == torn.__class__(torn.position, 1, torn.size + 1)


def test_the_oldest_go_and_offsets_stay_even_over_a_crash(tmp_path: Path) -> None:
    before = store(tmp_path)
    put(before, "alone", queue_id=1)
    for number in range(60):
        put(before, f"{number:03}")
    begin = before.begin("T", 0)
    before.crash()

    after = store(tmp_path)

    assert begin > 0
    assert (after.begin("T", 0), after.end("T", 0)) == (begin, 60)
    assert (after.begin("T", 1), after.end("T", 1)) == (1, 1)
    assert after.fetch("T", 0, 0, 1, max_bytes=1).status is Status.OFFSET_TOO_SMALL
    assert sum(path.stat().st_size for path in (tmp_path / "commitlog").iterdir()) <= 5_000


def test_a_deleted_topic_begins_anew_and_stays_deleted(tmp_path: Path) -> None:
    before = store(tmp_path)
    put(before, "old")
    before.delete_topic("T")
    put(before, "new")
    before.crash()

    after = store(tmp_path)

    assert (read(before.__class__(tmp_path, HOST, segment_bytes=1_000, max_bytes=4_000), 0), after.end("T", 0)) == (
        ["new"],
        1,
    )


def test_messages_and_places_are_given_from_an_offset_on(tmp_path: Path) -> None:
    kept = store(tmp_path)
    two = [put(kept, body, TAGS="A") for body in ("one", "two")][1]

    assert [decode_messages(data)[0].body for data in kept.messages("T", 0, 1, 9)] == [b"two"]
    assert list(kept.places("T", 0, 1, 9)) == [(two.position, two.size, java_hash("A"))]


def test_a_message_without_a_tag_has_none() -> None:
    assert tag_code({"KEYS": "k"}) == 0


def test_it_says_since_when_it_goes_back_and_how_full_the_disk_is(tmp_path: Path) -> None:
    kept = store(tmp_path)
    empty = kept.earliest_at()
    put(kept, "one", at=77)

    assert (empty, kept.earliest_at()) == (-1, 77)
    assert 0 < kept.disk_used() < 1
