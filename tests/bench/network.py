"""The network: requests and answers over loopback beside asyncio's own streams, which move the same bytes unread.

Both ends run in one process on one core, so a round trip is the work of both. The bound reads exactly as many bytes as
a frame has, and answers with the bytes of the same answer.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterator
from time import perf_counter

from rebalance_engine.effects import Received
from rebalance_engine.network.channels import OfChannel
from rebalance_engine.network.listener import Listener
from rebalance_engine.network.transport import Transport
from rebalance_engine.remoting.bodies.clients import GetConsumerListByGroupResponseBody
from rebalance_engine.remoting.codec import encode, encode_response
from rebalance_engine.remoting.frames import encode_frame
from rebalance_engine.remoting.requests.membership import GetConsumerListByGroup, GetConsumerListByGroupResponse
from tests.bench.report import Row

BOUND = "asyncio streams, bytes unread"
ASK = GetConsumerListByGroup(consumer_group="orders-billing")
IDS = GetConsumerListByGroupResponseBody(consumer_id_list=tuple(f"10.0.0.{n}@4711" for n in range(8)))
ANSWER = GetConsumerListByGroupResponse(body=IDS)
ROUNDS = 5

RoundTrip = Callable[[], Awaitable[object]]


def run(*, quick: bool) -> Iterator[Row]:
    """Measure it all; quick makes fewer round trips."""
    times = 500 if quick else 10_000
    for at_once in (1, 64):
        ours = asyncio.run(_ours(times, at_once))
        theirs = asyncio.run(_theirs(times, at_once))
        note = f"{1 / ours:,.0f} a second"
        yield Row("round trip over loopback", f"{at_once} at a time", ours, "s", BOUND, theirs, note=note)


async def _ours(times: int, at_once: int) -> float:
    async with Listener() as listener, Transport() as transport:

        def answer(heard: OfChannel) -> None:
            if isinstance(heard, Received) and heard.token is not None:
                listener.channels.respond(heard.channel, heard.token, ANSWER)

        listener.channels.on_heard = answer
        address = await listener.start()
        assert await transport.request(address, ASK) == ANSWER
        return await _each(times, [lambda: transport.request(address, ASK)] * at_once)


async def _theirs(times: int, at_once: int) -> float:
    """Each of the streams carries one round trip at a time: they cannot tell answers apart."""
    request = encode_frame(encode(ASK, opaque=7))
    answer = encode_frame(encode_response(ANSWER, opaque=7))

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while True:
                await reader.readexactly(len(request))
                writer.write(answer)
        except asyncio.IncompleteReadError:
            writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    streams = [await asyncio.open_connection("127.0.0.1", port) for _ in range(at_once)]

    def round_trip(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> RoundTrip:
        async def once() -> bytes:
            writer.write(request)
            return await reader.readexactly(len(answer))

        return once

    try:
        return await _each(times, [round_trip(*stream) for stream in streams])
    finally:
        for _, writer in streams:
            writer.close()
            await writer.wait_closed()
        server.close()
        await server.wait_closed()


async def _each(times: int, round_trips: list[RoundTrip]) -> float:
    """Give the seconds of one round trip when these workers share them; the best of some rounds."""

    async def work(round_trip: RoundTrip) -> None:
        for _ in range(times // len(round_trips)):
            await round_trip()

    took = []
    for _ in range(ROUNDS):
        begun = perf_counter()
        await asyncio.gather(*map(work, round_trips))
        took.append(perf_counter() - begun)
    return min(took) / (times // len(round_trips) * len(round_trips))
