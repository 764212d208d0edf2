import asyncio
import random
from contextlib import suppress
from itertools import pairwise

import pytest

from rebalance_engine.effects import Failure
from rebalance_engine.network.asking import UNDER_WAY_S, Asker
from rebalance_engine.network.budget import BROKER_LIMITS, Lane, Limits
from rebalance_engine.network.gate import NotAsked
from rebalance_engine.network.link import NoAnswer
from rebalance_engine.remoting.codes import ResponseCode
from rebalance_engine.remoting.errors import BrokenBody
from rebalance_engine.remoting.requests.brokers import GetAllTopicConfig, GetConsumeStats
from rebalance_engine.remoting.requests.contract import Refused, Response
from tests.rebalance_engine.network.answers import Answer, Answering
from tests.rebalance_engine.network.virtual import run

ASK = GetAllTopicConfig()
ONE_AT_A_TIME = Limits(together=Lane(per_second=1000, burst=1000, in_flight=1))
LATE = NoAnswer(Failure.TIMEOUT, "east:1")


def asker_of(answer: Answer, takes_s: float = 0.0) -> tuple[Asker, Answering]:
    calls = Answering(lambda _address, _request: answer, takes_s)
    return Asker(calls, random.Random(1)), calls


def now() -> float:
    return asyncio.get_running_loop().time()


def test_what_several_ask_at_the_same_time_is_asked_once() -> None:
    async def main() -> None:
        asker, calls = asker_of(Response(remark="all"), takes_s=1)
        async with asker:
            answers = await asyncio.gather(*(asker.ask("east:1", ASK, timeout_s=5) for _ in range(5)))
            assert answers == [Response(remark="all")] * 5
            assert len(calls.asked) == 1

            await asker.ask("east:1", ASK, timeout_s=5)
            assert len(calls.asked) == 2

    run(main())


def test_a_change_is_made_as_often_as_it_is_asked_for() -> None:
    async def main() -> None:
        asker, calls = asker_of(Response(), takes_s=1)
        async with asker:
            await asyncio.gather(*(asker.ask("east:1", ASK, timeout_s=5, shared=False) for _ in range(3)))
            assert len(calls.asked) == 3

    run(main())


def test_who_asks_can_be_told_when_a_request_leaves() -> None:
    async def main() -> None:
        asker, _ = asker_of(Response(), takes_s=1)
        left: list[float] = []
        async with asker:
            asks = (
                asker.ask(
                    "east:1", ASK, timeout_s=5, limits=ONE_AT_A_TIME, shared=False, leaves=lambda: left.append(now())
                )
                for _ in range(2)
            )
            await asyncio.gather(*asks)
        assert left == [0, pytest.approx(1, abs=0.01)]

    run(main())


def test_other_requests_and_other_brokers_do_not_wait() -> None:
    async def main() -> None:
        asker, calls = asker_of(None)
        async with asker:
            hung = [
                asyncio.create_task(asker.ask("east:1", ASK, timeout_s=5, limits=ONE_AT_A_TIME, shared=False))
                for _ in range(5)
            ]
            await asyncio.sleep(0.1)
            assert [address for address, _ in calls.asked] == ["east:1"]
            other = asyncio.create_task(asker.ask("west:1", ASK, timeout_s=5))
            await asyncio.sleep(0.1)
            assert [address for address, _ in calls.asked] == ["east:1", "west:1"]
            results = await asyncio.gather(other, *hung, return_exceptions=True)
            assert [type(result) for result in results] == [NoAnswer, NoAnswer, *[NotAsked] * 4]
            assert now() == pytest.approx(5.1)

    run(main())


def test_who_gives_up_before_the_turn_is_not_asked_for() -> None:
    async def main() -> None:
        asker, calls = asker_of(Response(), takes_s=3)
        async with asker:
            first = asyncio.create_task(asker.ask("east:1", ASK, timeout_s=5, limits=ONE_AT_A_TIME))
            await asyncio.sleep(0)
            second = asyncio.create_task(asker.ask("east:1", GetConsumeStats(consumer_group="G"), timeout_s=5))
            await asyncio.sleep(1)

            second.cancel()
            await first

            assert [request for _, request in calls.asked] == [ASK]

    run(main())


def test_who_gives_up_after_the_request_was_sent_leaves_its_cost_behind() -> None:
    async def main() -> None:
        asker, calls = asker_of(Response(), takes_s=6)
        async with asker:
            with pytest.raises(NoAnswer, match="no answer in time"):
                await asker.ask("east:1", ASK, timeout_s=1, limits=ONE_AT_A_TIME)
            assert now() == 1

            await asker.ask("east:1", GetConsumeStats(consumer_group="G"), timeout_s=60)

            assert now() == 12
            assert calls.most_running == 1

    run(main())


def test_what_is_learnt_does_not_depend_on_the_patience_of_the_caller() -> None:
    async def main() -> None:
        asker, _ = asker_of(Refused(code=207), takes_s=6)
        learnt: list[object] = []
        async with asker:
            with pytest.raises(NoAnswer):
                await asker.ask("east:1", ASK, timeout_s=1, learn=learnt.append)
            await asyncio.sleep(10)
            assert learnt == [Refused(code=207)]

    run(main())


