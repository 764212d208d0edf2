import asyncio
import logging
import threading
from collections.abc import Sequence

import pytest

from rebalance_engine.consumer import Consumed, Result
from rebalance_engine.network.hands import TaskHands, ThreadHands, consumed, one_by_one
from rebalance_engine.network.received import ReceivedMessage, Retry
from tests.rebalance_engine.network.clusters import until
from tests.rebalance_engine.network.delivered import deliver
from tests.rebalance_engine.network.loop import on_a_loop


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
