import asyncio
import errno
import socket
from dataclasses import replace

import pytest

from rebalance_engine.effects import Closed, Opened, Received
from rebalance_engine.network.listener import Listener
from rebalance_engine.network.settings import NetworkSettings
from rebalance_engine.network.transport import Transport
from rebalance_engine.remoting.acl import Credentials
from rebalance_engine.remoting.codec import encode, encode_response
from rebalance_engine.remoting.codes import Language, RequestCode, ResponseCode
from rebalance_engine.remoting.command import Command
from rebalance_engine.remoting.requests.contract import Refused, Response, UnknownRequest
from rebalance_engine.remoting.requests.membership import GetConsumerListByGroup, NotifyConsumerIdsChanged
from tests.rebalance_engine.network.loop import on_a_loop
from tests.rebalance_engine.network.peers import Hearing, answering, caller

ASK = GetConsumerListByGroup(consumer_group="G")
NOTIFY = NotifyConsumerIdsChanged(consumer_group="G")


@on_a_loop
async def test_a_client_is_heard_with_its_language_and_answered() -> None:
    async with Listener() as listener:
        hearing = answering(listener, lambda _: Response(remark="yes"))
        async with caller(await listener.start()) as client:
            await client.write(encode(ASK, opaque=77, language=Language.GO, version=317))

            answer = await client.read()
            assert (answer.opaque, answer.code, answer.remark) == (77, 0, "yes")
        opened, received = await hearing.next(Opened), await hearing.next(Received)
        assert opened.address.startswith("127.0.0.1:")
        assert received == Received(channel=1, request=ASK, token=77, language=Language.GO, version=317)
        assert await hearing.next(Closed) == Closed(channel=1)


@on_a_loop
async def test_each_connection_has_a_number_of_its_own_for_ever() -> None:
    async with Listener() as listener:
        hearing = answering(listener, lambda _: Response())
        address = await listener.start()
        for number in (1, 2):
            async with caller(address):
                opened = await hearing.next(Opened)
                assert opened.channel == number
            await hearing.next(Closed)


@on_a_loop
async def test_a_request_of_no_known_code_is_handed_on() -> None:
    async with Listener() as listener:
        hearing = answering(listener, lambda _: Response())
        async with caller(await listener.start()) as client:
            await client.write(Command(code=9999, opaque=1, ext_fields={"a": "b"}))
            received = await hearing.next(Received)
            assert received.request == UnknownRequest(code=9999, ext_fields={"a": "b"})


@on_a_loop
async def test_a_request_that_cannot_be_read_is_refused_and_the_next_one_is_served() -> None:
    async with Listener() as listener:
        answering(listener, lambda _: Response(remark="fine"))
        async with caller(await listener.start()) as client:
            await client.write(Command(code=RequestCode.HEART_BEAT, opaque=1, body=b"{"), encode(ASK, opaque=2))

            refused, served = await client.read(), await client.read()
            assert (refused.opaque, refused.code) == (1, ResponseCode.SYSTEM_ERROR)
            assert "cannot be read" in str(refused.remark)
            assert (served.opaque, served.remark) == (2, "fine")


@on_a_loop
async def test_a_client_is_asked_over_the_connection_that_it_opened() -> None:
    async with Listener() as listener:
        hearing = listener.channels.on_heard = Hearing()
        async with caller(await listener.start()) as client:
            await hearing.next(Opened)
            asked = asyncio.create_task(listener.channels.ask(1, NOTIFY, timeout_ms=10_000))
            command = await client.read()
            await client.write(encode_response(Response(remark="here"), opaque=command.opaque))

            assert await asked == Response(remark="here")


