import pytest

from rebalance_engine.consumer import java
from rebalance_engine.consumer.application import Consumed, Result
from rebalance_engine.consumer.member import Member
from rebalance_engine.consumer.peer import running_info
from rebalance_engine.model import MessageQueue
from rebalance_engine.remoting.bodies.settings import MessageRequestMode, SetMessageRequestModeRequestBody
from rebalance_engine.remoting.requests.contract import Refused, Response
from rebalance_engine.remoting.requests.popping import PopMessageResponse
from tests.rebalance_engine.consumer.running import EAST
from tests.rebalance_engine.consumer.world import KINDS, World

ALL_OF_EAST = MessageQueue("orders", "east", -1)


def popping(**settings: object) -> tuple[World, Member]:
    world = World()
    world.topic("orders", "east=1")
    world.broker("east").modes["orders"] = SetMessageRequestModeRequestBody(
        topic="orders", consumer_group="G", mode=MessageRequestMode.POP
    )
    client = world.make_client("A", java("5.5.0"))
    world.start("A", "G", "orders", client_rebalance=False, **settings)
    world.run(5_000)
    world.lines = []
    world.shown = KINDS["pop"] | KINDS["deliver"]
    return world, client.member("G")


def told(world: World) -> list[str]:
    lines, world.lines = [" ".join(line[7:].split()[:4]) for line in world.lines], []
    return lines


def finish(world: World, **how: object) -> None:
    in_hand = world.machines["A"].in_hand[0]
    world.consumed("A", in_hand, Consumed(token=in_hand.token, **how))  # type: ignore[arg-type] # each by its name


def invisible(world: World) -> str:
    return next(line for line in world.lines if "Invisibletime" in line).split("=")[-1]


def test_a_batch_is_acknowledged_as_far_as_it_succeeded() -> None:
    world, member = popping(batch=3)
    world.machines["A"].listener_ms = None
    world.put(EAST, 3)
    world.run(10)
    assert member.pop_table[ALL_OF_EAST].waiting == 3
    world.lines = []

    finish(world, done=2)

    assert told(world) == [
        "A -> east AckMessage",
        "A -> east AckMessage",
        "A -> east ChangeMessageInvisibletime",
    ]
    assert member.pop_table[ALL_OF_EAST].waiting == 0


@pytest.mark.parametrize(("level", "ms"), [(0, "10000"), (1, "30000"), (15, "7200000"), (99, "7200000")])
def test_the_listener_says_how_late_a_failed_message_comes_again(level: int, ms: str) -> None:
    world, _ = popping()
    world.machines["A"].listener_ms = None
    world.put(EAST, 1)
    world.run(10)

    finish(world, result=Result.LATER, delay_level=level)

    assert invisible(world) == ms


def test_a_message_that_failed_too_often_is_acknowledged_once_it_is_old() -> None:
    world, _ = popping(max_reconsume_times=0)  # its producer made it at 0: it is old
    world.machines["A"].listener_ms = None
    world.put(EAST, 1)
    world.run(10)
    world.lines = []

    finish(world, result=Result.LATER)

    assert told(world) == ["A -> east AckMessage"]


def test_a_message_that_is_not_ours_is_acknowledged_unseen() -> None:
    world, member = popping()
    member.subscriptions.add("orders", "red", world.at)
    world.run(15_000)  # the pop that waits goes by what was subscribed when it began
    world.lines = []

    world.put(EAST, 1, tags="blue")
    world.run(10)

    assert sorted(told(world)) == ["A -> east AckMessage", "A -> east PopMessage"]


def test_what_is_consumed_too_late_is_not_acknowledged() -> None:
    world, member = popping(pop_invisible_ms=5_000)
    world.machines["A"].listener_ms = None
    world.put(EAST, 1)
    world.run(5_010)
    world.lines = []

    finish(world)

    assert told(world) == []
    assert member.pop_table[ALL_OF_EAST].waiting == 0


@pytest.mark.parametrize(
    ("answer", "after_ms"),
    [
        (Refused(code=215), 20),
        (Refused(code=1), 1_000),
        (PopMessageResponse(code=209, pop_time=0, invisible_time=0, revive_qid=0, rest_num=0), 1_000),
    ],
)
def test_how_soon_it_pops_again(answer: Response, after_ms: int) -> None:
    world, _ = popping()
    world.machines["A"].listener_ms = None
    world.broker("east").answers["PopMessage"] = [answer]
    world.put(EAST, 1)  # ends the pop that waits; the next one is answered so
    world.run(2)
    world.lines = []

    world.run(after_ms - 1)
    assert told(world) == []
    world.run(2)

    assert told(world)[-1:] == ["A -> east PopMessage"]


def test_what_it_pops_is_told_with_what_it_holds() -> None:
    _, member = popping()

    info = running_info(member.desk, member)

    assert info.mq_pop_table is not None
    assert info.mq_pop_table.keys() == {ALL_OF_EAST}
    assert member.held("orders") == {ALL_OF_EAST}
