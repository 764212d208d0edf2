"""Relays that count: between whoever asks and a server, each request by its code."""

from __future__ import annotations

import asyncio
import json
from collections import Counter
from collections.abc import Coroutine, Iterator, Mapping
from contextlib import contextmanager, suppress
from threading import Event, Thread

from rebalance_engine.effects import Address
from rebalance_engine.network.rewriting import split_address

LENGTH, HEADER_LENGTH = 4, 3  # bytes; the first of the header's four says its form
BINARY = 1
RESPONSE_TYPE = 1  # ``RemotingCommand.RPC_TYPE``
READ = 2**16


@contextmanager
def counting(relays: Mapping[Address, Address]) -> Iterator[Counter[int]]:
    """Listen at each address for the server behind it, in a thread; gives requests by code, those of all together."""
    codes: Counter[int] = Counter()
    ready = Event()

    async def serve() -> None:
        servers = [await _listen(at, to, codes) for at, to in relays.items()]
        ready.set()
        await stop.wait()
        for server in servers:
            server.close()

    stop = asyncio.Event()
    loop = asyncio.new_event_loop()
    thread = Thread(target=_run, args=(loop, serve()), name="counting")
    thread.start()
    try:
        assert ready.wait(10), f"nothing listens at {', '.join(relays)}"
        yield codes
    finally:
        loop.call_soon_threadsafe(stop.set)
        thread.join(10)


def _run(loop: asyncio.AbstractEventLoop, serve: Coroutine[None, None, None]) -> None:
    with asyncio.Runner(loop_factory=lambda: loop) as runner:
        runner.run(serve)


async def _listen(at: Address, to: Address, codes: Counter[int]) -> asyncio.Server:
    async def relay(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        server_reader, server_writer = await asyncio.open_connection(*split_address(to))
        with suppress(OSError, asyncio.CancelledError):  # a connection ends as it will, and in the end all do
            await asyncio.gather(_count(reader, server_writer, codes), _copy(server_reader, writer))
        for end in (server_writer, writer):
            end.close()

    return await asyncio.start_server(relay, *split_address(at))


async def _count(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, codes: Counter[int]) -> None:
    """Pass frames on until there are no more."""
    with suppress(asyncio.IncompleteReadError):
        while True:
            length = await reader.readexactly(LENGTH)
            frame = await reader.readexactly(int.from_bytes(length))
            writer.write(length + frame)
            await writer.drain()
            code = _request_code(frame)
            if code is not None:
                codes[code] += 1
    writer.close()


def _request_code(frame: bytes) -> int | None:
    """Read the code of a request; None of an answer."""
    header = frame[4 : 4 + int.from_bytes(frame[1 : 1 + HEADER_LENGTH])]
    if frame[0] == BINARY:  # code 2, language 1, version 2, opaque 4, flag 4
        return None if int.from_bytes(header[9:13]) & RESPONSE_TYPE else int.from_bytes(header[:2])
    read = json.loads(header)
    return None if read["flag"] & RESPONSE_TYPE else int(read["code"])


async def _copy(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    while some := await reader.read(READ):
        writer.write(some)
        await writer.drain()
    writer.close()