@pytest.mark.parametrize(
    "data", [b"\x7f\xff\xff\xff", b"GET / HTTP/1.1\r\n\r\n", b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc"]
)
@on_a_loop
async def test_a_client_that_does_not_speak_the_protocol_is_cut_off(data: bytes) -> None:
    async with Listener() as listener:
        hearing = listener.channels.on_heard = Hearing()
        async with caller(await listener.start()) as client:
            await client.write_bytes(data)

            with pytest.raises(EOFError):
                await client.read()
            await hearing.next(Closed)


@on_a_loop
async def test_a_client_that_says_nothing_is_closed_after_a_while() -> None:
    async with Listener(NetworkSettings(idle_after_s=0.01)) as listener, caller(await listener.start()) as client:
        with pytest.raises(EOFError):
            await client.read()


@on_a_loop
async def test_a_client_that_does_not_read_is_not_read_either_and_cut_off_when_too_much_waits() -> None:
    async with Listener(NetworkSettings(max_queued=100_000)) as listener:
        hearing = answering(listener, lambda _: None)
        async with caller(await listener.start()) as client:
            await client.write(encode(ASK, opaque=1))
            await hearing.next(Received)
            large = Response(remark="A" * 500_000)
            answers = 0
            while listener.channels.respond(1, 1, large):
                answers += 1
                assert answers < 100, "nothing stops it"

            (link,) = listener.channels
            assert link.reason is not None
            assert "bytes wait for a peer that does not read; 100000 may" in link.reason
            await hearing.next(Closed)


@on_a_loop
async def test_more_connections_than_allowed_are_turned_away() -> None:
    async with Listener(NetworkSettings(max_connections=1)) as listener:
        hearing = answering(listener, lambda _: Response())
        address = await listener.start()
        async with caller(address):
            await hearing.next(Opened)
            async with caller(address) as second:
                with pytest.raises(EOFError):
                    await second.read()
        await hearing.next(Closed)
        async with caller(address) as third:
            await third.write(encode(ASK, opaque=1))
            assert (await third.read()).code == 0


@on_a_loop
async def test_a_port_that_is_taken_is_an_error() -> None:
    async with Listener() as listener, Listener() as other:
        port = int((await listener.start()).rsplit(":", 1)[1])

        with pytest.raises(OSError, match="in use") as caught:
            await other.start(port=port)
        assert caught.value.errno == errno.EADDRINUSE


@pytest.mark.skipif(not socket.has_ipv6, reason="the machine has no IPv6")
@on_a_loop
async def test_ipv6_is_listened_on_and_called() -> None:
    async with Listener() as listener, Transport() as transport:
        answering(listener, lambda _: Response(remark="six"))

        assert await transport.request(await listener.start("::1"), NOTIFY) == Response(remark="six")


@on_a_loop
async def test_closing_ends_all_connections_and_the_port() -> None:
    listener = Listener()
    hearing = listener.channels.on_heard = Hearing()
    address = await listener.start()
    async with caller(address) as client:
        await hearing.next(Opened)

        await listener.close()

        with pytest.raises(EOFError):
            await client.read()
    with pytest.raises(ConnectionRefusedError):
        await asyncio.open_connection(*address.split(":"))


RIGHT = Credentials(access_key="rocketmq2", secret_key="12345678")  # noqa: S106  # the pair of the vectors


@on_a_loop
async def test_who_signs_is_served_with_and_without_an_answer() -> None:
    async with (
        Listener(accounts={"rocketmq2": "12345678"}) as listener,
        Transport(NetworkSettings(acl=RIGHT)) as transport,
    ):
        hearing = answering(listener, lambda _: Response())
        address = await listener.start()

        assert await transport.request(address, NOTIFY) == Response()
        await transport.oneway(address, NOTIFY)
        assert [(await hearing.next(Received)).token for _ in range(2)] == [0, None]


@pytest.mark.parametrize(
    ("credentials", "remark"),
    [
        (None, "the request is not signed"),
        (replace(RIGHT, access_key="other"), "no account has the AccessKey 'other'"),
        (replace(RIGHT, secret_key=RIGHT.secret_key[::-1]), "the signature of 'rocketmq2' is wrong"),
    ],
)
@on_a_loop
async def test_who_does_not_sign_as_an_account_is_refused(credentials: Credentials | None, remark: str) -> None:
    async with (
        Listener(accounts={"rocketmq2": "12345678"}) as listener,
        Transport(NetworkSettings(acl=credentials)) as transport,
    ):
        hearing = answering(listener, lambda _: Response())
        address = await listener.start()

        answer = await transport.request(address, ASK)

        assert isinstance(answer, Refused)
        assert answer.code == ResponseCode.NO_PERMISSION
        assert remark in str(answer.remark)
        assert not any(isinstance(heard, Received) for heard in hearing.heard)


@on_a_loop
async def test_what_a_listener_asks_is_not_signed_with_the_names_of_the_process() -> None:
    async with Listener(NetworkSettings(acl=RIGHT)) as listener:
        hearing = listener.channels.on_heard = Hearing()
        async with caller(await listener.start()) as client:
            await hearing.next(Opened)
            listener.channels.push(1, NOTIFY)

            assert "Signature" not in ((await client.read()).ext_fields or {})
