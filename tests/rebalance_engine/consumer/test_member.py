import pytest

from rebalance_engine.consumer import Mode
from rebalance_engine.events import DropReason
from rebalance_engine.model import MessageModel, MessageQueue
from tests.rebalance_engine.consumer.running import EAST, running, told


def test_a_clustering_push_consumer_subscribes_to_its_retry_topic() -> None:
    assert running()[1].subscriptions.topics == ("orders", "%RETRY%G")


@pytest.mark.parametrize("settings", [{"mode": Mode.PULL}, {"model": MessageModel.BROADCASTING}])
def test_nobody_else_does(settings: dict) -> None:
    assert running(**settings)[1].subscriptions.topics == ("orders",)


def test_dropping_counts_once_and_at_once() -> None:
    world, member = running()
    told(world)

    member.drop(member.table[EAST], DropReason.NOT_IN_TARGET)
    member.drop(member.table[EAST], DropReason.STOPPED)
    world.run(0)

    assert EAST in member.table and EAST not in member.held()
    assert member.by_broker(with_dropped=False) == {"east": (MessageQueue("%RETRY%G", "east", 0),)}
    assert len(member.by_broker(with_dropped=True)["east"]) == 2


def test_an_offset_past_an_unfinished_message_is_found() -> None:
    world, member = running()
    world.machines["A"].listener_ms = None
    world.put(EAST, 3)
    world.run(10)
    member.check()
    member.offsets.update(EAST, 2)

    with pytest.raises(AssertionError, match="2 is noted, 0 is not finished"):
        member.check()
