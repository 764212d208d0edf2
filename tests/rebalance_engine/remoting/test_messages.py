from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rebalance_engine.remoting.batches import Packed, encode_batch
from rebalance_engine.remoting.compression import compress
from rebalance_engine.remoting.errors import BrokenMessage, LocalProtocolError, TooMuch
from rebalance_engine.remoting.messages import (
    MAX_UNPACKED,
    Host,
    StoredMessage,
    decode_messages,
    encode_message,
    unpack,
    unpack_all,
)
from rebalance_engine.remoting.sysflags import Compression, MessageFlag, with_compression
from tests.rebalance_engine.remoting.recordings import RELEASES, recorded
from tests.rebalance_engine.remoting.work import attempt, is_linear

# remoting.md 10.3: what the Java classes make of it
BYTES = bytes.fromhex(
    "0000007b daa320a7 3610a686 00000003 00000000 000000000000002a 00000000499602d2 00000000"
    "0000018bcfe56800 0a000009 0000d431 0000018bcfe5687b 0a000001 00002a9f 00000000 0000000000000000"
    "00000005 68656c6c6f  09 546f70696354657374  0012 4b455953016b3102 54414753015461674102"
)
MESSAGE = StoredMessage(
    topic="TopicTest",
    queue_id=3,
    queue_offset=42,
    commit_log_offset=1_234_567_890,
    born_timestamp=1_700_000_000_000,
    born_host=Host("10.0.0.9", 54_321),
    store_timestamp=1_700_000_000_123,
    store_host=Host("10.0.0.1", 10_911),
    body=b"hello",
    body_crc=907_060_870,
    property_text="KEYS\x01k1\x02TAGS\x01TagA\x02",
)
INT = st.integers(-(2**31), 2**31 - 1)
LONG = st.integers(-(2**63), 2**63 - 1)
TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=90)
V4, V6 = (st.builds(Host, st.ip_addresses(v=v).map(str), INT) for v in (4, 6))
HOST_BITS = MessageFlag.BORN_HOST_V6 | MessageFlag.STORE_HOST_V6


@st.composite
def stored_messages(draw: st.DrawFn) -> StoredMessage:
    sys_flag = draw(INT)
    return StoredMessage(
        topic=draw(TEXTS),
        queue_id=draw(INT),
        queue_offset=draw(LONG),
        commit_log_offset=draw(LONG),
        flag=draw(INT),
        sys_flag=sys_flag,
        born_timestamp=draw(LONG),
        born_host=draw(V6 if sys_flag & MessageFlag.BORN_HOST_V6 else V4),
        store_timestamp=draw(LONG),
        store_host=draw(V6 if sys_flag & MessageFlag.STORE_HOST_V6 else V4),
        reconsume_times=draw(INT),
        prepared_transaction_offset=draw(LONG),
        body=draw(st.binary(max_size=50)),
        body_crc=draw(st.integers(0, 2**31 - 1)),
        property_text=draw(TEXTS),
    )


def test_the_worked_example_is_read_and_written() -> None:
    assert decode_messages(BYTES) == (MESSAGE,)
    assert encode_message(MESSAGE) == BYTES
    assert encode_message(replace(MESSAGE, body_crc=None)) == BYTES
    assert MESSAGE.properties == {"KEYS": "k1", "TAGS": "TagA"}


@given(st.lists(stored_messages(), max_size=3))
def test_messages_are_read_as_they_were_written(messages: list[StoredMessage]) -> None:
    assert decode_messages(b"".join(map(encode_message, messages))) == tuple(messages)


@pytest.mark.parametrize("release", RELEASES)
def test_every_recorded_message_is_written_as_it_was_read_to_the_byte(release: str) -> None:
    pulled = [frame.command.body for frame in recorded(release) if frame.asked and frame.asked.code == 11]
    bodies = [body for body in pulled if body]

    messages = [decode_messages(body) for body in bodies]

    assert len(bodies) >= 40
    assert [b"".join(map(encode_message, stored)) for stored in messages] == bodies
    assert all(message.is_intact and message.properties["KEYS"] for stored in messages for message in stored)


def test_a_long_topic_takes_the_second_form() -> None:
    message = replace(MESSAGE, topic="%RETRY%" + "G" * 121)

    written = encode_message(message)

    assert written[4:8].hex() == "daa320ab"
    assert decode_messages(written) == (message,)


