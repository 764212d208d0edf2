import asyncio
import functools
import logging
import threading
from collections.abc import Sequence

import pytest

from rebalance_engine.consumer import Consumed, Deliver, Result
from rebalance_engine.consumer.messages import message_of
from rebalance_engine.model import MessageQueue
from rebalance_engine.network.hands import (
    BREATH_EVERY,
    Inbox,
    TaskHands,
    ThreadHands,
    consumed,
    is_async,
    one_by_one,
)
from rebalance_engine.network.received import ReceivedMessage, Retry
from rebalance_engine.remoting.messages import Host, StoredMessage
from tests.rebalance_engine.network.clusters import until
from tests.rebalance_engine.network.loop import on_a_loop

EAST, WEST = (MessageQueue("orders", broker, 0) for broker in ("east", "west"))
HOST = Host("127.0.0.1", 1)


def deliver(token: int, queue: MessageQueue = EAST, count: int = 1) -> Deliver:
    stored = [
        StoredMessage(
            topic="orders",
            queue_id=0,
            queue_offset=token + number,
            commit_log_offset=0,
            born_timestamp=0,
            born_host=HOST,
            store_timestamp=0,
            store_host=HOST,
            body=b"x",
        )
        for number in range(count)
    ]
    return Deliver(group="G", queue=queue, messages=tuple(map(message_of, stored)), token=token)


async def end_of(finished: list[Consumed], count: int) -> None:
    await until(lambda: len(finished) == count)


# ---- what a listener answers ----


@pytest.mark.parametrize(
    ("answer", "means"),
    [
        (None, Consumed(token=1)),
        (Retry(), Consumed(token=1, result=Result.LATER)),
        (Retry(delay_level=-1), Consumed(token=1, result=Result.LATER, delay_level=-1)),
        (Retry(suspend_ms=50), Consumed(token=1, result=Result.LATER, suspend_ms=50)),
        (Retry(done=3, delay_level=2), Consumed(token=1, done=3, delay_level=2)),
    ],
)
def test_an_answer_is_read(answer: Retry | None, means: Consumed) -> None:
    assert consumed(1, answer) == means


def test_an_answer_that_nobody_understands_counts_as_a_failure(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.ERROR):
        assert consumed(1, True) == Consumed(token=1, result=Result.LATER)

    assert "answered True" in caplog.text


def test_who_has_to_be_awaited_is_found_out() -> None:
    async def listen(_: ReceivedMessage) -> None: ...

    class Listens:
        async def __call__(self, _: ReceivedMessage) -> None: ...

    assert is_async(listen) and is_async(functools.partial(listen)) and is_async(Listens())
    assert not is_async(lambda _: None) and not is_async(print)


# ---- a loop ----


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


# ---- listeners ----


@on_a_loop
async def test_an_async_listener_has_several_messages_at_once() -> None:
    finished: list[Consumed] = []
    go = asyncio.Event()

    async def listen(message: ReceivedMessage) -> Retry | None:
        await go.wait()
        return Retry() if message.offset == 2 else None

    hands = TaskHands(finished.append, one_by_one(listen))
    hands.take(deliver(1))
    hands.take(deliver(2))
    assert hands.in_hand == 2
    go.set()

    assert await hands.idle(10)
    assert {each.token: each.result for each in finished} == {1: Result.SUCCESS, 2: Result.LATER}
    await hands.close()


@pytest.mark.parametrize("error", [asyncio.CancelledError(), GeneratorExit(), ValueError("no")])
@on_a_loop
async def test_whatever_an_async_listener_raises_itself_the_message_comes_again_and_a_close_waits_for_nothing(
    error: BaseException,
) -> None:
    finished: list[Consumed] = []

    async def listen(_: ReceivedMessage) -> None:
        raise error

    hands = TaskHands(finished.append, one_by_one(listen))
    hands.take(deliver(1))

    assert await hands.idle(10)
    assert finished == [Consumed(token=1, result=Result.LATER)]
    await hands.close()


def test_a_listener_that_ends_the_program_ends_it_and_its_message_comes_again() -> None:
    finished: list[Consumed] = []

    async def listen(_: ReceivedMessage) -> None:
        raise SystemExit(3)

    async def main() -> None:
        TaskHands(finished.append, one_by_one(listen)).take(deliver(1))
        await asyncio.Event().wait()

    with pytest.raises(SystemExit):
        asyncio.run(main())
    assert finished == [Consumed(token=1, result=Result.LATER)]


@on_a_loop
async def test_what_a_close_cancels_is_not_told_to_anybody() -> None:
    finished: list[Consumed] = []

    async def listen(_: ReceivedMessage) -> None:
        await asyncio.Event().wait()

    hands = TaskHands(finished.append, one_by_one(listen))
    hands.take(deliver(1))
    await asyncio.sleep(0)
    await hands.close()

    assert (finished, hands.in_hand) == ([], 0)


@pytest.mark.parametrize("error", [SystemExit(3), KeyboardInterrupt(), asyncio.CancelledError()])
@on_a_loop
async def test_whatever_a_listener_raises_in_its_thread_the_message_comes_again(error: BaseException) -> None:
    finished: list[Consumed] = []

    def listen(_: ReceivedMessage) -> None:
        raise error

    hands = ThreadHands(finished.append, one_by_one(listen), threads=1)
    hands.take(deliver(1))

    assert await hands.idle(10)
    assert finished == [Consumed(token=1, result=Result.LATER)]
    await hands.close()


@on_a_loop
async def test_what_a_listener_raises_makes_the_message_come_again() -> None:
    finished: list[Consumed] = []

    async def listen(_: ReceivedMessage) -> None:
        raise RuntimeError

    def listen_in_a_thread(_: ReceivedMessage) -> None:
        raise RuntimeError

    hands = [
        TaskHands(finished.append, one_by_one(listen)),
        ThreadHands(finished.append, one_by_one(listen_in_a_thread), 1),
    ]
    for number, each in enumerate(hands):
        each.take(deliver(number))
    await end_of(finished, 2)

    assert {each.result for each in finished} == {Result.LATER}
    for each in hands:
        await each.close()


@on_a_loop
async def test_what_does_not_end_in_time_is_cancelled_and_says_nothing() -> None:
    finished: list[Consumed] = []

    async def listen(_: ReceivedMessage) -> None:
        await asyncio.Event().wait()

    hands = TaskHands(finished.append, one_by_one(listen))
    hands.take(deliver(1))
    hands.stop()
    hands.take(deliver(2))

    assert not await hands.idle(0)
    await hands.close()
    assert finished == [] and hands.in_hand == 0


@on_a_loop
async def test_a_plain_function_runs_in_as_many_threads_as_there_are() -> None:
    finished: list[Consumed] = []
    together = threading.Barrier(3, timeout=30)
    seen: list[Sequence[ReceivedMessage]] = []

    def listen(messages: Sequence[ReceivedMessage]) -> None:
        together.wait()
        seen.append(messages)

    hands = ThreadHands(finished.append, listen, 3)
    for token in (10, 20, 30):
        hands.take(deliver(token, count=2))
    await end_of(finished, 3)

    assert sorted(each.token for each in finished) == [10, 20, 30]
    assert sorted(message.offset for messages in seen for message in messages) == [10, 11, 20, 21, 30, 31]
    hands.stop()
    hands.take(deliver(40))
    assert hands.in_hand == 0
    await hands.close()
