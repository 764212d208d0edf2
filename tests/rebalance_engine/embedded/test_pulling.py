from pathlib import Path

import pytest

from rebalance_engine.embedded.pulling import MOST_WAITING, filter_of
from rebalance_engine.embedded.settings import EmbeddedSettings
from rebalance_engine.remoting.codes import ResponseCode
from rebalance_engine.remoting.requests.consuming import PullMessageResponse, QueryConsumerOffset
from rebalance_engine.remoting.tags import java_hash, subscription
from tests.rebalance_engine.embedded.desk import Desk, bodies, pulling, settings


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    made = Desk(tmp_path)
    made.put_topic("orders", 2)
    return made


@pytest.fixture
def member(desk: Desk) -> int:
    channel = desk.connect()
    desk.join(channel, "G", "orders")
    return channel


def test_what_is_there_comes_at_once(desk: Desk, member: int) -> None:
    for body in ("one", "two"):
        desk.send(member, "orders", body)

    answer = desk.get(member, pulling("orders", 0))

    assert (answer.code, answer.remark, bodies(answer)) == (0, "FOUND", ["one", "two"])
    assert (answer.next_begin_offset, answer.min_offset, answer.max_offset) == (2, 0, 2)
    assert (answer.suggest_which_broker_id, answer.topic_sys_flag, answer.group_sys_flag) == (0, 0, 0)


def test_before_5_0_an_answer_has_no_flags(tmp_path: Path) -> None:
    desk = Desk(tmp_path, EmbeddedSettings(membership=settings("4.9.7")))
    desk.put_topic("orders")
    channel = desk.connect()
    desk.join(channel, "G", "orders")
    desk.send(channel, "orders", "one")

    assert desk.get(channel, pulling("orders", 0)).group_sys_flag is None


def test_a_pull_waits_for_a_message(desk: Desk, member: int) -> None:
    token = desk.begin(member, pulling("orders", 0))
    desk.wait(3_000)
    before = dict(desk.answers)

    desk.send(desk.connect(), "orders", "late")

    assert before == {}
    assert bodies(desk.answers[member, token]) == ["late"]
    assert desk.broker.pulling.waiting == 0


def test_a_pull_waits_for_its_own_queue_only(desk: Desk, member: int) -> None:
    desk.begin(member, pulling("orders", 0))

    desk.send(desk.connect(), "orders", "elsewhere", 1)

    assert desk.broker.pulling.waiting == 1


def test_a_pull_that_waited_in_vain_is_answered_at_the_next_look(desk: Desk, member: int) -> None:
    desk.wait(1_000)
    token = desk.begin(member, pulling("orders", 0))

    desk.wait(18_999)
    early = (member, token) in desk.answers
    desk.wait(1)

    answer = desk.answers[member, token]
    assert isinstance(answer, PullMessageResponse)
    assert (early, answer.code, answer.remark) == (False, ResponseCode.PULL_NOT_FOUND, "NO_MESSAGE_IN_QUEUE")


def test_a_pull_that_may_not_wait_does_not(desk: Desk, member: int) -> None:
    answer = desk.get(member, pulling("orders", 0, sys_flag=0))

    assert answer.code == ResponseCode.PULL_NOT_FOUND


def test_a_pull_is_not_woken_by_a_tag_that_it_does_not_want(desk: Desk) -> None:
    member = desk.connect()
    desk.join(member, "G", "orders", tags="A")
    token = desk.begin(member, pulling("orders", 0))
    producer = desk.connect()

    desk.send(producer, "orders", "for others", TAGS="B")
    still = desk.broker.pulling.waiting
    desk.send(producer, "orders", "for us", TAGS="A")

    assert (still, bodies(desk.answers[member, token])) == (1, ["for us"])


def test_tags_that_nobody_wants_move_the_offset(desk: Desk) -> None:
    member = desk.connect()
    desk.join(member, "G", "orders", tags="A")
    desk.send(member, "orders", "for others", TAGS="B")

    answer = desk.get(member, pulling("orders", 0))

    assert (answer.code, answer.remark) == (ResponseCode.PULL_RETRY_IMMEDIATELY, "NO_MATCHED_MESSAGE")
    assert answer.next_begin_offset == 1


@pytest.mark.parametrize(
    ("sent", "offset", "remark", "following"),
    [(1, 5, "OFFSET_OVERFLOW_BADLY", 1), (0, 5, "NO_MESSAGE_IN_QUEUE", 0), (1, -1, "OFFSET_TOO_SMALL", 0)],
)
def test_an_offset_that_is_not_there_is_moved(
    desk: Desk, member: int, sent: int, offset: int, remark: str, following: int
) -> None:
    for _ in range(sent):
        desk.send(member, "orders", "x")

    answer = desk.get(member, pulling("orders", offset))

    assert (answer.code, answer.remark, answer.next_begin_offset) == (ResponseCode.PULL_OFFSET_MOVED, remark, following)


def test_a_pull_brings_the_offset_that_was_consumed(desk: Desk, member: int) -> None:
    desk.send(member, "orders", "x")

    desk.get(member, pulling("orders", 0, sys_flag=3, commit=1))

    assert desk.get(member, QueryConsumerOffset(consumer_group="G", topic="orders", queue_id=0)).offset == 1


def test_the_checks_of_membership_come_first(desk: Desk, member: int) -> None:
    assert desk.refused(member, pulling("orders", 0, group="strangers")).code == ResponseCode.SUBSCRIPTION_NOT_EXIST


def test_a_broker_that_may_not_read_says_so(desk: Desk, member: int) -> None:
    desk.broker.core.permission = 2

    refused = desk.refused(member, pulling("orders", 0))

    assert (refused.code, refused.ext_fields) == (ResponseCode.NO_PERMISSION, {"forbiddenType": "1"})


def test_the_pulls_of_a_closed_channel_are_forgotten(desk: Desk, member: int) -> None:
    other = desk.connect()
    desk.join(other, "G", "orders", client="B")
    for channel in (member, other):
        desk.begin(channel, pulling("orders", 0))

    desk.disconnect(member)
    desk.send(other, "orders", "x")

    assert [channel for channel, _ in desk.answers] == [other]


def test_one_channel_cannot_fill_the_broker_with_pulls(desk: Desk, member: int) -> None:
    for _ in range(MOST_WAITING):
        desk.begin(member, pulling("orders", 0))

    assert desk.refused(member, pulling("orders", 0)).code == ResponseCode.SYSTEM_BUSY


def test_a_filter_is_by_hash() -> None:
    everything, some = subscription("T", "*", version=1), subscription("T", "A || B", version=1)

    is_wanted = filter_of(some)

    assert filter_of(everything) is None
    assert is_wanted is not None
    assert [is_wanted(java_hash(tag)) for tag in "ABC"] == [True, True, False]
