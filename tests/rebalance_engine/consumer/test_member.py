from contextlib import nullcontext

import pytest

from rebalance_engine.consumer import CPP, GO, Message, Mode, Profile, java
from rebalance_engine.consumer.member import Member
from rebalance_engine.consumer.process_queue import ProcessQueue
from rebalance_engine.effects import State
from rebalance_engine.events import DropReason, QueueDropped
from rebalance_engine.model import MessageModel, MessageQueue
from tests.rebalance_engine.consumer.running import EAST, running, stored, told
from tests.rebalance_engine.consumer.world import World


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


def test_threads_share_one_lock_a_queue_through_all_its_holds() -> None:
    world, member = running()
    lock = member.queue_lock(EAST)

    member.drop(member.table[EAST], DropReason.NOT_IN_TARGET)
    world.run(0)

    assert member.queue_lock(EAST) is lock
    assert member.queue_lock(MessageQueue("%RETRY%G", "east", 0)) is not lock


def test_an_offset_past_an_unfinished_message_is_found() -> None:
    world, member = running()
    world.machines["A"].listener_ms = None
    world.put(EAST, 3)
    world.run(10)
    member.check()
    member.offsets.update(EAST, 2)

    with pytest.raises(AssertionError, match="2 is noted, 0 is not finished"):
        member.check()


def hold_again(world: World, member: Member) -> ProcessQueue:
    """Give the queue up, so that nothing is known of it, and take it anew; its first message waits there."""
    member.drop(member.table.pop(EAST), DropReason.NOT_IN_TARGET)
    member.offsets.forget(EAST)
    held = ProcessQueue(EAST, world.at, is_locked=False)
    member.take(held, 0)
    return held


FIRST_MESSAGE = Message(0, "orders", 100, 1_000, "east-0", None)


@pytest.mark.parametrize(("offset", "is_excused"), [(1, True), (2, False)])
def test_only_where_a_pull_of_an_earlier_hold_was_may_be_past_an_unfinished_message(
    offset: int, is_excused: bool
) -> None:
    world, member = running()
    world.put(EAST, 1)
    world.run(10)
    earlier = member.table[EAST]
    hold_again(world, member).put([FIRST_MESSAGE])

    member.note_nothing_left(earlier, 1)
    member.offsets.update(EAST, offset)

    with nullcontext() if is_excused else pytest.raises(AssertionError, match="2 is noted, 0 is not finished"):
        member.check()


def test_of_two_late_answers_the_later_offset_counts_whichever_comes_first() -> None:
    world, member = running()
    older = member.table[EAST]
    younger = hold_again(world, member)
    hold_again(world, member).put([FIRST_MESSAGE])

    member.note_nothing_left(younger, 3)
    member.note_nothing_left(older, 2)

    member.check()
    assert member.offsets.in_memory(EAST) == 3


def test_a_late_answer_excuses_nothing_once_its_offset_is_forgotten() -> None:
    world, member = running()
    earlier = member.table[EAST]
    hold_again(world, member)
    member.note_nothing_left(earlier, 2)
    hold_again(world, member).put([FIRST_MESSAGE])

    member.offsets.update(EAST, 2)

    with pytest.raises(AssertionError, match="2 is noted, 0 is not finished"):
        member.check()


def test_an_answer_to_a_pull_of_the_present_hold_excuses_nothing() -> None:
    _, member = running()
    held = member.table[EAST]
    member.note_nothing_left(held, 2)
    held.put([FIRST_MESSAGE])

    with pytest.raises(AssertionError, match="2 is noted, 0 is not finished"):
        member.check()


def test_a_drop_says_nothing_of_an_offset_that_no_queue_has() -> None:
    _, member = running()
    member.offsets.update(EAST, -5, increase_only=False)  # a reset named it

    member.drop(member.table[EAST], DropReason.UNKNOWN)

    facts = [effect.fact for effect in member.desk.threads.out if isinstance(effect, State)]
    (dropped,) = (fact for fact in facts if isinstance(fact, QueueDropped))
    assert dropped.committed_offset is None


@pytest.mark.parametrize(("profile", "is_luck"), [(java("5.5.0"), False), (CPP, False), (GO, True)], ids=str)
def test_go_goes_through_its_table_in_any_order(profile: Profile, is_luck: bool) -> None:
    _, member = running(profile, queues=8)

    orders = {tuple(pq.mq for pq in member.in_turn()) for _ in range(20)}

    assert (len(orders) > 1) is is_luck
    assert {frozenset(order) for order in orders} == {frozenset(member.table)}


def test_cpp_s_timer_stores_nothing_of_a_dropped_queue() -> None:
    world, member = running(CPP)
    member.offsets.update(EAST, 5)
    member.drop(member.table[EAST], DropReason.NOT_IN_TARGET)

    world.run(20_000)

    assert stored(world) is None
