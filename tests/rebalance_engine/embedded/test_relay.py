from dataclasses import replace
from pathlib import Path

import pytest

from rebalance_engine.effects import Failure
from rebalance_engine.embedded.relay import MOST_ASKED, TIMEOUT_MS
from rebalance_engine.embedded.settings import EmbeddedSettings
from rebalance_engine.model import MessageQueue
from rebalance_engine.remoting.bodies.queues import GetConsumerStatusBody, MessageQueueForC
from rebalance_engine.remoting.codec import encode, encode_response
from rebalance_engine.remoting.codes import Language, ResponseCode
from rebalance_engine.remoting.command import Command
from rebalance_engine.remoting.messages import decode_messages
from rebalance_engine.remoting.requests.changes import InvokeBrokerToResetOffset
from rebalance_engine.remoting.requests.clients import (
    ConsumeMessageDirectly,
    GetConsumerRunningInfo,
    GetConsumerStatusFromClient,
    GetConsumerStatusResponse,
    InvokeBrokerToGetConsumerStatus,
    ResetConsumerClientOffset,
)
from rebalance_engine.remoting.requests.consuming import QueryConsumerOffset, UpdateConsumerOffset
from rebalance_engine.remoting.requests.contract import Refused, Response
from tests.rebalance_engine.embedded.desk import Desk, pulling, settings

QUEUE = MessageQueue("orders", "east", 0)
RUNNING = GetConsumerRunningInfo(consumer_group="G", client_id="A")


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    return opened(tmp_path)


def opened(directory: Path, **membership: object) -> Desk:
    made = Desk(directory, EmbeddedSettings(membership=settings(**membership)))  # type: ignore[arg-type]  # as there
    made.put_topic("orders", 2)
    return made


def answer_of(response: Response, body: bytes = b"") -> Command:
    """A frame of a Go client 4.9.7."""
    return replace(encode_response(response, opaque=1, language=Language.GO, version=407), body=body)


@pytest.fixture
def member(desk: Desk) -> int:
    channel = desk.connect()
    desk.join(channel, "G", "orders")
    return channel


# ---- one client ----


def test_a_client_is_asked_and_its_answer_handed_on_as_it_came(desk: Desk, member: int) -> None:
    observer = desk.connect()
    token = desk.begin(observer, RUNNING)
    (ask,) = desk.asked
    command = answer_of(Response(remark="r"), b'{"mqTable":},"jstack":""}')

    desk.answer(command)

    assert (ask.channel, ask.timeout_ms, ask.unread) == (member, TIMEOUT_MS, True)
    assert encode(ask.request, opaque=1) == encode(RUNNING, opaque=1)
    assert (desk.handed_on, desk.answers) == ({(observer, token): command}, {})


def test_the_refusal_of_a_client_is_handed_on_too(desk: Desk, member: int) -> None:
    token = desk.begin(member, RUNNING)

    refusal = answer_of(Refused(code=1, remark="not ours"))
    desk.answer(refusal)

    assert desk.handed_on == {(member, token): refusal}


@pytest.mark.parametrize(
    ("failure", "code"),
    [(Failure.TIMEOUT, ResponseCode.CONSUME_MSG_TIMEOUT), (Failure.CLOSED, ResponseCode.SYSTEM_ERROR)],
)
def test_a_client_that_does_not_answer_has_its_verdict(
    desk: Desk, member: int, failure: Failure, code: ResponseCode
) -> None:
    observer = desk.connect()
    token = desk.begin(observer, RUNNING)

    desk.leave_unanswered(failure)

    answer = desk.answers[observer, token]
    assert (answer.code, "consumer <G> <A> " in (answer.remark or "")) == (code, True)
    assert member in desk.broker.membership.channels


def test_others_are_answered_while_a_client_is_not(desk: Desk, member: int) -> None:
    desk.begin(member, RUNNING)

    assert desk.send(desk.connect(), "orders", "x").code == 0


