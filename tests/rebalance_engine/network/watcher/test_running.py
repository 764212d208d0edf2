"""A watcher on an embedded cluster; what it decides is tested in ``test_agenda`` and ``test_memory``."""

import asyncio
import time
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager, suppress
from typing import TypeVar

import pytest

from rebalance_engine.effects import Failure
from rebalance_engine.events import (
    AnswerMissed,
    DeadLettersSeen,
    Fact,
    HeldSeen,
    MemberJoined,
    MemberLeft,
    Missing,
    ProducersSeen,
    ProgressSeen,
    RouteSeen,
)
from rebalance_engine.network import Consumer, Message, Producer, admin, asking
from rebalance_engine.network.admin import Denied
from rebalance_engine.network.gate import NotAsked
from rebalance_engine.network.link import NoAnswer
from rebalance_engine.network.watcher import Watcher, WatcherClock, agenda, hearing
from rebalance_engine.network.watcher.agenda import Kind, Rank
from rebalance_engine.network.watcher.hearing import is_unreachable
from rebalance_engine.remoting.bodies.queues import ConsumerRunningInfo
from rebalance_engine.remoting.codes import RequestCode, ResponseCode
from rebalance_engine.remoting.requests.contract import Refused
from tests.rebalance_engine.network.clusters import QUICK, cluster, until
from tests.rebalance_engine.network.ghosts import ghost
from tests.rebalance_engine.network.loop import on_a_loop
from tests.rebalance_engine.network.test_looking import admin_of

F = TypeVar("F", bound=Fact)


class Stated:
    """Keeps what was stated."""

    def __init__(self) -> None:
        self.facts: list[Fact] = []

    async def take(self, facts: list[Fact]) -> None:
        self.facts += facts

    def of(self, kind: type[F]) -> list[F]:
        return [fact for fact in self.facts if isinstance(fact, kind)]


@asynccontextmanager
async def watching(
    names: str, viewed: Callable[[], set[str]] = lambda: {"G"}, clock: WatcherClock | None = None
) -> AsyncIterator[tuple[Watcher, Stated]]:
    stated = Stated()
    async with admin_of(names) as asking:
        watcher = Watcher(asking, stated.take, viewed=viewed, clock=clock)
        task = asyncio.create_task(watcher.run())
        try:
            yield watcher, stated
        finally:
            task.cancel()
            with suppress(asyncio.CancelledError):
                await task


@contextmanager
def brokers_alone_are_asked() -> Iterator[None]:
    """Let lists, what is held and routes be asked once, and then only if something makes them due."""
    an_hour = dict.fromkeys(Rank, 3_600_000)
    with pytest.MonkeyPatch.context() as patch:
        for name in ("LISTS_MS", "HELD_MS"):
            patch.setattr(agenda, name, an_hour)
        for name in ("ROUTES_MS", "VIEWED_ROUTES_MS"):
            patch.setattr(agenda, name, an_hour[Rank.REST])
        patch.setattr(agenda, "BROKERS_MS", 200)
        yield


@on_a_loop
async def test_joins_leaves_and_what_is_held_are_stated() -> None:
    async with cluster(2, orders=2) as east, watching(east.namesrv) as (watcher, stated):
        async with Consumer(east.namesrv, "G", ["orders"], instance="A", version=QUICK):
            await until(lambda: bool(stated.of(HeldSeen)))
            async with Consumer(east.namesrv, "G", ["orders"], instance="B", version=QUICK):
                await until(lambda: bool(stated.of(MemberJoined)))
            await until(lambda: bool(stated.of(MemberLeft)))
        await until(lambda: len(stated.of(MemberLeft)) == 2)
        await until(lambda: watcher.health.members == 0 and watcher.health.groups > 0)

    assert {fact.client for fact in stated.of(MemberLeft)} == {"127.0.0.1@A", "127.0.0.1@B"}
    assert {fact.topic for fact in stated.of(RouteSeen)} == {"orders", "%RETRY%G"}
    assert all(fact.source.detail == "307" for fact in stated.of(HeldSeen))
    assert watcher.health.sweep >= 1


