from pathlib import Path

import pytest

from rebalance_engine.embedded.settings import EmbeddedSettings
from rebalance_engine.model import MessageQueue
from rebalance_engine.remoting.bodies.queues import OffsetWrapper, TopicOffset
from rebalance_engine.remoting.codes import ResponseCode
from rebalance_engine.remoting.requests.brokers import GetBrokerConsumeStats, GetConsumeStats, GetTopicStatsInfo
from rebalance_engine.remoting.requests.consuming import (
    BoundaryType,
    GetMaxOffset,
    GetMinOffset,
    SearchOffsetByTimestamp,
    UpdateConsumerOffset,
)
from rebalance_engine.remoting.requests.upkeep import (
    GetEarliestMsgStoretime,
    QueryConsumeTimeSpan,
    QueryCorrectionOffset,
)
from tests.rebalance_engine.embedded.desk import START, Desk, pulling, settings

QUEUE = MessageQueue("orders", "east", 0)


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    """Make a broker with three messages, a second apart, the first of which a group has consumed."""
    made = Desk(tmp_path)
    made.put_topic("orders")
    channel = made.connect()
    made.join(channel, "G", "orders")
    for body in ("one", "two", "three"):
        made.send(channel, "orders", body)
        made.wait(1_000)
    commit(made, "G", 1)
    return made


def commit(desk: Desk, group: str, offset: int) -> None:
    channel = desk.connect()
    desk.join(channel, group, "orders", client=group)
    desk.get(channel, UpdateConsumerOffset(consumer_group=group, topic="orders", queue_id=0, commit_offset=offset))


def test_the_ends_of_a_queue(desk: Desk) -> None:
    channel = desk.connect()

    assert desk.get(channel, GetMaxOffset(topic="orders", queue_id=0)).offset == 3
    assert desk.get(channel, GetMinOffset(topic="orders", queue_id=0)).offset == 0
    assert desk.get(channel, GetEarliestMsgStoretime(topic="orders", queue_id=0)).timestamp == START
    assert desk.get(channel, GetMaxOffset(topic="orders", queue_id=9)).offset == 0


@pytest.mark.parametrize(("after_ms", "lower", "upper"), [(-1, 0, 0), (1_000, 1, 1), (1_500, 2, 1), (9_000, 3, 2)])
def test_an_offset_is_found_by_time(desk: Desk, after_ms: int, lower: int, upper: int) -> None:
    found = [
        desk.get(
            desk.connect(),
            SearchOffsetByTimestamp(topic="orders", queue_id=0, timestamp=START + after_ms, boundary_type=boundary),
        ).offset
        for boundary in (None, BoundaryType.UPPER)
    ]

    assert found == [lower, upper]


def test_the_stats_of_a_topic(desk: Desk) -> None:
    body = desk.get(desk.connect(), GetTopicStatsInfo(topic="orders")).body

    assert body.offset_table == {QUEUE: TopicOffset(min_offset=0, max_offset=3, last_update_timestamp=START + 2_000)}
    assert body.topic_put_tps == 1.0
    assert desk.refused(desk.connect(), GetTopicStatsInfo(topic="x")).code == ResponseCode.TOPIC_NOT_EXIST


def test_lag_is_what_is_left(desk: Desk) -> None:
    table = desk.get(desk.connect(), GetConsumeStats(consumer_group="G")).body.offset_table

    assert table == {QUEUE: OffsetWrapper(broker_offset=3, consumer_offset=1, pull_offset=1, last_timestamp=START)}


def test_what_was_pulled_is_further_than_what_was_consumed(desk: Desk) -> None:
    member = desk.connect()
    desk.join(member, "G", "orders")
    desk.get(member, pulling("orders", 1))

    body = desk.get(desk.connect(), GetConsumeStats(consumer_group="G", topic="orders")).body

    assert body.offset_table[QUEUE].pull_offset == 3
    assert body.consume_tps is not None


def test_before_5_0_nobody_knows_what_was_pulled(tmp_path: Path) -> None:
    desk = Desk(tmp_path, EmbeddedSettings(membership=settings("4.9.7")))
    desk.put_topic("orders")
    commit(desk, "G", 0)

    table = desk.get(desk.connect(), GetConsumeStats(consumer_group="G")).body.offset_table
    stats = desk.get(desk.connect(), GetTopicStatsInfo(topic="orders")).body

    assert (table[QUEUE].pull_offset, stats.topic_put_tps) == (None, None)


def test_a_topic_that_the_group_left_is_shown_only_if_it_is_named(desk: Desk) -> None:
    desk.put_topic("pay")
    member = desk.connect()
    desk.join(member, "G", "pay")

    by_group = desk.get(member, GetConsumeStats(consumer_group="G")).body.offset_table
    by_name = desk.get(member, GetConsumeStats(consumer_group="G", topic_list="orders;x")).body.offset_table

    assert (set(by_group), set(by_name)) == (set(), {QUEUE})


def test_all_groups_at_once(desk: Desk) -> None:
    body = desk.get(desk.connect(), GetBrokerConsumeStats(is_order=False)).body

    by_group = {group: stats for one in body.consume_stats_list for group, stats in one.items()}
    assert [stats.offset_table[QUEUE].consumer_offset for stats in by_group["G"]] == [1]
    assert (body.total_diff, body.broker_addr, by_group["TOOLS_CONSUMER"]) == (2, "10.0.0.1:10911", ())


def test_groups_of_ordered_topics_only(desk: Desk) -> None:
    body = desk.get(desk.connect(), GetBrokerConsumeStats(is_order=True)).body

    assert all(stats == () for one in body.consume_stats_list for stats in one.values())


def test_how_late_a_group_is(desk: Desk) -> None:
    (span,) = desk.get(desk.connect(), QueryConsumeTimeSpan(topic="orders", group="G")).body.consume_time_span_set

    assert (span.min_time_stamp, span.max_time_stamp, span.consume_time_stamp) == (START, START + 2_000, START)
    assert span.delay_time == 2_000


def test_the_smallest_offset_of_all_groups(desk: Desk) -> None:
    commit(desk, "H", 0)
    request = QueryCorrectionOffset(compare_group="G", topic="orders")

    everybody = desk.get(desk.connect(), request).body.correction_offsets
    without = desk.get(
        desk.connect(), QueryCorrectionOffset(compare_group="G", topic="orders", filter_groups="H")
    ).body.correction_offsets

    assert (everybody, without) == ({0: 0}, {0: 1})


@pytest.mark.parametrize(
    "request_",
    [QueryConsumeTimeSpan(topic="x", group="G"), QueryCorrectionOffset(compare_group="G", topic="x")],
)
def test_an_unknown_topic_has_no_progress(desk: Desk, request_: QueryConsumeTimeSpan | QueryCorrectionOffset) -> None:
    assert desk.refused(desk.connect(), request_).code == ResponseCode.TOPIC_NOT_EXIST
