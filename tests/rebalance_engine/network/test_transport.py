import asyncio
import socket

import pytest

from rebalance_engine.effects import Closed, Failure, Opened, Received
from rebalance_engine.network.link import NoAnswer
from rebalance_engine.network.listener import Listener
from rebalance_engine.network.settings import NetworkSettings
from rebalance_engine.network.transport import Transport
from rebalance_engine.remoting.bodies.clients import GetConsumerListByGroupResponseBody
from rebalance_engine.remoting.codec import encode, encode_response
from rebalance_engine.remoting.codes import Language, ResponseCode
from rebalance_engine.remoting.command import Command
from rebalance_engine.remoting.requests.contract import Refused, Response
from rebalance_engine.remoting.requests.membership import (
    GetConsumerListByGroup,
    GetConsumerListByGroupResponse,
    NotifyConsumerIdsChanged,
)
from tests.rebalance_engine.network.loop import on_a_loop
from tests.rebalance_engine.network.peers import Hearing, Scripted, answering, never, peer

ASK = GetConsumerListByGroup(consumer_group="G")
NOTIFY = NotifyConsumerIdsChanged(consumer_group="G")
HOUR_MS = 3_600_000


def members(*ids: str) -> GetConsumerListByGroupResponse:
    return GetConsumerListByGroupResponse(body=GetConsumerListByGroupResponseBody(consumer_id_list=ids))


def answer_to(command: Command, *ids: str) -> Command:
    return encode_response(members(*ids), opaque=command.opaque)


def free_address() -> str:
    with socket.socket() as sock:
        sock.bind(("127.0.0.1", 0))
        return f"127.0.0.1:{sock.getsockname()[1]}"


@on_a_loop
async def test_a_request_is_answered_and_says_who_asks() -> None:
    async with Listener() as listener, Transport(NetworkSettings(version=399)) as transport:
        hearing = answering(listener, lambda _: members("A", "B"))

        answer = await transport.request(await listener.start(), ASK)

        assert answer == members("A", "B")
        received = await hearing.next(Received)
        assert received == Received(channel=1, request=ASK, token=0, language=Language.PYTHON, version=399)


@on_a_loop
async def test_a_refusal_is_an_answer() -> None:
    async with Listener() as listener, Transport() as transport:
        answering(listener, lambda _: Refused(code=ResponseCode.SYSTEM_ERROR, remark="nobody"))

        assert await transport.request(await listener.start(), ASK) == Refused(code=1, remark="nobody")


@on_a_loop
async def test_a_listener_that_nobody_drives_refuses() -> None:
    async with Listener() as listener, Transport() as transport:
        answer = await transport.request(await listener.start(), ASK)

        assert isinstance(answer, Refused)
        assert answer.code == ResponseCode.REQUEST_CODE_NOT_SUPPORTED


@on_a_loop
async def test_all_requests_to_one_address_share_one_connection_and_one_dial() -> None:
    async with Listener() as listener, Transport() as transport:
        hearing = answering(listener, lambda _: members())
        address = await listener.start()

        await asyncio.gather(*(transport.request(address, ASK) for _ in range(50)))

        assert [type(heard) for heard in hearing.heard].count(Opened) == 1
        assert len(transport.channels) == len(listener.channels) == 1


@on_a_loop
async def test_requests_keep_the_order_in_which_they_were_made() -> None:
    async with Listener() as listener, Transport() as transport:
        hearing = answering(listener, lambda _: members())
        address = await listener.start()
        groups = [f"G{number}" for number in range(50)]

        await asyncio.gather(*(transport.request(address, GetConsumerListByGroup(consumer_group=g)) for g in groups))

        asked = [heard.request for heard in hearing.heard if isinstance(heard, Received)]
        assert asked == [GetConsumerListByGroup(consumer_group=group) for group in groups]


@on_a_loop
async def test_answers_may_come_in_any_order() -> None:
    async def backwards(scripted: Scripted) -> None:
        commands = [await scripted.read() for _ in range(3)]
        await scripted.write(*(answer_to(command, str(command.opaque)) for command in reversed(commands)))
        await never(scripted)

    async with peer(backwards) as address, Transport() as transport:
        answers = await asyncio.gather(*(transport.request(address, ASK) for _ in range(3)))

        assert answers == [members("0"), members("1"), members("2")]


