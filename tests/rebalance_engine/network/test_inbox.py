import asyncio

import pytest

from rebalance_engine.consumer import Consumed, Result
from rebalance_engine.network.inbox import BREATH_EVERY, Inbox, Loop
from rebalance_engine.network.received import Retry
from tests.rebalance_engine.network.delivered import EAST, WEST, deliver
from tests.rebalance_engine.network.loop import on_a_loop


@on_a_loop
async def test_a_loop_gets_messages_in_their_order_and_settles_each_once() -> None:
    finished: list[Consumed] = []
    inbox = Inbox(finished.append)
    for token in (1, 2):
        inbox.take(deliver(token))

    (first, one), (_, other) = await inbox.next(), await inbox.next()
    assert (one.offset, other.offset, inbox.in_hand) == (1, 2, 2)
    other.retry(4)
    first.settle(None)
    first.settle(Retry())
    other.ack()

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

    assert given.result()[1].offset == 1
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
    assert (await inbox.next())[1].queue == WEST


@on_a_loop
async def test_nobody_waits_for_what_the_calling_task_has_left_in_hand() -> None:
    inbox = Inbox(lambda _: None)
    inbox.take(deliver(1))
    inbox.take(deliver(2))
    mine, _kept = await inbox.next()
    other, _kept_too = await asyncio.create_task(inbox.next())

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


# ---- loops that are left ----


@on_a_loop
async def test_loops_that_are_left_one_after_the_other_do_not_run_out_of_messages() -> None:
    finished: list[Consumed] = []
    inbox = Inbox(finished.append)
    for token in range(3):
        inbox.take(deliver(token))

    for token in range(3):
        message = await anext(Loop(inbox))
        assert (message.offset, len(finished), inbox.in_hand) == (token, token, 1)

    assert finished == [Consumed(token=token, result=Result.LATER) for token in range(2)]


@on_a_loop
async def test_a_message_of_a_loop_that_was_left_can_be_settled_while_its_task_asks_for_no_other() -> None:
    finished: list[Consumed] = []
    inbox = Inbox(finished.append)
    inbox.take(deliver(1))
    inbox.take(deliver(2))

    message = await anext(Loop(inbox))
    other = await asyncio.create_task(anext(Loop(inbox)))  # another task
    message.ack()
    assert finished == [Consumed(token=1)]
    assert await inbox.idle(0) is False
    other.ack()

    assert finished == [Consumed(token=1), Consumed(token=2)]


@on_a_loop
async def test_a_message_that_nobody_has_any_more_comes_again(caplog: pytest.LogCaptureFixture) -> None:
    """Forgotten in another thread, as a program without asyncio does."""
    finished: list[Consumed] = []
    inbox = Inbox(finished.append)
    inbox.take(deliver(1))
    kept = [await anext(Loop(inbox))]
    await asyncio.to_thread(kept.clear)
    await inbox.idle(1)

    assert finished == [Consumed(token=1, result=Result.LATER)]
    assert "a loop was left with a message that nobody settled; it comes again" in caplog.text


@on_a_loop
async def test_a_loop_settles_what_it_had_though_its_body_forgot_it_at_once() -> None:
    finished: list[Consumed] = []
    inbox = Inbox(finished.append)
    inbox.take(deliver(1))
    inbox.take(deliver(2))
    loop = Loop(inbox)
    await anext(loop)
    await asyncio.sleep(0)
    assert finished == []
    await anext(loop)

    assert finished == [Consumed(token=1)]


@on_a_loop
async def test_what_is_left_in_hand_by_a_close_is_not_given_back() -> None:
    """It comes again without that: it was not stored as consumed."""
    finished: list[Consumed] = []
    inbox = Inbox(finished.append)
    inbox.take(deliver(1))
    kept = [await anext(Loop(inbox))]
    inbox.stop()
    kept.clear()
    await asyncio.sleep(0)

    assert finished == []
