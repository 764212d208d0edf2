"""Whether a process answers: each asks once, and says so. Errors of the connection mean that it does not."""

from __future__ import annotations

import asyncio
import contextlib

MOST_HEAD_BYTES = 65_536


async def redis_answers(port: int, password: str, within_s: float = 2.0) -> bool:
    """Ask a Redis on loopback for a sign of life.

    Raises:
        OSError, TimeoutError, EOFError: it does not answer.
    """
    answer = await _ask("127.0.0.1", port, f"AUTH {password}\r\nPING\r\n".encode(), b"+PONG\r\n", within_s)
    return answer.endswith(b"+PONG\r\n")


async def web_answers(host: str, port: int, within_s: float = 10.0) -> bool:
    """Ask the web process whether it can serve pages.

    Raises:
        OSError, TimeoutError, EOFError: it does not answer.
    """
    to = {"": "127.0.0.1", "0.0.0.0": "127.0.0.1", "::": "::1"}.get(host, host)  # noqa: S104 # it is not listened on
    request = b"GET /healthz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"
    head = await _ask(to, port, request, b"\r\n\r\n", within_s)
    return head.startswith(b"HTTP/1.1 200 ")


async def _ask(host: str, port: int, request: bytes, end: bytes, within_s: float) -> bytes:
    async with asyncio.timeout(within_s):
        reader, writer = await asyncio.open_connection(host, port, limit=MOST_HEAD_BYTES)
        try:
            writer.write(request)
            return await reader.readuntil(end)
        except asyncio.LimitOverrunError as error:
            raise EOFError(f"it says more than {MOST_HEAD_BYTES} bytes") from error
        finally:
            writer.close()
            with contextlib.suppress(OSError):
                await writer.wait_closed()
