from rebalance_engine.consumer import Suspend
from rebalance_engine.consumer.threads import Code
from rebalance_engine.effects import Closed, Failure
from rebalance_engine.model import MessageQueue
from rebalance_engine.remoting.requests.consuming import GetMaxOffset
from tests.rebalance_engine.consumer.running import running, sends, told


def test_a_master_that_is_not_known_is_looked_for_once_more() -> None:
    world, member = running()
    world.shown = {"GetRouteInfoByTopic"}
    found: list[object] = []
    told(world)

    def code() -> Code[None]:
        mq = MessageQueue("bills", "north", 0)
        found.append((yield from member.desk.ask_master(mq, GetMaxOffset(topic="bills", queue_id=0), 1_000)))

    member.desk.threads.spawn(code())
    world.hear("A", Suspend("G"))
    world.run(100)

    assert found == [Failure.NOT_CONNECTED]
    assert told(world) == ["A -> names GetRouteInfoByTopic topic=bills"]


def test_a_wake_up_can_be_put_off() -> None:
    world, member = running(settle_ms=10_000)
    world.shown = {"GetConsumerListByGroup"}
    told(world)
    member.desk.wake_in(700)
    world.machines["A"].client.handle(Closed(channel=1), world.at)  # nothing: lets it begin
    member.desk.threads.tell_time(world.at + 699)
    assert sends(member.desk.threads.run()) == []
    member.desk.threads.tell_time(world.at + 700)

    assert sends(member.desk.threads.run()) == ["GetConsumerListByGroup"]
