import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress

import pytest

from dashboard.config.supervising.probes import redis_answers, web_answers
from tests.rebalance_engine.network.loop import on_a_loop


@asynccontextmanager
async def server(answer: bytes, until: bytes) -> AsyncIterator[int]:
    """Answer each caller who has said something that ends so."""

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(asyncio.IncompleteReadError):
            await reader.readuntil(until)
            writer.write(answer)
        writer.close()
        gone.set()

    gone = asyncio.Event()

    listener = await asyncio.start_server(serve, "127.0.0.1", 0)
    async with listener:
        yield listener.sockets[0].getsockname()[1]
        await gone.wait()


@on_a_loop
async def test_a_redis_answers_when_it_pongs() -> None:
    async with server(b"+OK\r\n+PONG\r\n", b"PING\r\n") as port:
        assert await redis_answers(port, "word")


@on_a_loop
async def test_a_redis_that_refuses_the_password_does_not_answer() -> None:
    async with server(b"-WRONGPASS\r\n-NOAUTH\r\n", b"PING\r\n") as port:
        with pytest.raises(EOFError):
            await redis_answers(port, "word")


@pytest.mark.parametrize(("status", "answers"), [(b"200 OK", True), (b"503 Not yet", False), (b"301 Moved", False)])
@on_a_loop
async def test_the_web_process_answers_when_it_says_200(status: bytes, answers: bool) -> None:
    async with server(b"HTTP/1.1 " + status + b"\r\nServer: x\r\n\r\n", b"\r\n\r\n") as port:
        assert await web_answers("0.0.0.0", port) is answers  # noqa: S104 # what was asked for, not where we call


@on_a_loop
async def test_who_says_more_than_a_head_does_not_answer() -> None:
    async with server(b"x" * 200_000, b"\r\n\r\n") as port:
        with pytest.raises((EOFError, ConnectionError)):
            await web_answers("127.0.0.1", port)


@on_a_loop
async def test_who_says_nothing_does_not_answer_in_time() -> None:
    async with server(b"", b"never\r\n\r\n") as port:
        with pytest.raises((TimeoutError, EOFError)):
            await redis_answers(port, "word", within_s=0.05)
