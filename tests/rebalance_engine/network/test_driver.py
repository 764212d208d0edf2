import asyncio
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

import pytest

from rebalance_engine.effects import (
    Answered,
    Cancel,
    Close,
    Closed,
    Failure,
    Heard,
    Opened,
    Push,
    Received,
    Respond,
    Save,
    Send,
    SendOneway,
    State,
    Unanswered,
    WakeAt,
    Woken,
)
from rebalance_engine.network.complaints import Complaints
from rebalance_engine.network.driver import Driver, MachineBroke
from rebalance_engine.network.listener import Listener
from rebalance_engine.network.transport import Transport
from rebalance_engine.remoting.command import Command
from rebalance_engine.remoting.requests.contract import Refused, Response
from rebalance_engine.remoting.requests.membership import GetConsumerListByGroup, NotifyConsumerIdsChanged
from tests.rebalance_engine.network.loop import on_a_loop
from tests.rebalance_engine.network.peers import Hearing, Scripted, answering, peer

ASK = GetConsumerListByGroup(consumer_group="G")
NOTIFY = NotifyConsumerIdsChanged(consumer_group="G")


@dataclass
class Machine:
    """Answers what it hears by a table; keeps all of it, and lets a test wait for some."""

    table: dict[type, Callable[[Heard], Iterable[object]]] = field(default_factory=dict)
    hearing: Hearing = field(default_factory=Hearing)
    times: list[int] = field(default_factory=list)

    def react(self, heard: Heard, at: int) -> Iterable[object]:
        self.times.append(at)
        self.hearing(heard)
        answer = self.table.get(type(heard))
        return answer(heard) if answer is not None else ()


@on_a_loop
async def test_a_request_of_the_machine_is_answered() -> None:
    machine = Machine()
    async with Listener() as listener, Transport() as transport, Driver(machine.react, transport) as driver:
        answering(listener, lambda _: Refused(code=1, remark="nobody"))
        address = await listener.start()

        driver.do(lambda _: [Send(to=address, request=ASK, token=7, timeout_ms=3000)])

        assert await machine.hearing.next(Answered) == Answered(token=7, response=Refused(code=1, remark="nobody"))
        assert machine.hearing.heard == [Opened(channel=1, address=address)]


@on_a_loop
async def test_the_machine_hears_why_no_answer_came() -> None:
    async def silent(scripted: Scripted) -> None:
        await scripted.read()
        await asyncio.Event().wait()

    machine = Machine()
    async with peer(silent) as address, Transport() as transport, Driver(machine.react, transport) as driver:
        driver.do(lambda _: [Send(to=address, request=ASK, token=1, timeout_ms=20)])

        assert await machine.hearing.next(Unanswered) == Unanswered(token=1, failure=Failure.TIMEOUT)


@on_a_loop
async def test_a_request_without_time_accuses_nobody() -> None:
    machine = Machine()
    complaints = Complaints("a client", asyncio.get_running_loop().time)
    async with (
        Listener() as listener,
        Transport() as transport,
        Driver(machine.react, transport, complaints=complaints) as driver,
    ):
        address = await listener.start()
        driver.do(lambda _: [Send(to=address, request=ASK, token=1, timeout_ms=0)])

        assert (await machine.hearing.next(Unanswered)).token == 1
        assert complaints.now == ()


@on_a_loop
async def test_an_answer_that_cannot_be_read_is_a_refusal_for_the_machine() -> None:
    async def nonsense(scripted: Scripted) -> None:
        command = await scripted.read()
        await scripted.write(Command(code=0, opaque=command.opaque, flag=1, body=b"{"))
        await asyncio.Event().wait()

    machine = Machine()
    async with peer(nonsense) as address, Transport() as transport, Driver(machine.react, transport) as driver:
        driver.do(lambda _: [Send(to=address, request=ASK, token=1, timeout_ms=3000)])

        answered = await machine.hearing.next(Answered)
        assert isinstance(answered.response, Refused)
        assert "the answer cannot be read" in str(answered.response.remark)


@on_a_loop
async def test_an_answer_that_cannot_be_read_is_a_trouble_until_one_can_be() -> None:
    bodies = [b"{", b'{"consumerIdList":["A"]}']

    async def clearer(scripted: Scripted) -> None:
        for body in bodies:
            command = await scripted.read()
            await scripted.write(Command(code=0, opaque=command.opaque, flag=1, body=body))
        await asyncio.Event().wait()

    machine = Machine()
    complaints = Complaints("a client", asyncio.get_running_loop().time)
    async with (
        peer(clearer) as address,
        Transport() as transport,
        Driver(machine.react, transport, complaints=complaints) as driver,
    ):

        async def troubles_after(token: int) -> tuple[str, ...]:
            driver.do(lambda _: [Send(to=address, request=ASK, token=token, timeout_ms=3000)])
            assert (await machine.hearing.next(Answered)).token == token
            return complaints.now

        [unreadable] = await troubles_after(1)
        assert unreadable.startswith(f"what {address} answers to GetConsumerListByGroup cannot be read: ")
        assert await troubles_after(2) == ()


