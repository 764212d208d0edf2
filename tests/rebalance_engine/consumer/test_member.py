from contextlib import nullcontext

import pytest

from rebalance_engine.consumer import Message, Mode
from rebalance_engine.consumer.process_queue import ProcessQueue
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


@pytest.mark.parametrize(("offset", "is_excused"), [(1, True), (2, False)])
def test_only_where_a_pull_of_an_earlier_hold_was_may_be_past_an_unfinished_message(
    offset: int, is_excused: bool
) -> None:
    world, member = running()
    world.put(EAST, 1)
    world.run(10)
    earlier = member.table.pop(EAST)
    member.drop(earlier, DropReason.NOT_IN_TARGET)
    member.offsets.forget(EAST)
    held = ProcessQueue(EAST, world.at, is_locked=False)
    member.take(held, 0)
    held.put([Message(0, "orders", 100, 1_000, "east-0", None)])

    member.note_nothing_left(earlier, 1)
    member.offsets.update(EAST, offset)

    with nullcontext() if is_excused else pytest.raises(AssertionError, match="2 is noted, 0 is not finished"):
        member.check()
