from hypothesis import given
from hypothesis import strategies as st

from dashboard.common.names import LONGEST, MOST_BYTES, escape, known_as, known_queue, unescape
from rebalance_engine.model import MessageQueue

texts = st.text(st.characters(exclude_categories=())) | st.text(st.sampled_from("\\u0a4f\0\ud800"))


@given(texts)
def test_a_name_comes_back_and_is_one_that_databases_take(name: str) -> None:
    stored = escape(name)

    assert unescape(stored) == name
    assert "\0" not in stored
    assert stored.encode().decode() == stored


@given(texts, texts)
def test_two_names_stay_two(one: str, other: str) -> None:
    assert (escape(one) == escape(other)) == (one == other)


def test_a_name_that_no_index_takes_is_cut_and_carries_its_digest() -> None:
    one, other = "x" * 1000 + "1", "x" * 1000 + "2"

    assert len(known_as(one)) == len(known_as(other)) == LONGEST
    assert known_as(one) != known_as(other)
    assert known_as(known_as(one)) == known_as(one)
    assert known_as("A") == "A"


@given(st.text(st.sampled_from("a\\u\0\U00020000\ud800é"), min_size=90, max_size=1_000))
def test_what_a_name_is_stored_as_fits_four_times_into_an_index_entry(name: str) -> None:
    known = known_as(name)

    assert len(escape(known).encode()) <= MOST_BYTES
    assert len(known) <= LONGEST
    assert known_as(known) == known
    assert known == name or known[-65:] not in known_as(name + "1")


def test_a_queue_is_known_by_its_names() -> None:
    plain, long = MessageQueue("orders", "east", 1), MessageQueue("x" * 1000, "east", 1)

    assert known_queue(plain) is plain
    assert known_queue(long).topic == known_as(long.topic)
