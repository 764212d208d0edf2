from dataclasses import replace

import pytest

from rebalance_engine.consumer import Consumed, Result
from rebalance_engine.consumer.peer import running_info
from rebalance_engine.effects import Received, Respond
from rebalance_engine.remoting.bodies.queues import CMResult
from rebalance_engine.remoting.messages import encode_message
from rebalance_engine.remoting.requests.clients import (
    ConsumeMessageDirectly,
    ConsumeMessageDirectlyResponse,
    GetConsumerRunningInfo,
    GetConsumerRunningInfoResponse,
    GetConsumerStatusFromClient,
    GetConsumerStatusResponse,
)
from rebalance_engine.remoting.requests.contract import Refused, Response
from rebalance_engine.remoting.requests.membership import NotifyConsumerIdsChanged
from rebalance_engine.remoting.sysflags import MessageFlag
from tests.rebalance_engine.consumer.running import EAST, running
from tests.rebalance_engine.consumer.test_messages import bombs, stored
from tests.rebalance_engine.consumer.world import World


def ask(world: World, request: object) -> Response:
    heard = Received(channel=1, request=request, token=9)
    (effect,) = world.machines["A"].client.handle(heard, world.at)
    assert isinstance(effect, Respond) and (effect.channel, effect.token) == (1, 9)
    assert isinstance(effect.response, Response)
    return effect.response


def test_it_tells_what_it_is_and_holds() -> None:
    world, member = running(orderly=True)
    world.machines["A"].listener_ms = None
    world.put(EAST, 3)
    world.run(100)

    answer = ask(world, GetConsumerRunningInfo(consumer_group="G", client_id="A"))

    assert isinstance(answer, GetConsumerRunningInfoResponse)
    assert answer.body == running_info(member.desk, member)
    assert answer.body.properties["PROP_CONSUMEORDERLY"] == "true"
    assert answer.body.properties["allocateMessageQueueStrategy"] == "AVG"
    assert {data.topic for data in answer.body.subscription_set} == {"orders", "%RETRY%G"}
    info = answer.body.mq_table[EAST]
    assert (info.cached_msg_count, info.cached_msg_min_offset, info.cached_msg_max_offset) == (2, 1, 2)
    assert (info.transaction_msg_count, info.transaction_msg_min_offset) == (1, 0)
    assert info.locked and not info.dropped


def test_it_tells_its_offsets() -> None:
    world, _ = running()
    world.put(EAST, 3)
    world.run(100)

    answer = ask(world, GetConsumerStatusFromClient(topic="orders", group="G"))

    assert isinstance(answer, GetConsumerStatusResponse)
    assert answer.body.message_queue_table == {EAST: 3}


def test_a_group_that_is_not_here_is_refused() -> None:
    world, _ = running()

    answer = ask(world, GetConsumerRunningInfo(consumer_group="H", client_id="A"))

    assert isinstance(answer, Refused) and "<H> not exist" in str(answer.remark)


def test_one_message_can_be_consumed_besides() -> None:
    world, member = running()
    world.machines["A"].listener_ms = None
    body = encode_message(stored(5))
    world.hear("A", Received(channel=1, request=ConsumeMessageDirectly(consumer_group="G", body=body), token=9))
    (effect,) = world.machines["A"].in_hand
    assert effect.messages[0].offset == 5

    (answer,) = world.machines["A"].client.handle(Consumed(token=effect.token, result=Result.LATER), world.at + 70)

    assert isinstance(answer, Respond) and isinstance(answer.response, ConsumeMessageDirectlyResponse)
    assert (answer.response.body.consume_result, answer.response.body.spent_time_mills) == (CMResult.CR_LATER, 70)
    assert member.offsets.in_memory(EAST) is None


EMPTY_BATCH = replace(stored(5), body=b"", sys_flag=int(MessageFlag.NEED_UNWRAP | MessageFlag.INNER_BATCH))


@pytest.mark.parametrize("topic", [None, "orders"])
@pytest.mark.parametrize("body", [b"", b"nonsense", encode_message(EMPTY_BATCH)])
def test_what_is_no_message_is_refused(body: bytes, topic: str | None) -> None:
    world, _ = running()

    answer = ask(world, ConsumeMessageDirectly(consumer_group="G", topic=topic, body=body))

    assert isinstance(answer, Refused) and answer.code == 1


def test_messages_that_inflate_to_too_much_are_refused() -> None:
    world, _ = running()

    answer = ask(world, ConsumeMessageDirectly(consumer_group="G", body=bombs(5)))

    assert isinstance(answer, Refused) and "over 67108864 more together" in str(answer.remark)


def test_what_is_not_understood_is_refused_at_once() -> None:
    world, _ = running()

    answer = ask(world, NotifyConsumerIdsChanged)

    assert isinstance(answer, Refused) and answer.code == 3


def test_a_oneway_request_that_is_not_understood_is_not_answered() -> None:
    world, _ = running()

    assert world.machines["A"].client.handle(Received(channel=1, request="?"), world.at) == []