def test_messages_are_as_long_as_they_say() -> None:
    padded = (len(BYTES) + 3).to_bytes(4, "big") + BYTES[4:] + b"xyz"

    assert decode_messages(padded + BYTES) == (MESSAGE, MESSAGE)


def test_a_body_that_was_damaged_is_not_intact() -> None:
    assert MESSAGE.is_intact
    assert not replace(MESSAGE, body=b"hullo").is_intact


@given(st.binary(max_size=300))
def test_any_bytes_are_messages_or_broken(data: bytes) -> None:
    assert isinstance(attempt(lambda: decode_messages(data)), tuple | BrokenMessage)


@given(st.lists(st.tuples(st.integers(0, len(BYTES) - 1), st.integers(0, 255)), min_size=1, max_size=3))
def test_wrong_bytes_in_a_message_are_a_message_or_broken(changes: list[tuple[int, int]]) -> None:
    data = bytearray(BYTES)
    for at, value in changes:
        data[at] = value

    messages = attempt(lambda: decode_messages(bytes(data)))

    assert isinstance(messages, BrokenMessage) or attempt(lambda: list(map(unpack, decode_messages(bytes(data)))))


@pytest.mark.parametrize("length", range(1, len(BYTES)))
def test_a_truncated_message_is_broken(length: int) -> None:
    with pytest.raises(BrokenMessage):
        decode_messages(BYTES + BYTES[:length])


