"""The client's side of recorded conversations gets the answers that the real brokers gave."""

from collections import Counter, defaultdict
from collections.abc import Iterable
from dataclasses import replace

import pytest

from rebalance_engine.remoting.bodies.clients import ConsumerConnection, ProducerTableInfo
from rebalance_engine.remoting.bodies.queues import ConsumerOffsetSerializeWrapper
from rebalance_engine.remoting.bodies.settings import DataVersion, SubscriptionGroupWrapper
from rebalance_engine.remoting.codec import decode_response, encode_response
from rebalance_engine.remoting.requests.brokers import GetAllProducerInfoResponse
from rebalance_engine.remoting.requests.contract import Refused, Response
from tests.rebalance_engine.membership.conversations import BROKERS, RELEASES, Asked, Played, Player, recording

CONVERSATIONS = [(release, port) for release in RELEASES for port in BROKERS]
SOON_MS = 100  # the real brokers needed up to so long from a change to the notification


@pytest.fixture(scope="module", params=CONVERSATIONS, ids=lambda param: f"{param[0]}-{BROKERS[param[1]]}")
def conversation(request: pytest.FixtureRequest) -> tuple[str, int]:
    return request.param


@pytest.fixture(scope="module")
def played(conversation: tuple[str, int]) -> Played:
    return Player(recording(*conversation)).play()


def test_every_answer_is_the_recorded_one(played: Played) -> None:
    wrong = [
        (asked.request, in_order(asked.answer), in_order(answer))
        for asked, answer in played.answers
        if asked.answer is None or in_order(asked.answer) != in_order(answer)
    ]

    assert wrong == []
    assert len(played.answers) > 80


def test_a_pull_is_refused_where_it_was_and_let_through_where_it_was(played: Played) -> None:
    assert [asked for asked in played.let_through if isinstance(asked.answer, Refused)] == []
    assert len(played.let_through) > 25


def test_every_kind_of_request_was_among_them(played: Played) -> None:
    kinds = Counter(type(asked.request).__name__ for asked, _ in played.answers)

    assert kinds.keys() >= {
        *("HeartBeat", "UnregisterClient", "GetConsumerListByGroup", "GetConsumerConnectionList"),
        *("GetProducerConnectionList", "GetAllProducerInfo", "LockBatchMq", "UnlockBatchMq", "QueryConsumerOffset"),
        *("QueryTopicConsumeByWho", "QueryTopicsByConsumer", "GetAllConsumerOffset", "GetAllSubscriptionGroupConfig"),
    }


def test_the_same_members_are_notified_of_the_same_groups_at_the_same_time(
    conversation: tuple[str, int], played: Played
) -> None:
    expected, seen = by_member(recording(*conversation).notified), by_member(played.notified)

    assert {member: len(times) for member, times in seen.items()} == {
        member: len(times) for member, times in expected.items()
    }
    for member, times in expected.items():
        late = [abs(at - notified_at) for at, notified_at in zip(times, seen[member], strict=True)]
        assert max(late) < SOON_MS, f"{member}: {times}, here {seen[member]}"


def test_heartbeats_created_the_retry_topics_that_were_recorded(conversation: tuple[str, int], played: Played) -> None:
    recorded = recording(*conversation).topics().body.topic_config_table

    for name in ("%RETRY%g_orders", "%RETRY%g_pay"):
        assert played.broker.topics.find(name) == recorded[name]


def test_a_member_was_heard_of_when_it_was(played: Played) -> None:
    tables = [
        (asked.answer.body, answer.body)
        for asked, answer in played.answers
        if isinstance(asked.answer, GetAllProducerInfoResponse) and isinstance(answer, GetAllProducerInfoResponse)
    ]

    assert tables
    for recorded, here in tables:
        shifts = {real - ours for real, ours in zip(heard_at(recorded), heard_at(here), strict=True)}
        assert max(shifts) - min(shifts) < SOON_MS


def test_the_answers_survive_the_wire(played: Played) -> None:
    for asked, answer in played.answers:
        read = decode_response(type(asked.request), encode_response(answer, opaque=1))
        assert in_order(read) == in_order(answer)


def test_the_second_release_plays_the_subscription_race() -> None:
    codes = Counter(
        answer.code
        for release, port in CONVERSATIONS
        if release == "4.9.7"
        for _, answer in Player(recording(release, port)).play().answers
    )

    assert codes[25] == 7


def by_member(notified: Iterable[tuple[float, int, str]]) -> dict[tuple[int, str], list[float]]:
    members = defaultdict(list)
    for at, connection, group in notified:
        members[connection, group].append(at)
    return members


def heard_at(table: ProducerTableInfo) -> list[int]:
    return [info.last_update_timestamp for _, infos in sorted(table.data.items()) for info in sorted(infos, key=str)]


def in_order(response: Response | None) -> object:
    """Put what Java lists in any order in one, and leave out what a broker around the machine has to say."""
    body = getattr(response, "body", None)
    return type(response), response and (response.code, response.remark), _content(response, body)


def _content(response: object, body: object) -> object:
    if isinstance(body, ConsumerConnection):
        return replace(body, connection_set=tuple(sorted(body.connection_set, key=str)))
    if isinstance(body, ProducerTableInfo):
        return {
            group: sorted(str(replace(info, last_update_timestamp=0)) for info in infos)
            for group, infos in body.data.items()
        }
    if isinstance(body, ConsumerOffsetSerializeWrapper):  # how far was pulled is known to who has the messages
        return body.offset_table, body.group_topic_map
    if isinstance(body, SubscriptionGroupWrapper):
        return replace(body, data_version=DataVersion()), getattr(response, "total_group_num", None)
    lists = ("consumer_id_list", "lock_ok_mq_set", "group_list", "topic_list", "connection_set")
    for name in lists:
        if hasattr(body, name):
            return sorted(getattr(body, name), key=str), getattr(body, "broker_addr", None)
    return response if body is None else body


def test_the_comparison_sees_a_difference() -> None:
    asked: Asked = recording(*CONVERSATIONS[0]).asked[0]

    assert in_order(asked.answer) != in_order(Response(code=9))
