from rebalance_engine.model import MessageQueue
from rebalance_engine.network.system_groups import INNER_PRODUCER
from rebalance_engine.network.watcher.counting import dead_stated, producers_stated, progress_stated
from rebalance_engine.remoting.bodies.clients import ProducerInfo, ProducerTableInfo
from rebalance_engine.remoting.bodies.queues import ConsumeStats, OffsetWrapper, TopicOffset, TopicStatsTable
from tests.rebalance_engine.network.watcher.seeing import by


def test_producers_are_stated_once_each_with_their_addresses() -> None:
    one = ProducerInfo(client_id="A", remote_ip="/10.0.0.1:5", version=407)
    table = ProducerTableInfo(
        data={"sends": (one, one), "": (one,), "odd": (ProducerInfo(client_id="B"),), INNER_PRODUCER: (one,)}
    )

    fact = producers_stated(table, by(10))

    assert [(each.group, each.client, each.address) for each in fact.producers] == [("sends", "A", "10.0.0.1:5")]
    assert fact.broker == "east"


def test_a_producer_behind_a_proxy_has_no_version_that_anybody_tells() -> None:
    through = ProducerInfo(client_id="web-1@1@0@d1o2m9xh3k", remote_ip="/10.0.0.1:5", version=497)

    fact = producers_stated(ProducerTableInfo(data={"sends": (through,)}), by(10))

    assert [each.version for each in fact.producers] == [None]


def test_an_offset_of_nought_is_unknown_not_committed() -> None:
    table = {
        MessageQueue("orders", "east", 1): OffsetWrapper(broker_offset=9, consumer_offset=0),
        MessageQueue("orders", "east", 0): OffsetWrapper(broker_offset=9, consumer_offset=4, last_timestamp=7),
    }

    fact = progress_stated("G", ConsumeStats(offset_table=table), by(10))

    told = [(each.queue.queue_id, each.end, each.committed, each.consumed_up_to) for each in fact.queues]
    assert told == [(0, 9, 4, 7), (1, 9, None, None)]


def test_dead_letters_are_counted_over_all_queues_and_none_where_there_is_no_topic() -> None:
    table = {
        MessageQueue("%DLQ%G", "east", 0): TopicOffset(min_offset=2, max_offset=9),
        MessageQueue("%DLQ%G", "east", 1): TopicOffset(min_offset=0, max_offset=1),
    }

    some, none = dead_stated("G", TopicStatsTable(offset_table=table), by(10)), dead_stated("G", None, by(10))

    assert (some.group, some.broker, some.put, some.kept) == ("G", "east", 10, 8)
    assert (none.put, none.kept) == (0, 0)
