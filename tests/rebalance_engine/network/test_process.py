import asyncio
from collections.abc import Callable

import pytest

from rebalance_engine.effects import State
from rebalance_engine.events import EXACT, BrokerBackoffEnded, Fact, Origin, Source
from rebalance_engine.network.driver import MachineBroke
from rebalance_engine.network.process import Closed, Process
from tests.rebalance_engine.network.loop import on_a_loop

FACT = BrokerBackoffEnded(at=1, source=Source(origin=Origin.AGENT_REPORT), exactness=EXACT, client="A", broker="east")


def process(
    on_fact: Callable[[Fact], None] = lambda _: None, on_broke: Callable[[MachineBroke], None] = lambda _: None
) -> Process:
    made = Process("thing", network=None, on_fact=on_fact, on_broke=on_broke)
    made.open(lambda _heard, _at: [], {})
    return made


def fall(_: int) -> list[object]:
    raise ZeroDivisionError


@on_a_loop
async def test_facts_of_the_machine_reach_all_who_want_them() -> None:
    told: list[Fact] = []
    running = process(told.append)
    following = running.follow(10)
    running.do(lambda _: [State(fact=FACT)])
    await running.close()

    assert told == [each async for each in following] == [FACT]


@on_a_loop
async def test_a_machine_that_breaks_is_told_and_raised() -> None:
    broken: list[MachineBroke] = []
    running = process(on_broke=broken.append)
    never = asyncio.Event()
    running.do(fall)

    assert not running.is_open
    with pytest.raises(MachineBroke, match="ZeroDivisionError"):
        running.do(fall)
    assert not await running.until(never, 60)  # it ends at once: the machine will do nothing more
    assert broken == [running.broke]
    running.try_do(fall)
    await running.close()


@on_a_loop
async def test_what_happens_in_time_is_waited_for() -> None:
    running, soon = process(), asyncio.Event()

    def set_it(_: int) -> list[object]:
        soon.set()
        return []

    running.do(set_it)
    assert await running.until(soon, 0)
    assert not await running.until(asyncio.Event(), 0)
    await running.close()
    await running.close()


@on_a_loop
async def test_what_is_not_open_says_so() -> None:
    closed = Process("thing", network=None, on_fact=None)

    assert not closed.is_open
    with pytest.raises(Closed, match="the thing is not running"):
        _ = closed.now
    await closed.close()
