import asyncio
from pathlib import Path
from random import Random

import pytest

from dashboard.demo.control import Facts, NoDemo, ask_order, ask_status, ask_to_begin, path_of
from dashboard.demo.door import serve
from dashboard.demo.orders import ADD_CONSUMER, KILL_CONSUMER, SLOW_BROKER, Order
from dashboard.demo.script import Act, Script
from dashboard.demo.stage import Done, Stage, reason_of
from rebalance_engine.events import CommandOutcome, Fact
from tests.dashboard.demo.test_reel import taken
from tests.rebalance_engine.network.clusters import until
from tests.rebalance_engine.network.loop import on_a_loop


async def first(facts: Facts, number: int) -> list[Fact]:
    """Take so many facts."""
    seen: list[Fact] = []
    following = facts.follow()
    async for fact in following:
        seen.append(fact)
        if len(seen) == number:
            break
    await following.aclose()  # type: ignore[attr-defined] # an async generator has it
    return seen


@on_a_loop
async def test_facts_are_followed_on_from_where_the_caller_was(tmp_path: Path) -> None:
    stage = Stage(tmp_path, luck=Random(1))
    async with serve(stage, tmp_path):
        for number in range(3):
            stage.reel.put(taken(number))
        facts = Facts(tmp_path)

        assert await first(facts, 2) == [taken(0), taken(1)]
        stage.reel.put(taken(3))
        facts.after = 2
        assert await first(facts, 2) == [taken(2), taken(3)]


@on_a_loop
async def test_facts_of_another_run_are_given_from_their_beginning(tmp_path: Path) -> None:
    stage = Stage(tmp_path, luck=Random(1))
    async with serve(stage, tmp_path):
        stage.reel.put(taken(0))

        assert await first(Facts(tmp_path, run="of yesterday", after=9_000), 1) == [taken(0)]


@on_a_loop
async def test_orders_come_back_with_what_became_of_them(tmp_path: Path) -> None:
    stage = Stage(tmp_path, luck=Random(1))
    async with stage.cluster, serve(stage, tmp_path):
        done = await ask_order(tmp_path, Order(verb=ADD_CONSUMER, group="billing"))
        gone = await ask_order(tmp_path, Order(verb=KILL_CONSUMER, group="billing", parameters={"how": "leave"}))
        refused = await ask_order(tmp_path, Order(verb="demo.dance"))
        await stage.cluster.broker("broker-a").stop()
        failed = await ask_order(tmp_path, Order(verb=SLOW_BROKER, target="broker-a"))

    assert (done.outcome, done.clients) == (CommandOutcome.DONE, ("127.0.0.1@billing-1",))
    assert (gone.outcome, gone.clients) == (CommandOutcome.DONE, ("127.0.0.1@billing-1",))
    assert refused.outcome is CommandOutcome.REFUSED
    assert "demo.dance" in refused.detail
    assert failed.outcome is CommandOutcome.FAILED


class Stuck(Stage):
    """One on which no act comes to an end."""

    async def _carry_out(self, act: Act) -> Done:
        await asyncio.Event().wait()
        raise AssertionError(act)


@on_a_loop
async def test_what_takes_too_long_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr("dashboard.demo.stage.PATIENCE_S", 0.01)
    stage = Stuck(tmp_path, luck=Random(1))
    async with serve(stage, tmp_path):
        failed = await ask_order(tmp_path, Order(verb=ADD_CONSUMER, group="billing"))
    playing = asyncio.create_task(stage._play(Script(-60_000, Random(1))))
    await until(lambda: "did not happen" in caplog.text)
    playing.cancel()
    await asyncio.wait((playing,))

    assert (failed.outcome, failed.detail) == (CommandOutcome.FAILED, "TimeoutError: it took longer than 0.01 s")
    assert "Join(group='billing') did not happen: it took longer than 0.01 s" in caplog.text
    assert reason_of(ConnectionResetError()) == "ConnectionResetError"
    assert reason_of(OSError("no room")) == "no room"


@on_a_loop
async def test_what_is_no_request_is_answered_or_ends_the_call_and_the_door_stays_open(tmp_path: Path) -> None:
    stage = Stage(tmp_path, luck=Random(1))
    async with serve(stage, tmp_path):
        with path_of(tmp_path) as path:
            reader, writer = await asyncio.open_unix_connection(path)
        writer.write(b'{"do":"sing"}\nno json\n')
        heard = await reader.read()
        writer.close()

        assert b"it needs to be status, begin, order or facts" in heard
        assert await ask_status(tmp_path)


@on_a_loop
async def test_a_play_that_waits_begins_once_a_page_can_be_opened_and_the_watcher_listens(tmp_path: Path) -> None:
    stage = Stage(tmp_path, luck=Random(1), waits_s=3_600)

    async def nothing() -> None:
        pass

    async with serve(stage, tmp_path):
        playing = asyncio.create_task(stage.run(nothing))
        await ask_to_begin(tmp_path)
        await first(Facts(tmp_path), 1)
        await until(lambda: len(stage.members["billing"]) == 4)  # the first act of the opening
        playing.cancel()
        await asyncio.wait((playing,))


@on_a_loop
async def test_a_play_does_not_begin_before_a_page_can_be_opened_however_long_that_takes(tmp_path: Path) -> None:
    stage = Stage(tmp_path, luck=Random(1), waits_s=0.001)

    async def ready() -> None:
        came.set()

    async with serve(stage, tmp_path):
        came = asyncio.Event()
        playing = asyncio.create_task(stage.run(ready))
        await came.wait()
        await until(lambda: len(stage.members["billing"]) == 3)
        await asyncio.sleep(0.5)  # longer than it waits for whoever else may come
        before = stage.has_begun
        await ask_to_begin(tmp_path)
        await until(lambda: stage.has_begun)
        playing.cancel()
        await asyncio.wait((playing,))

    assert not before


@on_a_loop
async def test_only_the_owner_may_enter_and_nothing_is_left_at_the_end(tmp_path: Path) -> None:
    async with serve(Stage(tmp_path), tmp_path):
        assert (tmp_path / "control").stat().st_mode & 0o777 == 0o600

    assert not (tmp_path / "control").exists()
    with pytest.raises(NoDemo, match="does not answer"):
        await ask_status(tmp_path)