@on_a_loop
async def test_a_request_without_answer_times_out_and_its_late_answer_means_nothing() -> None:
    async def late(scripted: Scripted) -> None:
        first = await scripted.read()
        second = await scripted.read()
        await scripted.write(answer_to(first, "late"), answer_to(second, "right"))
        await never(scripted)

    async with peer(late) as address, Transport() as transport:
        with pytest.raises(NoAnswer, match="no answer in time") as caught:
            await transport.request(address, ASK, timeout_ms=20)

        assert caught.value.failure is Failure.TIMEOUT
        assert await transport.request(address, ASK, timeout_ms=HOUR_MS) == members("right")


@on_a_loop
async def test_a_connection_that_breaks_ends_all_that_wait_on_it_and_the_next_request_dials_again() -> None:
    runs = 0

    async def breaks_once(scripted: Scripted) -> None:
        nonlocal runs
        runs += 1
        commands = [await scripted.read()]
        if runs == 1:
            await scripted.read()
            return
        await scripted.write(answer_to(commands[0]))
        await never(scripted)

    async with peer(breaks_once) as address, Transport() as transport:
        hearing = transport.channels.on_heard = Hearing()
        results = await asyncio.gather(
            *(transport.request(address, ASK, HOUR_MS) for _ in range(2)), return_exceptions=True
        )

        assert [type(result) for result in results] == [NoAnswer, NoAnswer]
        assert all(isinstance(result, NoAnswer) and result.failure is Failure.CLOSED for result in results)
        assert await transport.request(address, ASK, HOUR_MS) == members()
        assert hearing.heard == [
            Opened(channel=1, address=address),
            Closed(channel=1),
            Opened(channel=2, address=address),
        ]


@on_a_loop
async def test_a_port_where_nobody_listens_is_not_connected() -> None:
    async with Transport() as transport:
        with pytest.raises(NoAnswer, match="the connection could not be made") as caught:
            await transport.request(free_address(), ASK)

        assert caught.value.failure is Failure.NOT_CONNECTED


@on_a_loop
async def test_the_dial_after_a_failed_one_waits_a_while() -> None:
    async with Transport(NetworkSettings(redial_first_s=3600, redial_most_s=3600)) as transport:
        address = free_address()
        with pytest.raises(NoAnswer, match="Connect call failed"):
            await transport.request(address, ASK)

        with pytest.raises(NoAnswer, match=r"still trying after 0\.02 s"):
            await transport.request(address, ASK, timeout_ms=20)


@on_a_loop
async def test_an_address_that_is_none_is_not_connected() -> None:
    async with Transport() as transport:
        with pytest.raises(NoAnswer, match="needs the form host:port"):
            await transport.request("broker-a", ASK)


@on_a_loop
async def test_an_advertised_address_is_called_at_another_place() -> None:
    async with Listener() as listener:
        address = await listener.start()
        answering(listener, lambda _: members())
        async with Transport(NetworkSettings(rewrite={"10.0.0.1:10911": address})) as transport:
            hearing = transport.channels.on_heard = Hearing()

            assert await transport.request("10.0.0.1:10911", ASK) == members()
            assert hearing.heard == [Opened(channel=1, address="10.0.0.1:10911")]


@on_a_loop
async def test_a_oneway_request_arrives_without_a_token() -> None:
    async with Listener() as listener, Transport() as transport:
        hearing = answering(listener, lambda _: None)

        await transport.oneway(await listener.start(), NOTIFY)

        received = await hearing.next(Received)
        assert (received.request, received.token) == (NOTIFY, None)


@on_a_loop
async def test_what_the_peer_asks_is_heard_and_answered_on_the_same_channel() -> None:
    answers: asyncio.Queue[Command] = asyncio.Queue()

    async def asks(scripted: Scripted) -> None:
        request = await scripted.read()
        await scripted.write(encode(ASK, opaque=request.opaque))  # the same number, the other way
        answers.put_nowait(await scripted.read())
        await scripted.write(answer_to(request, "done"))
        await never(scripted)

    async with peer(asks) as address, Transport() as transport:
        hearing = transport.channels.on_heard = Hearing()
        request = asyncio.create_task(transport.request(address, ASK, HOUR_MS))
        received = await hearing.next(Received)
        assert received.token is not None
        transport.channels.respond(received.channel, received.token, members("mine"))

        answer = await answers.get()
        assert (answer.is_response, answer.opaque, answer.body) == (True, 0, b'{"consumerIdList":["mine"]}')
        assert await request == members("done")


