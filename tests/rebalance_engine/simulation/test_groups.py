import pytest

from rebalance_engine.consumer.messages import Message
from rebalance_engine.model import MessageQueue
from rebalance_engine.remoting.bodies.queues import LockBatchRequestBody
from rebalance_engine.remoting.requests.consuming import LockBatchMq, UpdateConsumerOffset
from rebalance_engine.remoting.requests.membership import GetConsumerListByGroup, HeartBeat
from rebalance_engine.simulation.breach import Weather
from rebalance_engine.simulation.clock import EPOCH, Clock
from rebalance_engine.simulation.groups import FIRST, SECOND, Watches, group_of
from rebalance_engine.simulation.running import run
from rebalance_engine.simulation.scenario import Scenario
from rebalance_engine.simulation.transcript import play
from rebalance_engine.simulation.world import World
from tests.rebalance_engine.simulation.small import CLUSTER, cluster

QUEUE = MessageQueue("orders", "east", 0)


def watches(scenario: Scenario) -> Watches:
    return Watches(scenario, Clock(), Weather())


@pytest.mark.parametrize("strategy", ["orderly", "concurrent"])
def test_each_group_has_every_queue_once_by_its_own_strategy(strategy: str) -> None:
    world = World(cluster(group=f"AVG {strategy}", beside="AVG_BY_CIRCLE"), lambda _fact: None)
    world.clock.run_until(EPOCH + 60_000)

    held = {
        group: {queue: name for name, member in world.members.items() for queue in member.held(group)}
        for group in (FIRST, SECOND)
    }

    orders = {
        group: {queue: name for queue, name in of.items() if queue.topic == "orders"} for group, of in held.items()
    }
    assert [len(of) for of in held.values()] == [10, 10]
    assert orders[FIRST].keys() == orders[SECOND].keys()
    assert orders[FIRST] != orders[SECOND]


def test_every_message_is_consumed_by_each_group() -> None:
    alone, both = run(cluster("30000 kill A")), run(cluster("30000 kill A", beside="AVG"))

    assert (alone.breach, both.breach) == (None, None)
    assert both.figures.consumed - both.figures.duplicates == 2 * (alone.figures.consumed - alone.figures.duplicates)
    assert both.figures.seeds == 1


def test_a_scenario_without_a_second_group_has_none() -> None:
    assert list(watches(cluster()).of) == [FIRST]
    assert list(watches(cluster(beside="AVG")).of) == [FIRST, SECOND]


def test_a_message_is_for_all_groups_unless_it_comes_back_to_one() -> None:
    told = watches(cluster(beside="AVG"))
    again = MessageQueue(f"%RETRY%{SECOND}", "east", 0)

    told.stored(QUEUE, Message(offset=0, topic="orders"))
    told.stored(again, Message(offset=0, topic="orders"))

    assert [told.of[group].ledger.book(QUEUE).end for group in (FIRST, SECOND)] == [1, 1]
    assert [told.of[group].ledger.book(again).end for group in (FIRST, SECOND)] == [0, 1]


def test_a_request_says_which_group_it_means() -> None:
    lock = LockBatchMq(body=LockBatchRequestBody(consumer_group="h", client_id="A", mq_set=(QUEUE,)))
    commit = UpdateConsumerOffset(consumer_group="h", topic="orders", queue_id=0, commit_offset=1)

    assert [group_of(each) for each in (lock, commit, GetConsumerListByGroup(consumer_group="h"))] == ["h"] * 3
    assert group_of(HeartBeat) is None


def test_what_happens_in_the_second_group_says_so() -> None:
    told = play(f"{CLUSTER}beside AVG_BY_CIRCLE\nends at 80000\n")

    assert "A: takes orders/east/0 at 0" in told
    assert "A in h: takes orders/east/0 at 0" in told
