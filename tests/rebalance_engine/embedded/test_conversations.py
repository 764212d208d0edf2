"""Recorded conversations get from the whole broker what the real ones answered: codes, offsets, messages, stats."""

from __future__ import annotations

from collections import Counter
from dataclasses import fields, replace

import pytest

from rebalance_engine.remoting.bodies.queues import ConsumeStats, ConsumeStatsList, TopicStatsTable
from rebalance_engine.remoting.bodies.settings import TopicConfigSerializeWrapper
from rebalance_engine.remoting.codec import decode_response, encode_response
from rebalance_engine.remoting.messages import StoredMessage, decode_messages
from rebalance_engine.remoting.requests.clients import GetConsumerRunningInfo
from rebalance_engine.remoting.requests.consuming import PullMessage, PullMessageResponse
from rebalance_engine.remoting.requests.contract import Response
from rebalance_engine.remoting.requests.producing import SendMessageResponse
from tests.rebalance_engine.embedded.replay import Player, without_times
from tests.rebalance_engine.membership.conversations import BROKERS, RELEASES, Asked, breaks, recording
from tests.rebalance_engine.membership.test_conversations import in_order

CONVERSATIONS = [(release, port) for release in RELEASES for port in BROKERS]
FOR_ROCKSDB = {"RMQ_SYS_ROCKSDB_TRANS_HALF_TOPIC", "RMQ_SYS_ROCKSDB_TRANS_OP_HALF_TOPIC"}


@pytest.fixture(scope="module", params=CONVERSATIONS, ids=lambda param: f"{param[0]}-{BROKERS[param[1]]}")
def played(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Player:
    return Player(recording(*request.param), tmp_path_factory.mktemp("broker")).play()


def answered(played: Player) -> list[tuple[Asked, Response, Response]]:
    """Give each request with what the real broker answered, and this one; as it travels."""
    found = []
    for number, asked in enumerate(played.told.asked):
        here = played.answers.get(number)
        if asked.answer is not None and here is not None:
            read = decode_response(type(asked.request), encode_response(here, opaque=1))
            found.append((asked, asked.answer, read))
    return found


def test_every_answer_is_the_recorded_one(played: Player) -> None:
    wrong = [
        (asked.request, comparable(real), comparable(here))
        for asked, real, here in answered(played)
        if comparable(real) != comparable(here)
    ]

    assert wrong == []


def test_everything_is_answered_that_was(played: Player) -> None:
    """But for a pull whose connection broke before this broker's next look at those that wait, at another phase."""
    missing = [
        asked
        for number, asked in enumerate(played.told.asked)
        if asked.answer is not None and number not in played.answers
    ]

    broken = {connection for _, connection in breaks(played.told)}
    assert [
        one.request for one in missing if not (isinstance(one.request, PullMessage) and one.connection in broken)
    ] == []
    assert len(missing) <= 1


def test_what_membership_alone_leaves_unanswered_was_among_them(played: Player) -> None:
    kinds = Counter(type(asked.request).__name__ for asked, _, _ in answered(played))

    assert kinds.keys() >= {
        *("SendMessageV2", "PullMessage", "GetMaxOffset", "GetMinOffset", "GetTopicStatsInfo", "GetConsumeStats"),
        *("GetBrokerConsumeStats", "GetAllTopicConfig", "GetConsumerRunningInfo", "UnknownRequest"),
    }


def test_the_client_that_was_asked_is_the_one_that_was_meant(played: Player) -> None:
    for number, channel in played.relayed:
        request = played.told.asked[number].request
        assert isinstance(request, GetConsumerRunningInfo)
        assert channel in {asked.connection for asked in played.told.asked if client_of(asked) == request.client_id}
    assert played.relayed


def client_of(asked: Asked) -> str | None:
    return getattr(getattr(asked.request, "body", None), "client_id", None)


# ---- what can be compared ----


def comparable(response: Response) -> object:
    """Leave out times, rates, and where in the log something is; put in one order what Java lists in any."""
    if isinstance(response, PullMessageResponse):
        return without_times(response), [message(one) for one in decode_messages(response.body)]
    if isinstance(response, SendMessageResponse):
        return replace(response, msg_id="")
    return in_order(response) if (known := content(getattr(response, "body", None))) is None else (response.code, known)


def content(body: object) -> object:
    match body:
        case ConsumeStats():
            return stats(body)
        case ConsumeStatsList():
            by_group = {group: list(map(stats, all_)) for one in body.consume_stats_list for group, all_ in one.items()}
            table = {group: sorted(found, key=str) for group, found in by_group.items()}
            return table, body.total_diff, body.broker_addr
        case TopicStatsTable():
            rows = {queue: (one.min_offset, one.max_offset) for queue, one in body.offset_table.items()}
            return rows, body.topic_put_tps is None
        case TopicConfigSerializeWrapper():
            names = {name: config for name, config in body.topic_config_table.items() if name not in FOR_ROCKSDB}
            return names, body.mapping_data_version is None
    return None


def stats(found: ConsumeStats) -> object:
    return {
        queue: (one.broker_offset, one.consumer_offset, one.pull_offset, one.last_timestamp > 0)
        for queue, one in found.offset_table.items()
    }


def message(stored: StoredMessage) -> object:
    left_out = {"commit_log_offset", "store_timestamp", "property_text", "born_host"}
    kept = {one.name: getattr(stored, one.name) for one in fields(stored) if one.name not in left_out}
    return kept, stored.properties, stored.born_host.ip