@on_a_loop
async def test_an_idle_connection_is_closed_and_opened_again_when_needed() -> None:
    async with Listener() as listener, Transport(NetworkSettings(idle_after_s=0.01)) as transport:
        answering(listener, lambda _: members())
        address = await listener.start()
        hearing = transport.channels.on_heard = Hearing()

        await transport.request(address, ASK)
        await hearing.next(Closed)

        assert await transport.request(address, ASK) == members()


@on_a_loop
async def test_closing_gives_up_what_waits_and_refuses_what_comes_later() -> None:
    async with peer(never) as address:
        transport = Transport()
        opened = transport.channels.on_heard = Hearing()
        waiting = asyncio.create_task(transport.request(address, ASK, HOUR_MS))
        await opened.next(Opened)

        await transport.close()

        with pytest.raises(NoAnswer, match="closed"):
            await waiting
        with pytest.raises(NoAnswer, match="has closed its connections"):
            await transport.request(address, ASK)


@on_a_loop
async def test_closing_ends_dials_too() -> None:
    transport = Transport(NetworkSettings(redial_first_s=3600, redial_most_s=3600))
    address = free_address()
    with pytest.raises(NoAnswer):
        await transport.request(address, ASK)
    waiting = asyncio.create_task(transport.request(address, ASK, HOUR_MS))
    await asyncio.sleep(0)

    await transport.close()

    with pytest.raises(NoAnswer, match="has closed its connections"):
        await waiting


@on_a_loop
async def test_a_large_answer_is_read_while_the_others_go_on() -> None:
    async with Listener() as listener, Transport(NetworkSettings(offload_above=100)) as transport:
        answering(listener, lambda _: members("A" * 1000))

        assert await transport.request(await listener.start(), ASK) == members("A" * 1000)


@on_a_loop
async def test_a_plain_response_has_no_body() -> None:
    async with Listener() as listener, Transport() as transport:
        answering(listener, lambda _: Response())

        assert await transport.request(await listener.start(), NOTIFY) == Response()


@on_a_loop
async def test_a_server_that_says_go_away_is_asked_once_more_over_a_new_connection() -> None:
    opened: list[Scripted] = []

    async def goes_away_once(scripted: Scripted) -> None:
        opened.append(scripted)
        command = await scripted.read()
        if len(opened) == 1:
            await scripted.write(encode_response(Refused(code=ResponseCode.GO_AWAY), opaque=command.opaque))
        else:
            await scripted.write(answer_to(command, "new"))
        await never(scripted)

    async with peer(goes_away_once) as address, Transport() as transport:
        assert await transport.request(address, ASK, HOUR_MS) == members("new")
        assert len(opened) == 2


@on_a_loop
async def test_a_long_poll_is_still_answered_by_a_server_that_said_go_away() -> None:
    """``ChannelWrapper`` keeps the old channel beside the new one."""
    opened: list[Scripted] = []
    asked_twice = asyncio.Event()

    async def goes_away(scripted: Scripted) -> None:
        opened.append(scripted)
        first = await scripted.read()
        if len(opened) > 1:
            await scripted.write(answer_to(first, "new"))
            await never(scripted)
        second = await scripted.read()
        await scripted.write(encode_response(Refused(code=ResponseCode.GO_AWAY), opaque=second.opaque))
        await asked_twice.wait()
        await scripted.write(answer_to(first, "old"))
        with pytest.raises(EOFError):
            await scripted.read()  # nobody waits for anything: the client has closed it
        old_is_closed.set()

    old_is_closed = asyncio.Event()
    async with peer(goes_away) as address, Transport() as transport:
        long_poll = asyncio.create_task(transport.request(address, ASK, HOUR_MS))
        await asyncio.sleep(0)
        assert await transport.request(address, ASK, HOUR_MS) == members("new")
        asked_twice.set()

        assert await long_poll == members("old")
        await asyncio.wait_for(old_is_closed.wait(), 20)
        assert len(opened) == 2


@on_a_loop
async def test_a_server_that_says_go_away_twice_has_not_answered() -> None:
    opened: list[Scripted] = []

    async def goes_away(scripted: Scripted) -> None:
        opened.append(scripted)
        command = await scripted.read()
        await scripted.write(encode_response(Refused(code=ResponseCode.GO_AWAY), opaque=command.opaque))
        await never(scripted)

    async with peer(goes_away) as address, Transport() as transport:
        with pytest.raises(NoAnswer, match="GO_AWAY on two connections") as caught:
            await transport.request(address, ASK, HOUR_MS)

        assert (caught.value.failure, len(opened)) == (Failure.CLOSED, 2)
