from struct import pack

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rebalance_engine.remoting import batches
from rebalance_engine.remoting.batches import Packed, decode_batch, encode_batch
from rebalance_engine.remoting.errors import BrokenMessage, LocalProtocolError
from tests.rebalance_engine.remoting.work import attempt, is_linear

TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)
PACKED = st.builds(Packed, body=st.binary(max_size=50), flag=st.integers(-(2**31), 2**31 - 1), property_text=TEXTS)


@given(st.lists(PACKED, max_size=5))
def test_messages_are_unpacked_as_they_were_packed(messages: list[Packed]) -> None:
    assert decode_batch(encode_batch(messages)) == tuple(messages)


def test_a_message_is_packed_as_java_packs_it() -> None:
    # MessageDecoder.encodeMessage: size, magic 0, crc 0, flag, body, properties
    packed = encode_batch([Packed(body=b"hello", flag=7, property_text="TAGS\x01TagA\x02")])

    assert packed.hex() == ("000000250000000000000000000000070000000568656c6c6f000a54414753015461674102")
    assert decode_batch(packed)[0].properties == {"TAGS": "TagA"}


@given(st.binary(max_size=200))
def test_any_bytes_are_messages_or_broken(body: bytes) -> None:
    assert isinstance(attempt(lambda: decode_batch(body)), tuple | BrokenMessage)


WHOLE = encode_batch([Packed(body=b"hello", property_text="A\x01a\x02")])


@pytest.mark.parametrize("length", range(1, len(WHOLE)))
def test_a_truncated_batch_is_broken(length: int) -> None:
    with pytest.raises(BrokenMessage):
        decode_batch(WHOLE + WHOLE[:length])


@pytest.mark.parametrize(("at", "value"), [(0, 0), (0, -1), (0, 2**31 - 1), (16, -1), (16, 2**31 - 1), (16, 4)])
def test_a_length_that_lies_is_broken(at: int, value: int) -> None:
    lying = WHOLE[:at] + pack(">i", value) + WHOLE[at + 4 :]

    with pytest.raises(BrokenMessage, match=r"by its lengths|by their length"):
        decode_batch(lying)


def test_the_number_of_messages_has_a_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(batches, "MAX_MESSAGES", 3)

    assert len(decode_batch(WHOLE * 3)) == 3
    with pytest.raises(BrokenMessage, match="more than 3"):
        decode_batch(WHOLE * 4)


def test_properties_that_are_too_long_are_our_mistake() -> None:
    with pytest.raises(LocalProtocolError, match="32768 bytes"):
        encode_batch([Packed(body=b"", property_text="x" * 32_768)])


def test_the_work_grows_with_the_number_of_messages() -> None:
    assert is_linear(lambda size: lambda: decode_batch(WHOLE * size), 1_000)
