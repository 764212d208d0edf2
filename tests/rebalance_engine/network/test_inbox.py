import asyncio

import pytest

from rebalance_engine.consumer import Consumed, Result
from rebalance_engine.network.inbox import BREATH_EVERY, Inbox
from tests.rebalance_engine.network.delivered import EAST, WEST, deliver
from tests.rebalance_engine.network.loop import on_a_loop


@on_a_loop
async def test_a_loop_gets_messages_in_their_order_and_settles_each_once() -> None:
    finished: list[Consumed] = []
    inbox = Inbox(finished.append)
    for token in (1, 2):
        inbox.take(deliver(token))

    first, second = await inbox.next(), await inbox.next()
    assert (first.message.offset, second.message.offset, inbox.in_hand) == (1, 2, 2)
    second.message.retry(4)
    first.settle(None)
    second.settle(None)

    assert finished == [Consumed(token=2, result=Result.LATER, delay_level=4), Consumed(token=1)]
    assert inbox.in_hand == 0


@on_a_loop
async def test_a_loop_that_waits_is_woken_and_ended() -> None:
    inbox = Inbox(lambda _: None)
    waiting = [asyncio.create_task(inbox.next()) for _ in range(2)]
    await asyncio.sleep(0)

    inbox.take(deliver(1))
    (given,), (left,) = await asyncio.wait(waiting, return_when=asyncio.FIRST_COMPLETED)
    inbox.stop()

    assert given.result().message.offset == 1
    with pytest.raises(StopAsyncIteration):
        await left


@on_a_loop
async def test_messages_of_a_dropped_queue_that_nobody_has_yet_are_given_back() -> None:
    finished: list[Consumed] = []
    inbox = Inbox(finished.append)
    for token, queue in ((1, EAST), (2, WEST), (3, EAST)):
        inbox.take(deliver(token, queue))

    inbox.dropped(EAST)

    assert [each.token for each in finished] == [1, 3]
    assert (await inbox.next()).message.queue == WEST


@on_a_loop
async def test_nobody_waits_for_what_the_calling_task_has_left_in_hand() -> None:
    inbox = Inbox(lambda _: None)
    inbox.take(deliver(1))
    inbox.take(deliver(2))
    mine = await inbox.next()
    other = await asyncio.create_task(inbox.next())

    inbox.stop()
    assert inbox.in_hand == 1
    assert not await inbox.idle(0)
    other.settle(None)

    assert await inbox.idle(0)
    assert not mine.is_settled


@on_a_loop
async def test_a_loop_over_many_messages_lets_others_have_their_turn() -> None:
    inbox = Inbox(lambda _: None)
    for token in range(BREATH_EVERY + 1):
        inbox.take(deliver(token))
    turn = asyncio.Event()
    asyncio.get_running_loop().call_soon(turn.set)

    for _ in range(BREATH_EVERY + 1):
        await inbox.next()

    assert turn.is_set()


@on_a_loop
async def test_a_broken_machine_is_raised_in_the_loop() -> None:
    inbox = Inbox(lambda _: None)
    inbox.fail(ValueError("broken"))

    with pytest.raises(ValueError, match="broken"):
        await inbox.next()