def test_a_client_that_is_not_there_cannot_be_asked(desk: Desk, member: int) -> None:
    refused = desk.refused(member, GetConsumerRunningInfo(consumer_group="G", client_id="B"))

    assert (refused.code, refused.remark) == (ResponseCode.SYSTEM_ERROR, "The Consumer <G> <B> not online")


def test_a_client_of_old_cannot_be_asked(desk: Desk) -> None:
    desk.version = 30
    channel = desk.connect()
    desk.join(channel, "G", "orders")

    assert "too low to finish" in (desk.refused(channel, RUNNING).remark or "")


def test_not_more_than_so_many_questions_wait(desk: Desk, member: int) -> None:
    for _ in range(MOST_ASKED):
        desk.begin(member, RUNNING)

    assert desk.refused(member, RUNNING).code == ResponseCode.SYSTEM_BUSY


def test_an_answer_for_an_observer_that_is_gone_is_dropped(desk: Desk, member: int) -> None:
    observer = desk.connect()
    desk.begin(observer, RUNNING)
    desk.disconnect(observer)

    desk.answer(answer_of(Response()))

    assert (desk.answers, desk.handed_on, member in desk.broker.membership.channels) == ({}, {}, True)


def test_a_message_can_be_consumed_on_demand(desk: Desk, member: int) -> None:
    sent = desk.send(member, "orders", "now")
    desk.begin(
        member,
        ConsumeMessageDirectly(consumer_group="G", client_id="A", msg_id=sent.msg_id, topic="orders"),
    )

    (ask,) = desk.asked

    assert isinstance(ask.request, ConsumeMessageDirectly)
    assert (ask.request.broker_name, ask.request.topic_sys_flag) == ("east", 0)
    assert decode_messages(ask.request.body)[0].body == b"now"


@pytest.mark.parametrize("msg_id", ["0A00000100002A9F0000000000000005", "nonsense", None])
def test_a_message_that_is_nowhere_cannot_be_consumed(desk: Desk, member: int, msg_id: str | None) -> None:
    request = ConsumeMessageDirectly(consumer_group="G", client_id="A", msg_id=msg_id)

    assert desk.refused(member, request).code == ResponseCode.SYSTEM_ERROR


# ---- all clients ----


def test_the_offsets_of_all_clients_come_together(desk: Desk, member: int) -> None:
    other = desk.connect()
    desk.join(other, "G", "orders", client="B")
    token = desk.begin(member, InvokeBrokerToGetConsumerStatus(topic="orders", group="G"))
    asked = [(ask.channel, type(ask.request)) for ask in desk.asked]

    desk.answer(GetConsumerStatusResponse(body=GetConsumerStatusBody(message_queue_table={QUEUE: 7})))
    early = (member, token) in desk.answers
    desk.leave_unanswered(Failure.TIMEOUT)

    answer = desk.answers[member, token]
    assert isinstance(answer, GetConsumerStatusResponse)
    assert asked == [(member, GetConsumerStatusFromClient), (other, GetConsumerStatusFromClient)]
    assert (early, answer.body.consumer_table) == (False, {"A": {QUEUE: 7}})


def test_one_client_of_several_can_be_asked(desk: Desk, member: int) -> None:
    other = desk.connect()
    desk.join(other, "G", "orders", client="B")

    desk.begin(member, InvokeBrokerToGetConsumerStatus(topic="orders", group="G", client_addr="B"))

    assert [ask.channel for ask in desk.asked] == [other]


def test_a_group_without_members_has_no_offsets_to_tell(desk: Desk) -> None:
    refused = desk.refused(desk.connect(), InvokeBrokerToGetConsumerStatus(topic="orders", group="G"))

    assert refused.remark == "No Any Consumer online in the consumer group: [G]"


# ---- resets ----


def reset(timestamp: int = -1, *, queue_id: int = -1, offset: int = -1, force: bool = True, group: str = "G",
          topic: str = "orders") -> InvokeBrokerToResetOffset:  # fmt: skip
    return InvokeBrokerToResetOffset(
        group=group, topic=topic, timestamp=timestamp, is_force=force, queue_id=queue_id, offset=offset
    )


