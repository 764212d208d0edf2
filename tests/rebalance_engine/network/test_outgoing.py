import random
from typing import Any

import numpy as np
import pytest

from rebalance_engine.network.identity import MessageIds
from rebalance_engine.network.outgoing import (
    MAX_SIZE,
    BadMessage,
    Message,
    Packing,
    check_group,
    check_topic,
    pack,
    pack_batch,
)
from rebalance_engine.remoting.batches import decode_batch
from rebalance_engine.remoting.compression import inflate
from rebalance_engine.remoting.properties import decode_properties
from rebalance_engine.remoting.sysflags import Compression, compression_of

IDS = MessageIds("127.0.0.1")


def message(**more: Any) -> Message:
    return Message(**{"topic": "orders", "body": b"x", **more})


def test_what_an_application_says_becomes_properties() -> None:
    whole = message(
        tags="new", keys=["k1", "k2"], properties={"region": "north"}, sharding_key="7", delay_level=3, flag=9
    )
    parcel = pack(whole, "ID", Packing())

    assert decode_properties(parcel.message.properties or "") == {
        "TAGS": "new",
        "KEYS": "k1 k2",
        "region": "north",
        "__SHARDINGKEY": "7",
        "DELAY": "3",
        "UNIQ_KEY": "ID",
        "WAIT": "true",
    }
    assert (parcel.message.topic, parcel.message.body, parcel.message.flag) == ("orders", b"x", 9)
    assert parcel.message_ids == ("ID",)


def test_numbers_of_other_libraries_leave_as_plain_ones() -> None:
    given = message(delay_level=np.int64(3), flag=np.uint8(9))
    ready = pack(given, "ID", Packing()).message
    together = pack_batch([message(flag=np.uint8(9))], IDS, 0, Packing()).message

    assert decode_properties(ready.properties or "")["DELAY"] == "3"
    assert (ready.flag, type(ready.flag)) == (9, int)
    assert [one.flag for one in decode_batch(together.body)] == [9]


def test_one_key_is_a_text() -> None:
    assert decode_properties(pack(message(keys="k1"), "ID", Packing()).message.properties or "")["KEYS"] == "k1"


@pytest.mark.parametrize("kind", Compression)
def test_bodies_from_4_kib_on_are_compressed(kind: Compression) -> None:
    packing = Packing(compression=kind)
    small = pack(message(body=b"x" * 4_095), "ID", packing).message
    large = pack(message(body=b"x" * 4_096), "ID", packing).message

    assert (small.sys_flag, len(small.body)) == (0, 4_095)
    assert compression_of(large.sys_flag) is kind and len(large.body) < 200
    assert inflate(kind, large.body) == b"x" * 4_096


@pytest.mark.parametrize("kind", Compression)
def test_a_body_that_compression_would_make_larger_goes_as_it_is(kind: Compression) -> None:
    body = random.Random(1).randbytes(MAX_SIZE)
    packed = pack(message(body=body), "ID", Packing(compression=kind)).message

    assert packed.sys_flag == 0
    assert packed.body is body


def test_compression_can_be_switched_off() -> None:
    assert pack(message(body=b"x" * 9_000), "ID", Packing(compress_from=None)).message.sys_flag == 0


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ({"topic": ""}, "needed are 1 to 127"),
        ({"topic": "a b"}, "topic is 'a b'"),
        ({"topic": "a" * 128}, "needed are 1 to 127"),
        ({"body": b""}, "empty body"),
        ({"body": b"x" * 101}, "101 bytes; at most 100"),
        ({"delay_level": -1}, "delay level is -1"),
        ({"properties": {"TAGS": "a"}}, "keeps for itself"),
    ],
)
def test_what_no_broker_takes_is_refused(wrong: dict[str, Any], words: str) -> None:
    with pytest.raises(BadMessage, match=words):
        pack(message(**wrong), "ID", Packing(max_size=100))


