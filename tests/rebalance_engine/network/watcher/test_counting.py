from rebalance_engine.model import MessageQueue
from rebalance_engine.network.watcher.counting import producers_stated, progress_stated
from rebalance_engine.remoting.bodies.clients import ProducerInfo, ProducerTableInfo
from rebalance_engine.remoting.bodies.queues import ConsumeStats, OffsetWrapper
from tests.rebalance_engine.network.watcher.seeing import by


def test_producers_are_stated_once_each_with_their_addresses() -> None:
    one = ProducerInfo(client_id="A", remote_ip="/10.0.0.1:5", version=407)
    table = ProducerTableInfo(data={"sends": (one, one), "": (one,), "odd": (ProducerInfo(client_id="B"),)})

    fact = producers_stated(table, by(10))

    assert [(each.group, each.client, each.address) for each in fact.producers] == [("sends", "A", "10.0.0.1:5")]
    assert fact.broker == "east"


def test_an_offset_of_nought_is_unknown_not_committed() -> None:
    table = {
        MessageQueue("orders", "east", 1): OffsetWrapper(broker_offset=9, consumer_offset=0),
        MessageQueue("orders", "east", 0): OffsetWrapper(broker_offset=9, consumer_offset=4, last_timestamp=7),
    }

    fact = progress_stated("G", ConsumeStats(offset_table=table), by(10))

    told = [(each.queue.queue_id, each.end, each.committed, each.consumed_up_to) for each in fact.queues]
    assert told == [(0, 9, 4, 7), (1, 9, None, None)]
