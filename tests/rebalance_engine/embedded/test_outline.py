from hypothesis import given
from hypothesis import strategies as st

from rebalance_engine.embedded.outline import Outline, outlines
from rebalance_engine.remoting.messages import Host, StoredMessage, decode_messages, encode_message
from rebalance_engine.remoting.properties import TAGS, encode_properties
from rebalance_engine.remoting.sysflags import MessageFlag
from rebalance_engine.remoting.tags import java_hash

V4, V6 = Host("10.0.0.9", 4), Host("fe80::1", 4)


@st.composite
def stored(draw: st.DrawFn) -> StoredMessage:
    born_v6, store_v6 = draw(st.booleans()), draw(st.booleans())
    tag = draw(st.one_of(st.none(), st.text("ABü", min_size=1, max_size=3)))
    flags = MessageFlag.BORN_HOST_V6 * born_v6 | MessageFlag.STORE_HOST_V6 * store_v6
    return StoredMessage(
        topic=draw(st.text("abT%", min_size=1, max_size=200)),
        queue_id=draw(st.integers(0, 1000)),
        queue_offset=draw(st.integers(0, 2**40)),
        commit_log_offset=0,
        sys_flag=int(flags),
        born_timestamp=1,
        born_host=V6 if born_v6 else V4,
        store_timestamp=draw(st.integers(0, 2**41)),
        store_host=V6 if store_v6 else V4,
        body=draw(st.binary(max_size=40)),
        property_text=encode_properties({"KEYS": "TAGS", **({TAGS: tag} if tag else {})}),
    )


@given(stored())
def test_it_reads_what_the_other_reader_reads(message: StoredMessage) -> None:
    data = encode_message(message)

    (outline,) = outlines(data, 0)

    read = decode_messages(data)[0]
    tag = read.properties.get(TAGS)
    assert outline == Outline(
        position=0,
        size=len(data),
        topic=read.topic,
        queue_id=read.queue_id,
        offset=read.queue_offset,
        tag_code=java_hash(tag) if tag else 0,
        stored_at=read.store_timestamp,
    )


@given(stored(), st.integers(min_value=1))
def test_what_is_cut_off_or_elsewhere_is_no_message(message: StoredMessage, cut: int) -> None:
    data = encode_message(message)

    assert list(outlines(data[: -(cut % len(data)) or -1], 0)) == []
    assert list(outlines(data, 7)) == []


@given(stored(), st.data())
def test_damage_never_raises(message: StoredMessage, data: st.DataObject) -> None:
    whole = bytearray(encode_message(message))
    at = data.draw(st.integers(0, len(whole) - 1))
    whole[at] = data.draw(st.integers(0, 255))

    assert len(list(outlines(bytes(whole), 0))) <= 1
