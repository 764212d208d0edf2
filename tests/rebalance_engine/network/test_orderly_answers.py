"""What an orderly consumer makes of answers that mean something to concurrent ones only."""

from collections.abc import Sequence

from rebalance_engine.network import ConsumeFromWhere, Consumer, Producer, ReceivedMessage, Retry
from tests.rebalance_engine.network.clusters import QUICK, cluster, put, until
from tests.rebalance_engine.network.loop import on_a_loop

FIRST = ConsumeFromWhere.CONSUME_FROM_FIRST_OFFSET


@on_a_loop
async def test_a_level_that_an_orderly_listener_answers_is_told_once() -> None:
    answers = [None, Retry(delay_level=3, suspend_ms=10), Retry(delay_level=2, suspend_ms=10)]
    async with cluster(orders=1) as east, Producer(east.namesrv) as producer:
        await put(producer, range(1))
        orderly = Consumer(east.namesrv, "G", "orders", lambda _: answers.pop(), orderly=True, from_where=FIRST)
        async with orderly as consumer:
            await until(lambda: not answers)
            (told,) = consumer.troubles
    assert told == "Retry(delay_level=2) was answered; an orderly consumer has no levels, and heeds suspend_ms only"


@on_a_loop
async def test_an_orderly_batch_of_which_a_part_is_said_to_be_done_comes_again_whole() -> None:
    got: list[list[bytes]] = []
    answers = [None, Retry(done=1, suspend_ms=10)]

    def listen(messages: Sequence[ReceivedMessage]) -> Retry | None:
        got.append([message.body for message in messages])
        return answers.pop()

    async with cluster(orders=1) as east, Producer(east.namesrv) as producer:
        await put(producer, range(4))
        orderly = Consumer(
            east.namesrv, "G", "orders", batch_listener=listen, batch=4, orderly=True, from_where=FIRST, version=QUICK
        )
        async with orderly as consumer:
            await until(lambda: not answers)
            (told,) = consumer.troubles
    assert got == [[b"0", b"1", b"2", b"3"]] * 2
    assert told == "Retry(done=1) was answered; an orderly consumer gets all of a batch again, or none"
