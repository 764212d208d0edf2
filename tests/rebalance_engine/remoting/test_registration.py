import struct
import zlib

import pytest

from rebalance_engine.remoting.bodies.routes import TopicQueueMappingInfo
from rebalance_engine.remoting.bodies.settings import (
    DataVersion,
    RegisterBrokerBody,
    TopicConfig,
    TopicConfigSerializeWrapper,
)
from rebalance_engine.remoting.codec import decode, encode
from rebalance_engine.remoting.errors import BrokenContent
from rebalance_engine.remoting.registration import MAX_INFLATED, pack, unpack
from rebalance_engine.remoting.requests.nameserver import RegisterBroker

BODY = RegisterBrokerBody(
    topic_config_serialize_wrapper=TopicConfigSerializeWrapper(
        topic_config_table={
            "orders": TopicConfig(topic_name="orders", read_queue_nums=8, write_queue_nums=4, perm=6),
            "pay": TopicConfig(topic_name="pay", attributes={"+message.type": "FIFO"}),
        },
        data_version=DataVersion(timestamp=5, counter=7),
        topic_queue_mapping_info_map={
            "orders": TopicQueueMappingInfo(topic="orders", total_queues=3, curr_id_map={0: 1})
        },
    ),
    filter_server_list=("10.0.0.1:1",),
)


def part(data: bytes) -> bytes:
    return struct.pack(">i", len(data)) + data


VERSION = part(b'{"counter":7,"stateVersion":0,"timestamp":5}')


def test_what_is_packed_is_unpacked_again() -> None:
    assert unpack(pack(BODY)) == BODY


def test_the_parts_stand_as_java_writes_them() -> None:
    body = RegisterBrokerBody(
        topic_config_serialize_wrapper=TopicConfigSerializeWrapper(
            topic_config_table={"orders": TopicConfig(topic_name="orders", read_queue_nums=8, write_queue_nums=4)},
            data_version=DataVersion(timestamp=5, counter=7),
        )
    )

    inside = zlib.decompress(pack(body))

    assert inside.endswith(struct.pack(">i", 1) + part(b"orders 8 4 6 SINGLE_TAG") + part(b"[]") + struct.pack(">i", 0))


def test_brokers_before_5_0_say_nothing_of_static_topics() -> None:
    old = VERSION + struct.pack(">i", 1) + part(b"orders 8 4 6 SINGLE_TAG") + part(b"[]")

    wrapper = unpack(zlib.compress(old)).topic_config_serialize_wrapper

    assert (wrapper.data_version.counter, list(wrapper.topic_config_table)) == (7, ["orders"])
    assert wrapper.topic_queue_mapping_info_map == {}


@pytest.mark.parametrize("compressed", [True, False])
def test_a_request_says_whether_its_body_is_deflated(compressed: bool) -> None:
    request = RegisterBroker(
        broker_name="east", broker_addr="a:1", cluster_name="c", broker_id=0, compressed=compressed, body=BODY
    )

    command = encode(request, opaque=1)

    assert command.body.startswith(b"{") is not compressed
    assert decode(command) == request


@pytest.mark.parametrize(
    ("data", "complaint"),
    [
        (b"{}", "cannot be inflated"),
        (zlib.compress(b"\x00"), "says that 4 bytes follow; it has 1"),
        (zlib.compress(struct.pack(">i", 99)), "says that 99 bytes follow; it has 0"),
        (zlib.compress(VERSION + struct.pack(">i", -1)), "says -1 parts"),
        (zlib.compress(VERSION + struct.pack(">i", 2**31 - 1)), "says 2147483647 parts; it has room for 0"),
        (zlib.compress(VERSION + struct.pack(">i", 1) + part(b"orders 8")), "it needs 5 words or 6"),
        (zlib.compress(VERSION + struct.pack(">i", 1) + part(b"orders 8 x 6 T")), "it needs numbers behind its name"),
        (zlib.compress(bytes(MAX_INFLATED + 1)), "inflates to more than"),
    ],
)
def test_what_is_no_registration_is_refused(data: bytes, complaint: str) -> None:
    with pytest.raises(BrokenContent, match=complaint):
        unpack(data)
