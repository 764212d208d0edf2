"""How a member that hangs is seen to leave two embedded brokers, on a virtual clock that is not that of the brokers."""

import asyncio
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from random import Random

import pytest

from rebalance_engine.effects import Channel
from rebalance_engine.embedded.settings import EmbeddedSettings
from rebalance_engine.events import Departure, Fact, MemberLeft, ProducersSeen
from rebalance_engine.membership.profiles import BrokerSettings
from rebalance_engine.network.admin import Admin
from rebalance_engine.network.system_groups import INNER_PRODUCER
from rebalance_engine.network.watcher import Watcher, WatcherClock
from rebalance_engine.remoting.bodies.clients import ProducerData
from rebalance_engine.remoting.codes import ResponseCode
from rebalance_engine.remoting.requests.clients import GetConsumerRunningInfo, GetConsumerRunningInfoResponse
from rebalance_engine.remoting.requests.contract import Refused, Request, Response
from rebalance_engine.remoting.requests.membership import HeartBeat
from rebalance_engine.remoting.requests.nameserver import GetBrokerClusterInfo, GetBrokerClusterInfoResponse
from tests.rebalance_engine.embedded.desk import Desk, joining
from tests.rebalance_engine.network.answers import Answer, Answering
from tests.rebalance_engine.network.virtual import run
from tests.rebalance_engine.network.watcher.seeing import brokers, running

T0 = 1_700_000_000_000
AN_HOUR_OFF = (3_600_000, -3_600_000)
BEATS_S, HANGS_S, DUE_S = 30, 50, 150  # the last heartbeat was sent 30 s after the beginning
OVER_S = 180


@dataclass
class Stage:
    """Two brokers, each ``ahead`` of the loop's clock by so many ms, with A and B, of which A hangs at HANGS_S."""

    folder: Path
    ahead: tuple[int, int] = (0, 0)
    has_inner_producer: bool = True
    killed_s: float | None = None
    desks: dict[str, Desk] = field(default_factory=dict)
    channels: dict[tuple[str, str], Channel] = field(default_factory=dict)
    facts: list[Fact] = field(default_factory=list)

    def __post_init__(self) -> None:
        for number, name in enumerate(("east", "west")):
            settings = BrokerSettings(version="5.5.0", broker=name, address=f"{name}:1")
            now = T0 + self.ahead[number] - 7_300 * (number + 1)  # they look for who is silent at different times
            self.desks[name] = Desk(self.folder / name, EmbeddedSettings(membership=settings), now)
            self.channels |= {(name, client): self.desks[name].connect() for client in ("A", "B", "us")}

    @property
    def is_hung(self) -> bool:
        return asyncio.get_running_loop().time() >= HANGS_S

    def desk(self, name: str) -> Desk:
        """A broker, at this time."""
        desk = self.desks[name]
        now = T0 + round(asyncio.get_running_loop().time() * 1_000) + self.ahead[name == "west"]
        desk.wait(max(0, now - desk.now))
        return desk

    def answer(self, address: str, request: Request[Response]) -> Answer:
        name = address.partition(":")[0]
        if name == "names":
            is_known = isinstance(request, GetBrokerClusterInfo)
            return GetBrokerClusterInfoResponse(body=brokers("east", "west")) if is_known else Refused(code=17)
        if isinstance(request, GetConsumerRunningInfo):
            if request.client_id == "A" and self.is_hung:
                return Refused(code=ResponseCode.CONSUME_MSG_TIMEOUT)
            return GetConsumerRunningInfoResponse(body=running([0]))
        return self.desk(name).ask(self.channels[name, "us"], request)

    async def beat(self, client: str) -> None:
        inner = (ProducerData(group_name=INNER_PRODUCER),) if self.has_inner_producer else ()
        told = HeartBeat(body=replace(joining("G", "orders", client=client).body, producer_data_set=inner))
        while client == "B" or not self.is_hung:
            for name in self.desks:
                self.desk(name).get(self.channels[name, client], told)
            await asyncio.sleep(BEATS_S)

    async def kill(self) -> None:
        if self.killed_s is not None:
            await asyncio.sleep(self.killed_s)
            for name in self.desks:
                if self.channels[name, "A"] not in self.desk(name).closed:
                    self.desk(name).disconnect(self.channels[name, "A"])

    async def take(self, facts: list[Fact]) -> None:
        self.facts += facts

    async def play(self, viewed: Callable[[], set[str]]) -> MemberLeft:
        loop = asyncio.get_running_loop()
        admin = Admin(Answering(self.answer, takes_s=0.02), "names:9876")
        clock = WatcherClock(wall=lambda: T0 / 1_000 + loop.time(), monotone=loop.time)
        watcher = Watcher(admin, self.take, viewed=viewed, luck=Random(1), clock=clock)
        tasks = [asyncio.create_task(each) for each in (self.beat("A"), self.beat("B"), self.kill(), watcher.run())]
        await asyncio.sleep(OVER_S)
        for task in tasks:
            task.cancel()
            with suppress(asyncio.CancelledError):
                await task
        await admin.close()
        [left] = [fact for fact in self.facts if isinstance(fact, MemberLeft)]
        assert left.client == "A"
        return left


@pytest.mark.parametrize(("ahead", "viewed"), [((0, 0), {"G"}), (AN_HOUR_OFF, {"G"}), (AN_HOUR_OFF, set())])
def test_who_hangs_until_brokers_let_go_of_it_let_its_heartbeat_expire(
    tmp_path: Path, ahead: tuple[int, int], viewed: set[str]
) -> None:
    stage = Stage(tmp_path, ahead)

    left = run(stage.play(lambda: viewed))

    assert left.departure is Departure.HEARTBEAT_EXPIRED
    assert T0 + 1_000 * DUE_S <= left.at <= T0 + 1_000 * (DUE_S + 21)


@pytest.mark.parametrize("killed_s", [HANGS_S + 20, DUE_S - 1])
def test_of_who_hangs_and_is_killed_before_its_heartbeat_expired_it_is_unknown_how_it_left(
    tmp_path: Path, killed_s: float
) -> None:
    assert run(Stage(tmp_path, AN_HOUR_OFF, killed_s=killed_s).play(lambda: {"G"})).departure is Departure.UNKNOWN


def test_of_a_client_whose_last_heartbeat_no_broker_tells_it_is_unknown_how_it_left(tmp_path: Path) -> None:
    stage = Stage(tmp_path, has_inner_producer=False)

    assert run(stage.play(lambda: {"G"})).departure is Departure.UNKNOWN


def test_that_brokers_are_asked_often_for_their_producers_near_an_expiry_is_not_stated_each_time(
    tmp_path: Path,
) -> None:
    stage = Stage(tmp_path)

    run(stage.play(lambda: {"G"}))

    stated = [fact.at for fact in stage.facts if isinstance(fact, ProducersSeen)]
    assert len(stated) <= 2 * (OVER_S // 30 + 1)
