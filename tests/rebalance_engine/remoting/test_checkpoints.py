from collections.abc import Mapping

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rebalance_engine.remoting.checkpoints import (
    NORMAL,
    POP_CK,
    RETRY,
    RETRY_V2,
    Checkpoint,
    checkpoints,
    kind_of,
    pop_retry_topic,
)
from rebalance_engine.remoting.errors import BrokenMessage
from rebalance_engine.remoting.messages import Host, StoredMessage
from rebalance_engine.remoting.properties import encode_properties
from rebalance_engine.remoting.requests.popping import PopMessageResponse
from tests.rebalance_engine.remoting.examples import LONGS

WRITTEN = "40 1700000000000 60000 3 0 east 1 41"


def stored(
    offset: int, queue_id: int = 1, topic: str = "orders", properties: Mapping[str, str] | None = None
) -> StoredMessage:
    return StoredMessage(
        topic=topic,
        queue_id=queue_id,
        queue_offset=offset,
        commit_log_offset=0,
        born_timestamp=0,
        born_host=Host("10.0.0.1", 1),
        store_timestamp=0,
        store_host=Host("10.0.0.2", 2),
        property_text=encode_properties(properties or {}),
    )


def popped(starts: str | None = None) -> PopMessageResponse:
    return PopMessageResponse(
        pop_time=1_700_000_000_000, invisible_time=60_000, revive_qid=3, rest_num=0, start_offset_info=starts
    )


def test_a_checkpoint_is_read_and_written() -> None:
    read = Checkpoint.parse(WRITTEN)

    assert (read.start, read.broker, read.queue_id, read.offset) == (40, "east", 1, 41)
    assert str(read) == WRITTEN


@given(LONGS, LONGS, LONGS, st.integers(0, 100), st.sampled_from([NORMAL, RETRY, RETRY_V2]), LONGS)
def test_any_checkpoint_is_read_as_it_was_written(
    start: int, pop_time: int, invisible: int, queue: int, kind: str, offset: int
) -> None:
    written = Checkpoint(
        start=start,
        pop_time=pop_time,
        invisible_time=invisible,
        revive_queue=queue,
        kind=kind,
        broker="east",
        queue_id=queue,
        offset=offset,
    )

    assert Checkpoint.parse(str(written)) == written


@pytest.mark.parametrize("text", ["", "40", "a b c d e f g h", "40 1 2 3 0 east 1", "40 1 2 3 0 east 1 x"])
def test_what_is_no_checkpoint_is_broken(text: str) -> None:
    with pytest.raises(BrokenMessage, match="no checkpoint"):
        Checkpoint.parse(text)


def test_it_names_the_topic_that_holds_the_message() -> None:
    kinds = {kind: Checkpoint.parse(f"40 1 2 3 {kind} east 1 41").topic("orders", "G") for kind in "012"}

    assert kinds == {NORMAL: "orders", RETRY: "%RETRY%G_orders", RETRY_V2: "%RETRY%G+orders"}
    assert kinds[RETRY] == pop_retry_topic("G", "orders")
    assert {kind: kind_of(topic) for kind, topic in kinds.items()} == {kind: kind for kind in kinds}


def test_it_is_over_when_others_may_see_the_message() -> None:
    checkpoint = Checkpoint.parse("40 1000 500 3 0 east 1 41")

    assert not checkpoint.is_over(1_499)
    assert checkpoint.is_over(1_500)
    assert Checkpoint.parse("40 0 500 3 0 east 1 41").is_over(0)


def test_each_message_gets_the_start_of_its_queue() -> None:
    messages = [stored(41), stored(7, 2), stored(9, 0, "%RETRY%G_orders")]

    made = list(checkpoints(popped("0 1 40;0 2 7;1 0 9"), messages, "east"))

    assert list(map(str, made)) == [
        WRITTEN,
        "7 1700000000000 60000 3 0 east 2 7",
        "9 1700000000000 60000 3 1 east 0 9",
    ]


def test_without_starts_a_queue_was_popped_from_its_first_message_on() -> None:
    made = list(checkpoints(popped(), [stored(40), stored(41), stored(7, 2)], "east"))

    assert [checkpoint.start for checkpoint in made] == [40, 40, 7]


def test_a_checkpoint_that_the_broker_wrote_counts() -> None:
    assert [str(each) for each in checkpoints(popped(), [stored(9, properties={POP_CK: WRITTEN})], "west")] == [WRITTEN]


@pytest.mark.parametrize("starts", ["0 2 40", "0 1", "x", "0 1 forty"])
def test_starts_that_do_not_fit_are_broken(starts: str) -> None:
    with pytest.raises(BrokenMessage):
        list(checkpoints(popped(starts), [stored(41)], "east"))
