from dataclasses import replace
from pathlib import Path

import pytest

from rebalance_engine.effects import Failure
from rebalance_engine.embedded.relay import MOST_ASKED, TIMEOUT_MS
from rebalance_engine.embedded.settings import EmbeddedSettings
from rebalance_engine.remoting.bodies.clients import HeartbeatData, ProducerData
from rebalance_engine.remoting.codec import encode_response
from rebalance_engine.remoting.codes import ResponseCode
from rebalance_engine.remoting.messages import decode_messages
from rebalance_engine.remoting.properties import decode_properties, encode_properties
from rebalance_engine.remoting.requests.clients import GetConsumerRunningInfo
from rebalance_engine.remoting.requests.contract import Refused, Response
from rebalance_engine.remoting.requests.membership import HeartBeat
from rebalance_engine.remoting.requests.producing import (
    PushReplyMessageToClient,
    SendMessageResponse,
    SendReplyMessage,
    SendReplyMessageV2,
)
from tests.rebalance_engine.embedded.desk import START, Desk, settings

TOPIC = "DefaultCluster_REPLY_TOPIC"


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    return Desk(tmp_path, EmbeddedSettings(membership=settings()))


@pytest.fixture
def asker(desk: Desk) -> int:
    channel = desk.connect()
    producer = ProducerData(group_name="askers")
    desk.get(channel, HeartBeat(body=HeartbeatData(client_id="A", producer_data_set=(producer,))))
    return channel


def replying(to: str | None = "A", **more: object) -> SendReplyMessageV2:
    own = {"CORRELATION_ID": "7"} | ({"REPLY_TO_CLIENT": to} if to is not None else {})
    request = SendReplyMessageV2(
        producer_group="PG",
        topic=TOPIC,
        queue_id=0,
        born_timestamp=START - 5,
        properties=encode_properties(own),
        body=b"yes",
    )
    return replace(request, **more)  # type: ignore[arg-type]  # fields of it


def stored(desk: Desk) -> list[bytes]:
    store = desk.broker.core.store
    return [decode_messages(data)[0].body for data in store.messages(TOPIC, 0, 0, store.end(TOPIC, 0))]


@pytest.mark.parametrize("kind", [SendReplyMessage, SendReplyMessageV2])
def test_a_reply_goes_to_the_client_that_asked_and_its_sender_hears_so(
    desk: Desk, asker: int, kind: type[SendReplyMessage | SendReplyMessageV2]
) -> None:
    replier = desk.connect()
    given = replying()
    token = desk.begin(
        replier,
        kind(
            producer_group="PG",
            topic=TOPIC,
            queue_id=0,
            born_timestamp=1,
            properties=given.properties,
            body=b"yes",
        ),
    )
    (ask,) = desk.asked
    pushed = ask.request
    assert isinstance(pushed, PushReplyMessageToClient)
    assert (ask.channel, ask.timeout_ms, pushed.body, pushed.topic) == (asker, TIMEOUT_MS, b"yes", TOPIC)
    assert (pushed.store_host, pushed.store_timestamp) == ("10.0.0.1:10911", START)
    own = decode_properties(pushed.properties or "")
    assert (own["CORRELATION_ID"], own["PUSH_REPLY_TIME"]) == ("7", str(START))
    assert (replier, token) not in desk.answers

    desk.answer(encode_response(Response(), opaque=1))

    answer = desk.answers[replier, token]
    assert isinstance(answer, SendMessageResponse) and answer.queue_offset == 0
    assert stored(desk) == [b"yes"]


@pytest.mark.parametrize("how", ["refuses", "hangs"])
def test_a_reply_that_the_client_does_not_take_is_told_so(desk: Desk, asker: int, how: str) -> None:
    del asker
    replier = desk.connect()
    token = desk.begin(replier, replying())

    if how == "refuses":
        desk.answer(encode_response(Refused(code=1), opaque=1))
    else:
        desk.leave_unanswered(Failure.TIMEOUT)

    answer = desk.answers[replier, token]
    assert (answer.code, answer.remark) == (ResponseCode.SYSTEM_ERROR, "push reply message to Afail.")


@pytest.mark.parametrize(
    ("to", "remark"),
    [
        ("B", "push reply message fail, channel of <B> not found."),
        (None, "reply message properties[REPLY_TO_CLIENT] is null"),
    ],
)
def test_a_reply_to_nobody_is_refused_and_stored(desk: Desk, asker: int, to: str | None, remark: str) -> None:
    refused = desk.refused(asker, replying(to))

    assert (refused.code, refused.remark, desk.asked) == (ResponseCode.SYSTEM_ERROR, remark, [])
    assert stored(desk) == [b"yes"]


def test_a_reply_to_no_topic_is_refused_and_goes_nowhere(desk: Desk, asker: int) -> None:
    refused = desk.refused(asker, replying(topic="none", default_topic="none"))

    assert (refused.code, desk.asked) == (ResponseCode.TOPIC_NOT_EXIST, [])


def test_one_that_cannot_be_stored_is_handed_over_all_the_same(tmp_path: Path) -> None:
    desk = Desk(tmp_path, EmbeddedSettings(membership=settings(), max_message_bytes=2))
    asker = desk.connect()
    producer = ProducerData(group_name="askers")
    desk.get(asker, HeartBeat(body=HeartbeatData(client_id="A", producer_data_set=(producer,))))
    token = desk.begin(asker, replying())

    desk.answer(encode_response(Response(), opaque=1))

    answer = desk.answers[asker, token]
    assert isinstance(answer, SendMessageResponse) and answer.msg_id == "0"


def test_not_more_than_so_many_replies_wait(desk: Desk, asker: int) -> None:
    desk.join(asker, "G", "orders")
    for _ in range(MOST_ASKED):
        desk.begin(asker, GetConsumerRunningInfo(consumer_group="G", client_id="A"))

    assert desk.refused(asker, replying()).code == ResponseCode.SYSTEM_BUSY