@pytest.mark.parametrize(
    ("at", "wrong", "message"),
    [
        (0, "00000000", "has 0 bytes by its size"),
        (0, "ffffffff", "has -1 bytes by its size"),
        (4, "cbd43194", "magic of the message at 0 is 0xcbd43194"),
        (84, "ffffffff", "a field of -1 bytes"),
        (84, "7fffffff", "a field of 2147483647 bytes"),
        (93, "ff", "a field of 255 bytes"),
        (103, "7fff", "a field of 32767 bytes"),
    ],
)
def test_a_field_that_lies_is_broken(at: int, wrong: str, message: str) -> None:
    lying = BYTES[:at] + bytes.fromhex(wrong) + BYTES[at + len(wrong) // 2 :]

    with pytest.raises(BrokenMessage, match=message):
        decode_messages(lying)


def test_a_negative_length_of_properties_is_none_as_in_java() -> None:
    assert decode_messages(BYTES[:103] + b"\xff\xff" + BYTES[105:])[0].properties == {}


def test_the_work_grows_with_the_number_of_messages() -> None:
    assert is_linear(lambda size: lambda: decode_messages(BYTES * size), 200)


# ---- unpacking ----


@pytest.mark.parametrize("compression", Compression)
def test_a_compressed_body_is_unpacked(compression: Compression) -> None:
    body = compress(compression, b"hello" * 100)
    stored = replace(MESSAGE, body=body, sys_flag=with_compression(0, compression))

    (message,) = unpack(stored)

    assert message.body == b"hello" * 100
    assert not message.sys_flag & MessageFlag.COMPRESSED
    assert message.is_intact
    assert unpack(message) == (message,)


def test_a_message_with_nothing_to_unpack_stays() -> None:
    assert unpack(MESSAGE) == (replace(MESSAGE, body_crc=None),)


@pytest.mark.parametrize("is_compressed", [False, True])
def test_an_inner_batch_becomes_its_messages(is_compressed: bool) -> None:
    body = encode_batch([Packed(body=b"one", flag=1), Packed(body=b"two", property_text="TAGS\x01B\x02")])
    sys_flag = int(MessageFlag.NEED_UNWRAP | MessageFlag.INNER_BATCH)
    if is_compressed:
        body, sys_flag = compress(Compression.ZSTD, body), with_compression(sys_flag, Compression.ZSTD)

    one, two = unpack(replace(MESSAGE, body=body, sys_flag=sys_flag))

    assert (one.body, one.flag, one.queue_offset, one.properties) == (b"one", 1, 42, {})
    assert (two.body, two.flag, two.queue_offset, two.properties) == (b"two", 0, 43, {"TAGS": "B"})
    assert {one.topic, two.topic} == {MESSAGE.topic}
    assert unpack(two) == (two,)


@pytest.mark.parametrize("sys_flag", [0x1, 0x101, 0x201, 0x401, 0xC0])
def test_a_body_that_is_not_what_the_flag_says_is_broken(sys_flag: int) -> None:
    with pytest.raises(BrokenMessage):
        unpack(replace(MESSAGE, sys_flag=sys_flag))


def test_a_bomb_is_broken() -> None:
    bomb = replace(MESSAGE, body=compress(Compression.ZLIB, bytes(1_001)), sys_flag=0x1)

    with pytest.raises(BrokenMessage, match="inflates to more than 1000"):
        unpack(bomb, max_size=1_000)


def test_all_messages_of_a_body_have_one_limit() -> None:
    packed = replace(MESSAGE, body=compress(Compression.ZLIB, bytes(1_000)), sys_flag=0x1)
    grown = 1_000 - len(packed.body)
    data = encode_message(packed) * 3

    assert [len(each.body) for each in unpack_all(data, 3 * grown)] == [1_000] * 3
    with pytest.raises(BrokenMessage, match=f"unpack to over {3 * grown - 1} more together"):
        list(unpack_all(data, 3 * grown - 1))


def test_what_cannot_be_unpacked_is_skipped_where_somebody_is_told() -> None:
    broken = replace(MESSAGE, queue_offset=7, sys_flag=0x1)
    data = BYTES + encode_message(broken) + BYTES
    told: list[tuple[StoredMessage | None, BrokenMessage]] = []

    read = list(unpack_all(data, skip=lambda *said: told.append(said)))

    assert read == [replace(MESSAGE, body_crc=None)] * 2
    ((message, error),) = told
    assert message is not None
    assert (message.queue_offset, "ZLIB" in str(error)) == (7, True)


def test_what_comes_before_something_that_is_no_message_is_given() -> None:
    told: list[StoredMessage | None] = []
    read = unpack_all(BYTES + b"nonsense" + BYTES, skip=lambda message, _: told.append(message))

    assert list(read) == [replace(MESSAGE, body_crc=None)]
    assert told == [None]
    read = unpack_all(BYTES + b"nonsense")
    assert next(read) == replace(MESSAGE, body_crc=None)
    with pytest.raises(BrokenMessage):
        next(read)


def test_messages_that_are_stored_as_they_were_sent_count_for_nothing() -> None:
    assert list(unpack_all(BYTES * 2, 0)) == [replace(MESSAGE, body_crc=None)] * 2


def test_a_batch_of_many_empty_messages_counts_what_each_takes_up() -> None:
    body = compress(Compression.ZSTD, encode_batch([Packed(body=b"")] * 30_000))
    sys_flag = with_compression(MessageFlag.NEED_UNWRAP | MessageFlag.INNER_BATCH, Compression.ZSTD)
    batches = encode_message(replace(MESSAGE, body=body, body_crc=None, sys_flag=sys_flag)) * 100

    seen: list[StoredMessage] = []
    with pytest.raises(BrokenMessage, match="more together"):
        seen.extend(unpack_all(batches))

    assert 0 < len(seen) <= MAX_UNPACKED // 512


# ---- our own mistakes ----


@pytest.mark.parametrize(
    "message",
    [
        replace(MESSAGE, topic="x" * 32_768),
        replace(MESSAGE, property_text="x" * 32_768),
        replace(MESSAGE, sys_flag=int(MessageFlag.BORN_HOST_V6)),
        replace(MESSAGE, store_host=Host("::1", 10_911)),
    ],
)
def test_what_cannot_be_stored_is_our_mistake(message: StoredMessage) -> None:
    with pytest.raises(LocalProtocolError, match=r"at most|the system flag says"):
        encode_message(message)


def test_the_first_message_is_given_however_much_it_grows() -> None:
    packed = replace(MESSAGE, body=compress(Compression.ZLIB, bytes(1_000)), sys_flag=0x1)
    seen: list[StoredMessage] = []

    with pytest.raises(TooMuch):
        seen.extend(unpack_all(encode_message(packed) * 3, 10))

    assert [len(each.body) for each in seen] == [1_000]
    assert len(list(unpack_all(encode_message(packed), 10))) == 1