def commit(desk: Desk, channel: int, offset: int) -> None:
    for queue_id in (0, 1):
        desk.get(
            channel,
            UpdateConsumerOffset(consumer_group="G", topic="orders", queue_id=queue_id, commit_offset=offset),
        )


def offset_of(desk: Desk, channel: int) -> int:
    return desk.get(channel, QueryConsumerOffset(consumer_group="G", topic="orders", queue_id=0)).offset


def test_the_broker_resets_and_the_next_pull_hears_of_it(desk: Desk, member: int) -> None:
    for number in range(3):
        desk.send(member, "orders", str(number))
    commit(desk, member, 3)

    body = desk.get(member, reset(queue_id=0, offset=1)).body
    pulled = desk.get(member, pulling("orders", 3))

    assert body is not None
    assert (body.offset_table, offset_of(desk, member)) == ({QUEUE: 1}, 1)
    assert (pulled.code, pulled.remark, pulled.next_begin_offset) == (ResponseCode.PULL_OFFSET_MOVED, "OFFSET_RESET", 1)


def test_all_queues_are_reset_by_time(desk: Desk, member: int) -> None:
    desk.send(member, "orders", "early")
    desk.wait(1_000)
    desk.send(member, "orders", "late")

    newest = desk.get(member, reset(-1)).body
    by_time = desk.get(member, reset(desk.now)).body

    other = QUEUE._replace(queue_id=1)
    assert newest is not None and by_time is not None
    assert newest.offset_table == {QUEUE: 2, other: 0}
    assert by_time.offset_table == {QUEUE: 1, other: 0}


@pytest.mark.parametrize(
    ("request_", "code"),
    [
        (reset(topic="x"), ResponseCode.TOPIC_NOT_EXIST),
        (reset(group="nobody"), ResponseCode.SUBSCRIPTION_GROUP_NOT_EXIST),
        (reset(queue_id=0, offset=9), ResponseCode.SYSTEM_ERROR),
    ],
)
def test_what_cannot_be_reset(desk: Desk, member: int, request_: InvokeBrokerToResetOffset, code: ResponseCode) -> None:
    assert desk.refused(member, request_).code == code


@pytest.fixture
def old(tmp_path: Path) -> Desk:
    return opened(tmp_path / "old", version="4.9.7")


@pytest.mark.parametrize(("force", "moved"), [(True, 3), (False, 1)])
def test_before_5_2_the_members_are_told(old: Desk, *, force: bool, moved: int) -> None:
    member = old.connect()
    old.join(member, "G", "orders")
    for number in range(3):
        old.send(member, "orders", str(number))
    commit(old, member, 1)
    old.pushed.clear()

    old.get(member, reset(force=force))

    (push,) = old.pushed
    assert isinstance(push.request, ResetConsumerClientOffset)
    assert isinstance(push.request.body.offset_table, dict)
    assert (push.channel, push.request.body.offset_table[QUEUE], offset_of(old, member)) == (member, moved, 1)


def test_members_in_cpp_are_told_in_their_form(old: Desk) -> None:
    member = old.connect()
    old.join(member, "G", "orders")
    commit(old, member, 0)
    old.pushed.clear()
    old.language = Language.CPP

    old.get(member, reset())

    request = old.pushed[0].request
    assert isinstance(request, ResetConsumerClientOffset)
    assert request.body.offset_table == tuple(
        MessageQueueForC(topic="orders", broker_name="east", queue_id=queue_id, offset=0) for queue_id in (0, 1)
    )


def test_before_5_2_nobody_can_be_reset_who_is_not_there(old: Desk) -> None:
    channel = old.connect()
    unknown = old.refused(channel, reset())
    commit(old, channel, 0)

    offline = old.refused(channel, reset())

    assert (unknown.code, offline.code) == (ResponseCode.SYSTEM_ERROR, ResponseCode.CONSUMER_NOT_ONLINE)
    assert old.refused(channel, reset(topic="x")).code == ResponseCode.SYSTEM_ERROR
