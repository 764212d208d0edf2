import asyncio
from collections.abc import Callable, Coroutine
from pathlib import Path
from random import Random

import pytest

from dashboard.demo.orders import KILL_CONSUMER, SLOW_BROKER, STALL_CONSUMER, BadOrder, Order
from dashboard.demo.script import Disband, Down, Go, Going, Join, Recover, Resume, Slow, Stall
from dashboard.demo.shop import CASTS
from dashboard.demo.stage import Stage
from rebalance_engine.eventlog import read
from rebalance_engine.events import Departure, MemberLeft
from tests.rebalance_engine.network.clusters import until
from tests.rebalance_engine.network.loop import on_a_loop


async def on_stage(directory: Path, play: Callable[[Stage], Coroutine[None, None, None]]) -> None:
    """Open a stage, wait for its whole cast, play on it, and close it."""
    stage = Stage(directory, luck=Random(1))

    async def nothing() -> None:
        pass

    running = asyncio.create_task(stage.run(nothing))
    try:
        await until(lambda: all(len(stage.members[cast.group]) == cast.first for cast in CASTS) or running.done())
        await play(stage)
    finally:
        running.cancel()
        await asyncio.wait((running,))


@on_a_loop
async def test_members_come_and_go_in_every_way(tmp_path: Path) -> None:
    async def play(stage: Stage) -> None:
        joined = await stage.perform(Join("billing"))
        assert joined.clients == ("127.0.0.1@billing-4",)
        for how, name in ((Going.LEAVES, "billing-1"), (Going.CRASHES, "billing-2"), (Going.FALLS_SILENT, "billing-3")):
            done = await stage.perform(Go("billing", how, name))
            assert done.clients == (f"127.0.0.1@{name}",)
        assert stage.members["billing"] == ("billing-4",)
        with pytest.raises(BadOrder, match="no member billing-1 that lives"):
            await stage.perform(Go("billing", Going.LEAVES, "billing-1"))
        await stage.perform(Disband("warehouse"))
        assert stage.members["warehouse"] == ()
        facts = [read(line) for _, line in stage.reel.after(0, 10_000)]
        left = {
            fact.client: fact.departure for fact in facts if isinstance(fact, MemberLeft) and fact.group == "billing"
        }
        assert left == {"127.0.0.1@billing-1": Departure.UNREGISTERED}, "who crashes or falls silent says no good-bye"

    await on_stage(tmp_path, play)


@on_a_loop
async def test_a_member_that_stalls_works_again_later(tmp_path: Path) -> None:
    async def play(stage: Stage) -> None:
        first = stage.members["billing"][0]  # who joined first, of those that began at once
        stalled = await stage.perform(Stall("billing", 60_000))
        works = await stage.perform(Resume("billing", first))
        gone = await stage.perform(Resume("billing", "billing-9"))

        assert stalled.clients == works.clients == (f"127.0.0.1@{first}",)
        assert gone.clients == ()

    await on_stage(tmp_path, play)


@on_a_loop
async def test_a_group_of_which_a_member_is_ordered_to_stall_is_left_alone_for_as_long(tmp_path: Path) -> None:
    async def play(stage: Stage) -> None:
        await until(lambda: stage.has_begun)
        script = stage._script
        assert script is not None

        await stage.obey(Order(verb=STALL_CONSUMER, group="billing", parameters={"for_s": 180}))
        script.add(stage._now(), Join("billing"))

        assert Join("billing") not in script.due(stage._now() + 170_000, stage.members)

    await on_stage(tmp_path, play)


@on_a_loop
async def test_a_broker_is_slow_then_down_then_well(tmp_path: Path) -> None:
    async def play(stage: Stage) -> None:
        broker = stage.cluster.broker("broker-b")
        await stage.perform(Slow("broker-b", 700, 60_000))
        assert broker.machine.faults.delay_ms == 700
        await stage.perform(Recover("broker-b"))
        assert broker.machine.faults.delay_ms == 0
        await stage.perform(Down("broker-b", 60_000))
        assert not broker.is_up
        await stage.perform(Recover("broker-b"))
        assert broker.is_up

    await on_stage(tmp_path, play)


@on_a_loop
async def test_orders_are_obeyed_or_refused(tmp_path: Path) -> None:
    async def play(stage: Stage) -> None:
        done = await stage.obey(Order(verb=KILL_CONSUMER, group="billing", target="127.0.0.1@billing-2"))
        assert done.clients == ("127.0.0.1@billing-2",)
        await stage.obey(Order(verb=SLOW_BROKER, target="broker-a"))
        assert stage.cluster.broker("broker-a").machine.faults.delay_ms == 900
        with pytest.raises(BadOrder):
            await stage.obey(Order(verb=KILL_CONSUMER, group="billing", target="127.0.0.1@billing-2"))

    await on_stage(tmp_path, play)


@on_a_loop
async def test_the_cast_states_what_it_takes_and_how_brokers_answer(tmp_path: Path) -> None:
    async def play(stage: Stage) -> None:
        seen: set[str] = set()

        def has_all() -> bool:
            seen.update(type(read(line)).__name__ for _, line in stage.reel.after(0, 10_000))
            return {"QueueTaken", "QueuePulled", "BrokerLatency", "LockGranted"} <= seen

        await until(has_all)

    await on_stage(tmp_path, play)