@on_a_loop
async def test_a_machine_behind_a_listener_answers_pushes_and_closes() -> None:
    def serve(heard: Heard) -> Iterable[object]:
        assert isinstance(heard, Received)
        if heard.token is None:
            return [Close(channel=heard.channel)]
        return [
            Push(channel=heard.channel, request=NOTIFY),
            Respond(channel=heard.channel, token=heard.token, response=Response(remark="seen")),
        ]

    server = Machine({Received: serve})
    listener = Listener()
    async with (
        Transport(channels=listener.channels) as calls,
        listener,
        Driver(server.react, calls),
        Transport() as transport,
    ):
        address = await listener.start()
        hearing = transport.channels.on_heard = Hearing()

        assert await transport.request(address, NOTIFY) == Response(remark="seen")
        pushed = await hearing.next(Received)
        assert (pushed.request, pushed.token) == (NOTIFY, None)

        await transport.oneway(address, NOTIFY)
        await hearing.next(Closed)
        await server.hearing.next(Closed)


@on_a_loop
async def test_a_oneway_request_that_cannot_be_sent_is_forgotten() -> None:
    machine = Machine()
    async with Transport() as transport, Driver(machine.react, transport) as driver:
        driver.do(lambda _: [SendOneway(to="nowhere", request=NOTIFY), WakeAt(at=0, timer="then")])

        await machine.hearing.next(Woken)
        assert not driver.broke.done()


@on_a_loop
async def test_the_machine_is_woken_not_before_its_time_and_once() -> None:
    machine = Machine()
    async with Transport() as transport, Driver(machine.react, transport) as driver:
        due = driver.clock.now() + 30
        driver.do(lambda _: [WakeAt(at=due - 20, timer="A"), WakeAt(at=due, timer="A"), WakeAt(at=due, timer="B")])
        driver.do(lambda _: [Cancel(timer="B"), Cancel(timer="never set"), WakeAt(at=due + 1, timer="end")])

        while (await machine.hearing.next(Woken)) != Woken(timer="end"):
            pass

        assert len(machine.times) == 2
        assert machine.times[0] >= due


@on_a_loop
async def test_what_happens_while_effects_are_carried_out_is_heard_afterwards() -> None:
    machine = Machine()
    order: list[str] = []
    async with Transport() as transport:

        def inner(_: int) -> Iterable[object]:
            order.append("inner")
            return ()

        def again(_: object) -> None:
            driver.do(inner)
            order.append("outer")

        async with Driver(machine.react, transport, doing={State: again}) as driver:
            driver.do(lambda _: [State(fact=1), State(fact=2)])

    assert order == ["outer", "outer", "inner", "inner"]


@on_a_loop
async def test_facts_and_texts_reach_their_owners() -> None:
    facts: list[object] = []
    saved: dict[str, str] = {}
    machine = Machine()
    async with (
        Transport() as transport,
        Driver(machine.react, transport, on_fact=facts.append, save=saved.__setitem__) as driver,
    ):
        driver.do(lambda _: [State(fact="one"), Save(name="offsets", text="{}")])

    assert (facts, saved) == (["one"], {"offsets": "{}"})


@on_a_loop
async def test_a_machine_that_raises_ends_its_driver_and_tells_the_owner() -> None:
    def raises(_: Heard) -> Iterable[object]:
        raise ValueError("time does not go back")

    machine = Machine({Woken: raises})
    async with Transport() as transport, Driver(machine.react, transport) as driver:
        driver.do(lambda _: [WakeAt(at=0, timer="A"), WakeAt(at=0, timer="B")])

        with pytest.raises(MachineBroke, match="cannot go on: ValueError: time does not go back"):
            await driver.run()
        driver.hear(Woken(timer="C"))
        assert machine.hearing.heard == [Woken(timer="A")]


@on_a_loop
async def test_an_effect_that_nobody_carries_out_is_an_error() -> None:
    machine = Machine()
    async with Transport() as transport, Driver(machine.react, transport) as driver:
        driver.do(lambda _: [object()])

        with pytest.raises(MachineBroke, match="nobody carries out object here"):
            await driver.run()


@on_a_loop
async def test_a_text_that_nobody_keeps_is_an_error() -> None:
    machine = Machine()
    async with Transport() as transport, Driver(machine.react, transport) as driver:
        driver.do(lambda _: [Save(name="offsets", text="{}")])

        with pytest.raises(MachineBroke, match="nobody keeps 'offsets' here"):
            await driver.run()


@on_a_loop
async def test_a_driver_that_is_closed_does_nothing_more() -> None:
    machine = Machine()
    async with Listener() as listener, Transport() as transport:
        address = await listener.start()
        async with Driver(machine.react, transport) as driver:
            driver.do(lambda _: [Send(to=address, request=ASK, token=1, timeout_ms=3000), WakeAt(at=0, timer="A")])

        driver.do(lambda _: [State(fact=1)])

        assert machine.hearing.heard == []