@pytest.mark.parametrize(
    ("field", "value", "words"),
    [
        ("body", "text", r"the body is 'text'; needed is bytes, such as text.encode\(\)"),
        ("topic", b"orders", "the topic is b'orders'; needed is a text"),
        ("keys", 5, "keys is 5; needed is a text, or several"),
        ("keys", ["a", 5], "needed is a text, or several"),
        ("tags", 5, "tags is 5"),
        ("delay_level", 2**31, "the delay level is 2147483648; needed is a whole number of 32 bits"),
        ("waits_for_store", "no", "waits_for_store is 'no'; needed is True or False"),
        ("properties", {"": "x"}, "the name of a property is ''; needed is one character at least"),
        ("sharding_key", 5, "the sharding key is 5"),
        ("properties", {"a": 1}, "property 'a' is 1; needed is a text"),
        ("properties", {1: "a"}, "property 1 is 'a'; needed is a text"),
        ("properties", ["a"], "needed is name -> value"),
        ("properties", {"a": "\x01"}, "neither may hold"),
        ("properties", {"a": "x" * 40_000}, "at most 32767 travel"),
        ("keys", "\ud800", r"property 'KEYS' holds '\\ud800', half of a character; needed are whole ones"),
        ("properties", {"\udfff": "a"}, "half of a character"),
        ("delay_level", "1", "the delay level is '1'; needed is a whole number"),
        ("flag", 2**31, "needed is a whole number of 32 bits"),
    ],
)
def test_a_field_of_another_kind_is_refused_before_anything_is_sent(field: str, value: object, words: str) -> None:
    with pytest.raises(BadMessage, match=words):
        pack(message(**{field: value}), "ID", Packing())
    with pytest.raises(BadMessage, match=words):
        pack_batch([message(**{field: value})], IDS, 0, Packing())


def test_what_is_no_message_is_refused() -> None:
    with pytest.raises(BadMessage, match="the message is 'text'; needed is a Message"):
        pack("text", "ID", Packing())  # type: ignore[arg-type]


def test_marks_within_properties_are_refused() -> None:
    with pytest.raises(BadMessage):
        pack(message(properties={"a": "\x01"}), "ID", Packing())


def test_topics_of_rocketmq_itself_have_percent_signs() -> None:
    check_topic("%RETRY%G")


def test_a_batch_holds_its_messages_each_with_an_id_of_its_own() -> None:
    parcel = pack_batch([message(body=b"a", tags="t"), message(body=b"b", flag=3)], IDS, 0, Packing())
    first, second = decode_batch(parcel.message.body)

    assert parcel.message.is_batch and decode_properties(parcel.message.properties or "") == {"WAIT": "true"}
    assert (first.body, first.properties["TAGS"], second.body, second.flag) == (b"a", "t", b"b", 3)
    assert (first.properties["UNIQ_KEY"], second.properties["UNIQ_KEY"]) == parcel.message_ids
    assert len(set(parcel.message_ids)) == 2


@pytest.mark.parametrize(
    ("messages", "words"),
    [
        ([], "empty"),
        ([message(), message(topic="bills")], r"\['bills', 'orders'\]"),
        ([message(), message(waits_for_store=False)], "needed are equal ones"),
        ([message(delay_level=1)], "delayed"),
        ([message(topic="%RETRY%G")], "one by one"),
        ([message(body=b"x" * 60)] * 2, "at most 100"),
    ],
)
def test_a_batch_that_no_broker_takes_is_refused(messages: list[Message], words: str) -> None:
    with pytest.raises(BadMessage, match=words):
        pack_batch(messages, IDS, 0, Packing(max_size=100))


@pytest.mark.parametrize("group", ["", "a b", "größe", "g" * 256])
def test_a_group_has_a_name_as_java_checks_it(group: str) -> None:
    with pytest.raises(ValueError, match="the group is"):
        check_group(group)
    check_group("%RETRY%" + "g" * 248)
