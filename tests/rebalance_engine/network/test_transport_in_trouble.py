import asyncio

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rebalance_engine.effects import Closed
from rebalance_engine.network.link import NoAnswer
from rebalance_engine.network.listener import Listener
from rebalance_engine.network.settings import NetworkSettings
from rebalance_engine.network.transport import Transport
from rebalance_engine.remoting.command import Command
from rebalance_engine.remoting.errors import BrokenContent, LocalProtocolError
from rebalance_engine.remoting.frames import encode_frame
from rebalance_engine.remoting.requests.membership import (
    GetConsumerListByGroup,
)
from rebalance_engine.remoting.requests.producing import SendMessageV2
from tests.rebalance_engine.network.loop import on_a_loop
from tests.rebalance_engine.network.peers import Hearing, Scripted, answering, never, peer
from tests.rebalance_engine.network.test_transport import ASK, HOUR_MS, answer_to, members


@on_a_loop
async def test_an_answer_that_cannot_be_read_harms_only_its_request() -> None:
    async def nonsense(scripted: Scripted) -> None:
        first = await scripted.read()
        await scripted.write(Command(code=0, opaque=first.opaque, flag=1, body=b"{"))
        await scripted.write(answer_to(await scripted.read()))
        await never(scripted)

    async with peer(nonsense) as address, Transport() as transport:
        with pytest.raises(BrokenContent):
            await transport.request(address, ASK)

        assert await transport.request(address, ASK) == members()
        assert len(transport.channels) == 1


@on_a_loop
async def test_a_request_that_no_peer_would_take_is_not_sent() -> None:
    async with Listener() as listener, Transport() as transport:
        answering(listener, lambda _: members())
        address = await listener.start()
        large = SendMessageV2(
            producer_group="P",
            topic="T",
            default_topic="TBW102",
            default_topic_queue_nums=4,
            queue_id=0,
            sys_flag=0,
            born_timestamp=0,
            flag=0,
            body=bytes(17 * 2**20),
        )
        with pytest.raises(LocalProtocolError, match="peers accept"):
            await transport.request(address, large)

        assert await transport.request(address, ASK) == members()


@pytest.mark.parametrize(
    "data", [b"\x7f\xff\xff\xff", b"\0\0\0\x01", b"\0\0\0\x04\x02\0\0\0", b"HTTP/1.1 400 Bad Request"]
)
@on_a_loop
async def test_a_peer_that_does_not_speak_the_protocol_is_left_with_a_reason(data: bytes) -> None:
    async def hostile(scripted: Scripted) -> None:
        await scripted.read()
        await scripted.write_bytes(data)
        await never(scripted)

    async with peer(hostile) as address, Transport() as transport:
        with pytest.raises(NoAnswer, match=r"the connection closed before the answer \(.+\)"):
            await transport.request(address, ASK, HOUR_MS)


@on_a_loop
async def test_a_frame_that_is_cut_off_is_a_reason() -> None:
    async def cuts(scripted: Scripted) -> None:
        frame = encode_frame(answer_to(await scripted.read()))
        await scripted.write_bytes(frame[:-1])

    async with peer(cuts) as address, Transport() as transport:
        with pytest.raises(NoAnswer, match="the peer ended within a frame"):
            await transport.request(address, ASK, HOUR_MS)


@given(cuts=st.lists(st.integers(1, 200), max_size=20))
def test_answers_may_arrive_in_any_pieces(cuts: list[int]) -> None:
    async def pieces(scripted: Scripted) -> None:
        commands = [await scripted.read() for _ in range(3)]
        data = b"".join(encode_frame(answer_to(command, "é" * command.opaque)) for command in commands)
        for start, end in zip([0, *sorted(cuts)], [*sorted(cuts), len(data)], strict=True):
            await scripted.write_bytes(data[start:end])
        await never(scripted)

    @on_a_loop
    async def run() -> None:
        async with peer(pieces) as address, Transport() as transport:
            answers = await asyncio.gather(*(transport.request(address, ASK, HOUR_MS) for _ in range(3)))
            assert answers == [members(""), members("é"), members("éé")]

    run()


@on_a_loop
async def test_a_connection_on_which_nothing_comes_though_it_should_is_given_up() -> None:
    async with peer(never) as address, Transport(NetworkSettings(half_open_after_s=0.0)) as transport:
        hearing = transport.channels.on_heard = Hearing()

        with pytest.raises(NoAnswer, match="no answer in time"):
            await transport.request(address, ASK, timeout_ms=20)

        await hearing.next(Closed)
        assert len(transport.channels) == 0


@on_a_loop
async def test_requests_wait_while_the_peer_does_not_read_and_go_on_when_it_does() -> None:
    reads = asyncio.Event()

    async def slow(scripted: Scripted) -> None:
        await reads.wait()
        while True:
            command = await scripted.read()
            await scripted.write(answer_to(command))

    async with peer(slow) as address, Transport(NetworkSettings(max_queued=40_000)) as transport:
        large = GetConsumerListByGroup(consumer_group="G" * 500_000)
        requests = [asyncio.create_task(transport.request(address, large, HOUR_MS)) for _ in range(40)]
        with pytest.raises(NoAnswer, match="no answer in time"):
            await transport.request(address, ASK, timeout_ms=50)
        (link,) = transport.channels
        assert link.queued <= 40_000 / 4 + 600_000
        assert not any(request.done() for request in requests)

        reads.set()

        assert await asyncio.gather(*requests) == [members()] * 40
