from rebalance_engine.consumer import Suspend
from rebalance_engine.consumer.messages import Message
from rebalance_engine.consumer.sending_back import send_back
from rebalance_engine.consumer.threads import Code
from rebalance_engine.remoting.codes import ResponseCode
from rebalance_engine.remoting.requests.contract import Refused
from tests.rebalance_engine.consumer.running import EAST, running


def test_it_says_whether_the_broker_took_it() -> None:
    world, member = running()
    world.broker("east").answers["ConsumerSendMsgBack"] = [Refused(code=ResponseCode.SYSTEM_ERROR)]
    taken: list[bool] = []

    def code() -> Code[None]:
        message = Message(5, "orders", 1, 77, "id")
        taken.append((yield from send_back(member, EAST, message, 3)))
        taken.append((yield from send_back(member, EAST, message, 3)))

    world.machines["A"].client.desk.threads.spawn(code())
    world.hear("A", Suspend("G"))
    world.run(10)

    assert taken == [False, True]
    back = world.broker("east").sent_back[0]
    assert (back.offset, back.delay_level, back.origin_topic, back.origin_msg_id) == (77, 3, "orders", "id")