@on_a_loop
async def test_facts_go_on_in_time_though_the_wall_clock_is_set_back_and_follow_it_when_it_is_set_ahead() -> None:
    is_set_by = [0.0]
    clock = WatcherClock(wall=lambda: time.time() + is_set_by[0])
    async with (
        cluster(orders=2) as east,
        watching(east.namesrv, clock=clock) as (_, stated),
        Consumer(east.namesrv, "G", ["orders"], instance="A", version=QUICK),
    ):
        await until(lambda: bool(stated.of(HeldSeen)))
        async with Consumer(east.namesrv, "G", ["orders"], instance="B", version=QUICK):
            await until(lambda: bool(stated.of(MemberJoined)))
            is_set_by[0] = -3_600.0
        await until(lambda: bool(stated.of(MemberLeft)))
        is_set_by[0] = 3_600.0
        ahead = clock.now()
        looks = len(stated.of(HeldSeen))
        await until(lambda: len(stated.of(HeldSeen)) > looks + 2)

    [joined, left] = stated.of(MemberJoined)[-1], stated.of(MemberLeft)[0]
    assert (joined.client, left.client) == ("127.0.0.1@B", "127.0.0.1@B")
    assert joined.at < left.at < ahead <= stated.of(HeldSeen)[-1].at


@on_a_loop
async def test_without_a_broker_to_ask_what_is_held_is_unknown() -> None:
    async with (
        cluster(orders=4) as east,
        watching(east.namesrv) as (watcher, stated),
        Consumer(east.namesrv, "G", ["orders"], instance="A", version=QUICK),
    ):
        await until(lambda: bool(stated.of(HeldSeen)))
        await east.broker("broker-a").kill(keeps_route=True)
        await until(lambda: any(fact.client for fact in stated.of(AnswerMissed)))
        await until(lambda: watcher.health.unknown == 1)

    assert not stated.of(MemberLeft)
    assert watcher.memory.members("G") == ("127.0.0.1@A",)


