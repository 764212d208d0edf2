import asyncio

import pytest

from rebalance_engine.effects import Failure
from rebalance_engine.network.answers import Answerer
from rebalance_engine.network.asked import LEAST_S, Deadline
from rebalance_engine.network.link import NoAnswer
from rebalance_engine.remoting.codes import RequestCode
from tests.rebalance_engine.network.virtual import run

BY = Answerer(address="e:1", code=RequestCode.GET_BROKER_RUNTIME_INFO, at=0)


def test_an_answer_has_the_time_at_which_it_came() -> None:
    async def ask() -> None:
        deadline = Deadline(10)
        began = deadline.now()

        async def answer(left_s: float) -> float:
            await asyncio.sleep(2)
            return left_s

        heard = await deadline.hear(BY, answer)

        assert heard.value == 10
        assert heard.by.at - began == 2000
        assert deadline.left_s == 8
        await asyncio.sleep(9)
        assert deadline.left_s == LEAST_S

    run(ask())


def test_why_an_answer_is_missing_is_kept_and_accidents_are_not() -> None:
    async def refuse(_: float) -> None:
        raise NoAnswer(Failure.TIMEOUT, "e:1")

    async def fail(_: float) -> None:
        raise KeyError("ours")

    async def ask() -> None:
        heard = await Deadline(1).hear(BY, refuse)
        assert heard.value is None
        assert heard.why == "e:1: no answer in time"
        with pytest.raises(KeyError):
            await Deadline(1).hear(BY, fail)

    run(ask())
