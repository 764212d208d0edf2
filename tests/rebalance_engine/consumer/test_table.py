import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rebalance_engine.consumer import CPP, GO, Profile, Suspend, java
from rebalance_engine.consumer.table import reconcile, remove
from rebalance_engine.consumer.threads import Code
from rebalance_engine.events import DropReason
from rebalance_engine.model import MessageQueue
from tests.rebalance_engine.consumer.running import EAST, running, told
from tests.rebalance_engine.consumer.world import World

QUEUES = [MessageQueue("orders", "east", number) for number in range(6)]


def run_code(world: World, code: Code[object]) -> None:
    world.machines["A"].client.desk.threads.spawn(code)
    world.hear("A", Suspend("G"))  # stops its own rounds
    world.run(100)


@pytest.mark.parametrize(
    ("profile", "idle_ms"), [(java("4.9.7"), 120_001), (java("5.5.0"), 120_001), (GO, 120_001), (CPP, 120_000)], ids=str
)
def test_a_pull_expires_after_more_than_120_s_and_in_cpp_with_them(profile: Profile, idle_ms: int) -> None:
    world, member = running(profile)
    before = member.table[EAST]
    for idle, expires in ((idle_ms - 1, False), (idle_ms, True)):
        told(world)
        before.last_pull = world.at - idle

        run_code(world, reconcile(member, "orders", (EAST,), needs_lock=False))

        assert ("A drops orders/east/0 at None: pull expired" in told(world)) is expires


WANTED = st.tuples(
    st.frozensets(st.sampled_from(QUEUES)),  # wanted
    st.frozensets(st.sampled_from(QUEUES)),  # somebody else has the lock
    st.frozensets(st.sampled_from(QUEUES)),  # has not been pulled
    st.frozensets(st.sampled_from(QUEUES)),  # is in the listener's hand
)


@settings(max_examples=60, deadline=None)
@given(st.booleans(), st.lists(WANTED, max_size=6))
def test_the_table_becomes_what_a_plain_model_says(
    orderly: bool, rounds: list[tuple[frozenset[MessageQueue], ...]]
) -> None:
    world, member = running(queues=6, orderly=orderly)
    run_code(world, reconcile(member, "orders", (), needs_lock=orderly))
    model: dict[MessageQueue, bool] = {}  # queue -> is dropped
    for wanted, foreign, idle, busy in rounds:
        broker = world.broker("east")
        for mq in QUEUES:
            broker.locks.pop(("G", mq), None)
            if orderly and mq in foreign:
                broker.locks["G", mq] = ("B", world.at)
        for mq, pq in member.table.items():
            pq.last_pull = world.at - (130_000 if mq in idle else 0)
            pq.last_lock = world.at
            pq.consume_lock.is_held = mq in busy

        run_code(world, reconcile(member, "orders", sorted(wanted), needs_lock=orderly))
        world.run(10_000)

        for mq in list(model):
            model[mq] = model[mq] or mq not in wanted or mq in idle
            if (mq not in wanted or mq in idle) and not (orderly and mq in busy):
                del model[mq]
        for mq in wanted - model.keys():
            if not (orderly and mq in foreign):
                model[mq] = False
        assert {mq: pq.is_dropped for mq, pq in member.table.items() if mq.topic == "orders"} == model


def test_what_is_gone_is_stored_and_forgotten() -> None:
    world, member = running()
    world.put(EAST, 3)
    world.run(100)
    told(world)

    run_code(world, reconcile(member, "orders", (), needs_lock=False))

    assert told(world) == ["A drops orders/east/0 at 3: not in target"]
    assert world.broker("east").offsets["G", EAST] == 3
    assert member.offsets.in_memory(EAST) is None


def test_an_offset_that_is_left_from_before_is_forgotten_when_a_queue_is_taken() -> None:
    world, member = running()
    run_code(world, reconcile(member, "orders", (), needs_lock=False))
    world.broker("east").offsets.pop(("G", EAST), None)
    member.offsets.update_and_freeze(EAST, 77)  # a listener ended after the queue had gone

    run_code(world, reconcile(member, "orders", (EAST,), needs_lock=False))
    member.offsets.update(EAST, 3)

    assert member.offsets.in_memory(EAST) == 3


def test_a_queue_that_is_removed_otherwise_says_why() -> None:
    world, member = running()
    told(world)

    run_code(world, remove(member, member.table[EAST], DropReason.OFFSET_ILLEGAL))

    assert told(world) == ["A drops orders/east/0 at None: offset illegal"]
    assert EAST not in member.table