@on_a_loop
async def test_a_sweep_tells_apart_what_it_asked_in_vain_and_what_it_did_not_get_to(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for name in (
        "ROUTES_MS",
        "VIEWED_ROUTES_MS",
        "BROKERS_MS",
        "RUNTIME_MS",
        "PRODUCERS_MS",
        "GROUPS_MS",
        "DETAILS_MS",
    ):
        monkeypatch.setattr(agenda, name, 1_000)
    for name in ("LISTS_MS", "HELD_MS", "PROGRESS_MS", "DEAD_MS"):
        monkeypatch.setattr(agenda, name, dict.fromkeys(Rank, 1_000))
    async with (
        cluster(orders=4) as east,
        watching(east.namesrv) as (watcher, stated),
        Consumer(east.namesrv, "G", ["orders"], instance="A", version=QUICK),
    ):
        await until(lambda: bool(stated.of(HeldSeen)) and watcher.health.sweep >= 3)
        answered = watcher.health.sweep_unanswered
        await east.broker("broker-a").kill(keeps_route=True)
        began = watcher.health.sweep
        await until(lambda: watcher.health.sweep >= began + 2)

    assert answered == 0
    assert watcher.health.sweep_unanswered > 0
    assert watcher.health.sweep_missed == 0


@on_a_loop
async def test_a_member_that_is_being_asked_when_a_sweep_ends_is_not_said_to_be_unasked() -> None:
    async with (
        cluster(orders=4) as east,
        watching(east.namesrv) as (watcher, stated),
        Consumer(east.namesrv, "G", ["orders"], instance="A", version=QUICK),
    ):
        await until(lambda: bool(stated.of(HeldSeen)))
        [question] = [each for each in watcher._agenda.paces if each.kind is Kind.HELD]
        watcher._agenda._under_way[question] = ("broker-a", Rank.VIEWED)
        while_asked = watcher._left_out(question, watcher.clock.now())
        del watcher._agenda._under_way[question]
        [unasked] = watcher._left_out(question, watcher.clock.now())

    assert while_asked == []
    assert isinstance(unasked, AnswerMissed)
    assert unasked.missing is Missing.NOT_ASKED


@on_a_loop
async def test_a_broker_that_hangs_leaves_members_known_that_another_one_lists() -> None:
    with pytest.MonkeyPatch.context() as patch:
        for module, name, seconds in (
            (hearing, "TIMEOUT_S", 3.0),
            (hearing, "HELD_TIMEOUT_S", 0.6),
            (asking, "UNDER_WAY_S", 3.0),
            (asking, "UNDER_WAY_BY_CODE_S", {RequestCode.GET_CONSUMER_RUNNING_INFO: 0.7}),
        ):
            patch.setattr(module, name, seconds)
        async with cluster(2) as east, watching(east.namesrv) as (watcher, stated):
            a, b = east.broker("broker-a"), east.broker("broker-b")
            async with ghost(a.address, b.address, says=ConsumerRunningInfo):
                await until(lambda: len(watcher.memory.brokers_of("G", "ghost")) == 2)
                await until(lambda: {fact.source.broker for fact in stated.of(HeldSeen)} == {"broker-a", "broker-b"})
                b.be_slow(60_000)
                await until(lambda: watcher.memory.silences.is_silent(b.address))
                looks = len(stated.of(HeldSeen))
                await until(lambda: len(stated.of(HeldSeen)) > looks + 4)

    assert {fact.broker for fact in stated.of(AnswerMissed)} == {"broker-b"}
    assert not [fact for fact in stated.of(AnswerMissed) if fact.client]


@on_a_loop
async def test_a_member_that_refuses_is_stated_as_missing() -> None:
    async with (
        cluster() as east,
        watching(east.namesrv) as (_, stated),
        ghost(east.broker("broker-a").address, says=lambda: Refused(code=1, remark="no")),
    ):
        await until(lambda: bool(stated.of(AnswerMissed)))

    [missed] = stated.of(AnswerMissed)
    assert (missed.missing, missed.client, missed.request) == (Missing.REFUSED, "ghost", "307")


@on_a_loop
async def test_a_client_that_was_silent_and_has_registered_anew_is_asked_at_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(admin, "SILENT_CLIENT_S", (3_600.0, 3_600.0))
    async with cluster() as east, watching(east.namesrv) as (watcher, stated):
        address = east.broker("broker-a").address
        async with ghost(address, says=lambda: Refused(code=ResponseCode.CONSUME_MSG_TIMEOUT)):
            await until(lambda: bool(stated.of(AnswerMissed)))
            await until(lambda: watcher.admin.resting == 1)
        async with ghost(address, says=ConsumerRunningInfo):
            await until(lambda: bool(stated.of(HeldSeen)))

    assert {fact.client for fact in stated.of(HeldSeen)} == {"ghost"}


@on_a_loop
async def test_who_is_hurried_is_looked_at_like_a_viewed_group() -> None:
    async with (
        cluster() as east,
        watching(east.namesrv, set) as (watcher, stated),
        ghost(east.broker("broker-a").address),
    ):
        await until(lambda: watcher.memory.members("G") == ("ghost",))
        watcher.hurry("G", for_s=30)
        await until(lambda: watcher.health.viewed == 1)

    assert stated.facts


@on_a_loop
async def test_a_group_whose_queues_change_is_asked_at_once_who_is_there() -> None:
    an_hour = dict.fromkeys(Rank, 3_600_000)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(agenda, "LISTS_MS", an_hour)
        patch.setattr(agenda, "HELD_MS", an_hour)
        patch.setattr(agenda, "CHANGED_FOR_MS", 0)
        async with (
            cluster(orders=2) as east,
            watching(east.namesrv, set) as (watcher, stated),
            Consumer(east.namesrv, "G", ["orders"], instance="A", version=QUICK),
        ):
            await until(lambda: bool(stated.of(HeldSeen)))
            async with Consumer(east.namesrv, "G", ["orders"], instance="B", version=QUICK) as second:
                await until(lambda: bool(second.held))
                watcher.look_again("G")
                await until(lambda: bool(stated.of(MemberJoined)))

    assert [fact.client for fact in stated.of(MemberJoined)] == ["127.0.0.1@B"]


@on_a_loop
async def test_where_a_broker_goes_or_comes_routes_are_asked_for_at_once() -> None:
    with brokers_alone_are_asked():
        async with (
            cluster(2, orders=2) as east,
            watching(east.namesrv) as (_, stated),
            Consumer(east.namesrv, "G", ["orders"], instance="A", version=QUICK),
        ):

            def route() -> set[str]:
                told = [fact for fact in stated.of(RouteSeen) if fact.topic == "orders"]
                return {broker.broker for broker in told[-1].brokers} if told else set()

            await until(lambda: route() == {"broker-a", "broker-b"})
            await east.broker("broker-b").kill()
            await until(lambda: route() == {"broker-a"})
            await east.broker("broker-b").start()
            await until(lambda: route() == {"broker-a", "broker-b"})


@on_a_loop
async def test_a_route_that_is_new_at_one_name_server_is_asked_of_the_others_at_once() -> None:
    with brokers_alone_are_asked():
        async with (
            cluster(1, orders=2) as east,
            cluster(2, orders=2) as west,
            watching(f"{east.namesrv};{west.namesrv}") as (_, stated),
            Consumer(east.namesrv, "G", ["orders"], instance="A", version=QUICK),
        ):

            def queues(told_by: str) -> int:
                told = [
                    fact for fact in stated.of(RouteSeen) if fact.topic == "orders" and fact.source.address == told_by
                ]
                return sum(broker.read_queues for broker in told[-1].brokers) if told else 0

            await until(lambda: (queues(east.namesrv), queues(west.namesrv)) == (2, 4))
            east.put_topic("orders", 4)  # which nobody asks for by itself
            await west.broker("broker-b").kill()
            await until(lambda: (queues(east.namesrv), queues(west.namesrv)) == (4, 2))


@on_a_loop
async def test_producers_how_far_a_group_is_and_what_it_gave_up_are_stated_again_and_again() -> None:
    with pytest.MonkeyPatch.context() as patch:
        for name in ("PROGRESS_MS", "PROGRESS_PER_S", "DEAD_MS", "DEAD_PER_S"):
            patch.setattr(agenda, name, {0: 200, 2: 200})
        patch.setattr(agenda, "PRODUCERS_MS", 200)
        async with (
            cluster(orders=1) as east,
            Producer(east.namesrv, group="sends") as producer,
            Consumer(east.namesrv, "G", ["orders"], instance="A", version=QUICK),
            watching(east.namesrv) as (_, stated),
        ):
            await producer.send(Message(topic="orders", body=b"1"))
            await until(lambda: len(stated.of(ProgressSeen)) > 1)  # of which queues, says whoever commits
            await until(lambda: len(stated.of(DeadLettersSeen)) > 1)
            await until(lambda: any(fact.producers for fact in stated.of(ProducersSeen)))

    told = stated.of(ProgressSeen)[0]
    assert (told.group, told.broker, told.source.detail) == ("G", "broker-a", "208")
    dead = stated.of(DeadLettersSeen)[0]
    assert (dead.group, dead.broker, dead.put, dead.source.detail) == ("G", "broker-a", 0, "202")
    [one] = next(fact.producers for fact in stated.of(ProducersSeen) if fact.producers)
    assert (one.group, one.language) == ("sends", "PYTHON")


@on_a_loop
async def test_how_far_a_group_is_is_stated_also_once_nobody_is_a_member_any_more() -> None:
    with pytest.MonkeyPatch.context() as patch:
        for name in ("PROGRESS_MS", "PROGRESS_PER_S", "LISTS_MS"):
            patch.setattr(agenda, name, dict.fromkeys(Rank, 200))
        async with cluster(orders=1) as east, watching(east.namesrv, set) as (watcher, stated):
            async with Consumer(east.namesrv, "G", ["orders"], instance="A", version=QUICK):
                await until(lambda: bool(watcher.memory.members("G")))
            await until(lambda: bool(stated.of(MemberLeft)))
            left_at = stated.of(MemberLeft)[0].at
            await until(lambda: sum(fact.at > left_at for fact in stated.of(ProgressSeen)) > 2)

    assert not [fact for fact in stated.of(AnswerMissed) if fact.request == "208"]


def test_a_broker_that_cannot_be_reached_is_told_from_a_client_that_is_silent() -> None:
    assert is_unreachable(NoAnswer(Failure.NOT_CONNECTED, "east:1"))
    assert is_unreachable(NotAsked("east:1", "it could not be reached; it is tried again in 1.0 s"))
    assert not is_unreachable(NotAsked("east:1", "client A does not answer"))
    assert not is_unreachable(NoAnswer(Failure.TIMEOUT, "east:1"))
    assert not is_unreachable(Denied("east:1", None, Refused(code=207)))
