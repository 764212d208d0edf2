from rebalance_engine.remoting.binding import read_value, to_java
from rebalance_engine.remoting.bodies.upkeep import (
    BrokerStatsData,
    BrokerStatsItem,
    HARuntimeInfo,
    TopicConfigAndQueueMapping,
)


def test_rates_come_by_span() -> None:
    read = {"statsMinute": {"sum": 6, "tps": 0.1, "avgpt": 1.0}}

    assert read_value(BrokerStatsData, read) == BrokerStatsData(stats_minute=BrokerStatsItem(sum=6, tps=0.1, avgpt=1.0))


def test_a_master_is_called_master() -> None:
    written = to_java(HARuntimeInfo(master_commit_log_max_offset=9))

    assert isinstance(written, dict)
    assert written["master"] is True


def test_one_topic_reads_as_a_topic_does() -> None:
    topic = read_value(TopicConfigAndQueueMapping, {"topicName": "T", "perm": 6, "mappingDetail": {"topic": "T"}})

    assert topic == TopicConfigAndQueueMapping(topic_name="T", perm=6)
