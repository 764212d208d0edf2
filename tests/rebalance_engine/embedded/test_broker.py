from pathlib import Path

import pytest

from rebalance_engine.effects import Received, Woken
from rebalance_engine.embedded.settings import EmbeddedSettings
from rebalance_engine.remoting.codes import Language, ResponseCode
from rebalance_engine.remoting.requests.brokers import GetConsumerConnectionList
from rebalance_engine.remoting.requests.consuming import (
    GetMaxOffset,
    QueryConsumerOffset,
    UpdateConsumerOffset,
)
from rebalance_engine.remoting.requests.contract import Refused, UnknownRequest
from rebalance_engine.remoting.requests.membership import GetConsumerListByGroup, NotifyConsumerIdsChanged
from rebalance_engine.remoting.requests.producing import SendMessageV2
from tests.rebalance_engine.embedded.desk import Desk, bodies, pulling, settings


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    made = Desk(tmp_path)
    made.put_topic("orders", 2)
    return made


def committing(offset: int) -> UpdateConsumerOffset:
    return UpdateConsumerOffset(consumer_group="G", topic="orders", queue_id=0, commit_offset=offset)


def committed(desk: Desk) -> int | None:
    answer = desk.ask(desk.connect(), QueryConsumerOffset(consumer_group="G", topic="orders", queue_id=0))
    return None if isinstance(answer, Refused) else answer.offset


@pytest.mark.parametrize(("version", "code"), [("4.9.7", 9999), ("5.5.0", 9999), ("4.9.7", 400)])
def test_an_unknown_request_is_refused_as_a_real_broker_does(tmp_path: Path, version: str, code: int) -> None:
    desk = Desk(tmp_path, EmbeddedSettings(membership=settings(version)))
    request = UnknownRequest(code=code)

    refused = desk.refused(desk.connect(), request)

    assert (refused.code, refused.remark) == (
        ResponseCode.REQUEST_CODE_NOT_SUPPORTED,
        f" request type {code} not supported",
    )


def test_members_are_those_of_the_membership_machine(desk: Desk) -> None:
    first, second = desk.connect(), desk.connect()
    desk.join(first, "G", "orders", client="A")
    desk.pushed.clear()

    desk.join(second, "G", "orders", client="B")

    assert desk.get(first, GetConsumerListByGroup(consumer_group="G")).body.consumer_id_list == ("A", "B")
    assert [(push.channel, type(push.request)) for push in desk.pushed] == [
        (first, NotifyConsumerIdsChanged),
        (second, NotifyConsumerIdsChanged),
    ]


def test_a_client_is_known_by_the_header_of_its_requests(desk: Desk) -> None:
    desk.language, desk.version = Language.GO, 317
    channel = desk.connect()
    desk.join(channel, "G", "orders")

    body = desk.get(channel, GetConsumerConnectionList(consumer_group="G")).body

    assert [(one.language, one.version) for one in body.connection_set] == [(Language.GO, 317)]


def test_a_silent_member_is_thrown_out(desk: Desk) -> None:
    channel = desk.connect()
    desk.join(channel, "G", "orders")

    desk.wait(140_000)

    assert desk.closed == [channel]


def test_all_is_there_after_a_restart(desk: Desk) -> None:
    channel = desk.connect()
    desk.join(channel, "G", "orders")
    desk.send(channel, "orders", "kept")
    desk.get(channel, committing(1))

    desk.restart()
    member = desk.connect()
    desk.join(member, "G", "orders")

    assert committed(desk) == 1
    assert bodies(desk.get(member, pulling("orders", 0))) == ["kept"]


def test_a_crash_loses_offsets_of_the_last_seconds_only(desk: Desk) -> None:
    channel = desk.connect()
    desk.join(channel, "G", "orders")
    for number in range(3):
        desk.send(channel, "orders", str(number))
    desk.get(channel, committing(1))
    desk.wait(5_000)
    desk.get(channel, committing(2))

    desk.restart(crashes=True)

    assert committed(desk) == 1
    assert desk.get(desk.connect(), GetMaxOffset(topic="orders", queue_id=0)).offset == 3


def test_a_topic_is_kept_at_once(desk: Desk) -> None:
    desk.send(desk.connect(), "fresh", "x")

    desk.restart(crashes=True)

    assert desk.broker.core.find_topic("fresh") is not None


def test_a_group_starts_where_the_first_message_is_still_in_memory(desk: Desk) -> None:
    desk.send(desk.connect(), "orders", "x")

    assert committed(desk) == 0


def test_name_servers_hear_of_topics_with_what_the_broker_may_do(desk: Desk) -> None:
    before = desk.broker.topics_version
    desk.broker.core.permission = 4

    registration = desk.broker.registration()

    assert registration.body is not None
    table = registration.body.topic_config_serialize_wrapper.topic_config_table
    assert (registration.broker_addr, registration.ha_server_addr) == ("10.0.0.1:10911", "10.0.0.1:10912")
    assert (table["orders"].perm, table["TBW102"].perm, desk.broker.topics_version == before) == (4, 5, False)


def test_a_one_way_request_is_carried_out_and_not_answered(desk: Desk) -> None:
    channel = desk.connect()
    desk.join(channel, "G", "orders")
    desk.answers.clear()

    desk.hear(Received(channel=channel, request=committing(4), language=Language.JAVA, version=513))

    assert (desk.answers, committed(desk)) == ({}, 4)


def test_a_request_that_makes_no_sense_is_refused_and_others_go_on(desk: Desk) -> None:
    channel = desk.connect()
    request = SendMessageV2(
        producer_group="PG", topic="orders", queue_id=0, born_timestamp=1, properties="a\x01" + "b" * 40_000 + "\x02"
    )

    refused = desk.refused(channel, request)

    assert refused.code in {ResponseCode.SYSTEM_ERROR, ResponseCode.MESSAGE_ILLEGAL}
    assert desk.send(channel, "orders", "fine").queue_offset == 0


def test_a_timer_that_nobody_set_is_a_mistake(desk: Desk) -> None:
    with pytest.raises(ValueError, match="does not wait for"):
        desk.broker.handle(Woken(timer="lunch"), desk.now)
