import pytest
from hypothesis import given
from hypothesis import strategies as st

from rebalance_engine.remoting.errors import LocalProtocolError
from rebalance_engine.remoting.properties import MAX_LENGTH, decode_properties, encode_properties
from tests.rebalance_engine.remoting.work import is_linear

TEXTS = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\x01\x02"), min_size=1, max_size=9)


@given(st.dictionaries(TEXTS, TEXTS))
def test_properties_are_read_as_they_were_written(properties: dict[str, str]) -> None:
    assert decode_properties(encode_properties(properties)) == properties


def test_properties_are_written_as_java_writes_them() -> None:
    assert encode_properties({"KEYS": "k1", "TAGS": "TagA"}) == "KEYS\x01k1\x02TAGS\x01TagA\x02"


@pytest.mark.parametrize(
    ("text", "properties"),
    [
        ("", {}),
        ("A\x01a", {"A": "a"}),  # the last mark is missing
        ("A\x01a\x02B\x02C\x01c\x02", {"A": "a", "C": "c"}),
        ("A\x01\x02\x01b\x02\x02C\x01c", {"C": "c"}),  # no value, no name, nothing
        ("A\x01a\x01b\x02", {"A": "a\x01b"}),
        ("A\x01a\x02A\x01b\x02", {"A": "b"}),
    ],
)
def test_what_is_malformed_is_passed_over(text: str, properties: dict[str, str]) -> None:
    assert decode_properties(text) == properties


@pytest.mark.parametrize("properties", [{"": "a"}, {"A\x01": "a"}, {"A": "a\x02"}])
def test_what_would_be_read_otherwise_is_our_mistake(properties: dict[str, str]) -> None:
    with pytest.raises(LocalProtocolError, match="property"):
        encode_properties(properties)


def test_what_is_too_long_is_our_mistake() -> None:
    assert len(encode_properties({"A": "a" * (MAX_LENGTH - 3)})) == MAX_LENGTH
    with pytest.raises(LocalProtocolError, match="32768 bytes"):
        encode_properties({"A": "a" * (MAX_LENGTH - 2)})


@pytest.mark.parametrize("mark", ["\x01", "\x02", "A\x01a\x02"])
def test_the_work_grows_with_the_length(mark: str) -> None:
    assert is_linear(lambda size: lambda: decode_properties(mark * size), 1_000)