@pytest.mark.parametrize("answer", [Refused(code=ResponseCode.SYSTEM_BUSY), LATE])
def test_a_broker_that_is_busy_or_late_is_asked_less_often(answer: Answer) -> None:
    async def main() -> None:
        asker, _ = asker_of(answer)
        slow = Limits(together=Lane(per_second=0.05, burst=1, in_flight=1))
        async with asker:
            for _ in range(3):
                with suppress(NoAnswer):
                    await asker.ask("east:1", ASK, timeout_s=1000, limits=slow)
            third_began = now() - (UNDER_WAY_S if answer is LATE else 0)
            assert third_began > 44  # at the full rate it would be 40

    run(main())


def test_an_address_that_cannot_be_reached_is_left_alone_for_longer_and_longer() -> None:
    async def main() -> None:
        asker, calls = asker_of(NoAnswer(Failure.NOT_CONNECTED, "east:1", "refused"))
        async with asker:
            times: list[float] = []
            while len(times) < 8:
                with pytest.raises(NoAnswer):
                    await asker.ask("east:1", ASK, timeout_s=1)
                if len(calls.asked) > len(times):
                    times.append(now())
                await asyncio.sleep(0.25)
            pauses = [later - earlier for earlier, later in pairwise(times)]
            assert [round(pause) for pause in pauses] == pytest.approx([1, 2, 4, 8, 16, 32, 60], abs=1)

    run(main())


def test_a_connection_that_several_wait_for_fails_once_and_who_is_back_is_asked_at_once() -> None:
    async def main() -> None:
        asker, calls = asker_of(NoAnswer(Failure.NOT_CONNECTED, "east:1", "refused"), takes_s=0.01)
        async with asker:
            asks = (asker.ask("east:1", GetConsumeStats(consumer_group=group), timeout_s=5) for group in "GHIJKLM")
            await asyncio.gather(*asks, return_exceptions=True)
            assert len(calls.asked) == BROKER_LIMITS.together.in_flight  # and not who waited for a turn meanwhile
            with pytest.raises(NotAsked, match=r"it is tried again in 1\.\d s"):
                await asker.ask("east:1", ASK, timeout_s=1)
            asked = len(calls.asked)
            asker.renew("east:1")
            with pytest.raises(NoAnswer, match="refused"):
                await asker.ask("east:1", ASK, timeout_s=1)
            assert len(calls.asked) == asked + 1

    run(main())


@pytest.mark.parametrize(
    ("topic", "timeout_s", "said"),
    [
        (5, 1.0, "topic of GetConsumeStats is 5; needed is a text or None"),
        (True, 1.0, "topic of GetConsumeStats is True; needed is a text or None"),
        (None, "1", "timeout_s is '1'; needed is a number of seconds"),
        (None, True, "timeout_s is True; needed is"),
    ],
)
def test_what_is_of_another_kind_is_refused_before_it_is_sent(topic: object, timeout_s: object, said: str) -> None:
    async def main() -> None:
        asker, calls = asker_of(Response())
        request = GetConsumeStats(consumer_group="G", topic=topic)  # type: ignore[arg-type]  # a mistake

        with pytest.raises(TypeError, match=said):
            await asker.ask("east:1", request, timeout_s=timeout_s)  # type: ignore[arg-type]  # likewise
        assert calls.asked == []

    run(main())


def test_what_is_left_of_a_time_may_be_nothing() -> None:
    async def main() -> None:
        asker, _ = asker_of(Response())

        with pytest.raises(NotAsked):
            await asker.ask("east:1", GetAllTopicConfig(), timeout_s=-1)

    run(main())


def test_an_address_that_is_left_alone_says_so() -> None:
    async def main() -> None:
        asker, _ = asker_of(NoAnswer(Failure.NOT_CONNECTED, "east:1", "refused"))
        async with asker:
            with pytest.raises(NoAnswer, match="refused"):
                await asker.ask("east:1", ASK, timeout_s=1)
            with pytest.raises(NotAsked, match=r"it could not be reached; it is tried again in 1\.\d s"):
                await asker.ask("east:1", ASK, timeout_s=1)

    run(main())


def test_an_answer_that_cannot_be_read_is_the_callers_error() -> None:
    async def main() -> None:
        asker, _ = asker_of(BrokenBody("no JSON"))
        async with asker:
            with pytest.raises(BrokenBody):
                await asker.ask("east:1", ASK, timeout_s=1)

    run(main())


def test_closing_ends_what_is_under_way() -> None:
    async def main() -> None:
        asker, calls = asker_of(None)
        waiting = asyncio.create_task(asker.ask("east:1", ASK, timeout_s=1000))
        await asyncio.sleep(1)
        await asker.close()
        with pytest.raises(NoAnswer):
            await waiting
        assert calls.running == 0

    run(main())
