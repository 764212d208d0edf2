import pytest

from rebalance_engine.effects import Received
from rebalance_engine.model import MessageQueue
from rebalance_engine.remoting.bodies.queues import MessageQueueForC, ResetOffsetBody
from rebalance_engine.remoting.requests.clients import ResetConsumerClientOffset
from tests.rebalance_engine.consumer.running import EAST, running, told

BY_QUEUE = ResetOffsetBody(offset_table={EAST: 2, MessageQueue("bills", "east", 0): 1})
IN_A_LIST = ResetOffsetBody(offset_table=(MessageQueueForC(topic="orders", broker_name="east", queue_id=0, offset=2),))


@pytest.mark.parametrize("body", [BY_QUEUE, IN_A_LIST], ids=["by queue", "in a list"])
def test_a_queue_stops_for_ten_seconds_and_goes_on_where_it_was_told_to(body: ResetOffsetBody) -> None:
    world, member = running()
    world.put(EAST, 9)
    world.run(100)
    told(world)
    world.mark = world.at

    request = ResetConsumerClientOffset(topic="orders", group="G", timestamp=0, is_force=True, body=body)
    world.hear("A", Received(channel=1, request=request))
    world.run(9_999)
    assert told(world) == ["A drops orders/east/0 at 9: unknown"]
    assert member.is_paused
    world.run(1_000)

    assert told(world) == ["A takes orders/east/0 at 2", "A pulls orders/east/0 from 2"]
    assert member.offsets.in_memory(EAST) == 9


def test_a_group_that_is_not_here_is_left_alone() -> None:
    world, _ = running()
    told(world)
    request = ResetConsumerClientOffset(topic="orders", group="H", timestamp=0, body=BY_QUEUE)

    world.hear("A", Received(channel=1, request=request))
    world.run(100)

    assert told(world) == []
