"""A peer on loopback that does what a test tells it, byte by byte."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import TypeVar

from rebalance_engine.effects import Answered, Closed, Heard, Opened, Received, Unanswered, Woken
from rebalance_engine.network.channels import OfChannel
from rebalance_engine.network.listener import Listener
from rebalance_engine.remoting.command import Command
from rebalance_engine.remoting.connection import Connection, Ended
from rebalance_engine.remoting.requests.contract import Response

K = TypeVar("K", Received, Answered, Unanswered, Opened, Closed, Woken)
Script = Callable[["Scripted"], Awaitable[None]]


class Scripted:
    """One connection of a scripted peer."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.reader, self.writer = reader, writer
        self._connection = Connection()
        self._events: list[Command | Ended] = []

    async def read(self) -> Command:
        """Wait for the next command."""
        while not self._events:
            data = await self.reader.read(65536)
            self._connection.receive_data(data) if data else self._connection.receive_eof()
            self._events += self._connection.events_received()
        event = self._events.pop(0)
        if isinstance(event, Ended):
            raise EOFError(str(event.error))  # noqa: TRY004  # the stream has ended
        return event

    async def write(self, *commands: Command) -> None:
        for command in commands:
            self._connection.send(command)
        await self.write_bytes(b"".join(self._connection.data_to_send()))

    async def write_bytes(self, data: bytes) -> None:
        self.writer.write(data)
        await self.writer.drain()


@asynccontextmanager
async def peer(script: Script) -> AsyncIterator[str]:
    """Listen, let the script treat each connection, and give the address."""
    tasks: set[asyncio.Task[None]] = set()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        tasks.add(task)
        try:
            await script(Scripted(reader, writer))
        except (EOFError, ConnectionError, asyncio.CancelledError):
            pass
        finally:
            writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    try:
        yield f"127.0.0.1:{server.sockets[0].getsockname()[1]}"
    finally:
        server.close()
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


@asynccontextmanager
async def caller(address: str) -> AsyncIterator[Scripted]:
    """Call a listener of ours by hand."""
    host, port = address.rsplit(":", 1)
    reader, writer = await asyncio.open_connection(host, int(port))
    try:
        yield Scripted(reader, writer)
    finally:
        writer.close()


class Hearing:
    """Keeps what is heard on channels, and lets a test wait for it."""

    def __init__(self) -> None:
        self.heard: list[Heard] = []
        self._news = asyncio.Event()

    def __call__(self, heard: Heard) -> None:
        self.heard.append(heard)
        self._news.set()

    async def next(self, kind: type[K]) -> K:
        """Wait for the first of a kind, and take it out."""
        while True:
            for heard in self.heard:
                if isinstance(heard, kind):
                    self.heard.remove(heard)
                    return heard
            self._news.clear()
            await self._news.wait()


def answering(listener: Listener, answer: Callable[[object], Response | None]) -> Hearing:
    """Let a listener answer each request by a function; None answers nothing."""
    hearing = Hearing()

    def hear(heard: OfChannel) -> None:
        hearing(heard)
        if isinstance(heard, Received) and heard.token is not None:
            response = answer(heard.request)
            if response is not None:
                listener.channels.respond(heard.channel, heard.token, response)

    listener.channels.on_heard = hear
    return hearing


async def never(_: Scripted) -> None:
    """A script that says nothing, and does not end."""
    await asyncio.Event().wait()
