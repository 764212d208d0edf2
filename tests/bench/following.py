"""Many followers of one stream, in a process of their own: ``python -m tests.bench.following``.

Reads ``{"url", "origin", "stream", "cookies"}`` as one line of JSON; writes one for each step that has come to all of
them: ``{"seq", "first", "last"}``, in epoch seconds. Ends with its input.
"""

from __future__ import annotations

import asyncio
import json
import sys
from collections import defaultdict
from collections.abc import Sequence
from time import time

from websockets.asyncio.client import ClientConnection, connect
from websockets.typing import Origin

from dashboard.push.messages import decode

Body = str | bytes


async def follow(url: str, origin: str, stream: str, cookies: Sequence[str]) -> None:
    """Follow until nobody reads any more; what came is read after the clock was, for all of them."""
    came: dict[int, list[float]] = defaultdict(list)
    numbers: dict[Body, int] = {}

    def take(at: float, body: Body) -> None:
        seq = numbers[body] if body in numbers else numbers.setdefault(body, decode(_bytes(body)).seq)
        came[seq].append(at)
        if len(came[seq]) == len(cookies):
            print(json.dumps({"seq": seq, "first": min(came[seq]), "last": max(came[seq])}), flush=True)

    async def read(end: ClientConnection) -> None:
        async for body in end:
            take(time(), body)

    async with asyncio.TaskGroup() as tasks:
        for cookie in cookies:
            end = await connect(
                url,
                origin=Origin(origin),
                additional_headers={"Cookie": cookie},
                max_size=None,
                compression=None,
                open_timeout=60,
            )
            await end.send(json.dumps({"follow": stream, "seq": None}))
            tasks.create_task(read(end))
        await asyncio.to_thread(sys.stdin.read)
        raise SystemExit


def _bytes(body: Body) -> bytes:
    return body.encode() if isinstance(body, str) else body


def main() -> None:
    """Follow what the first line of input says."""
    asked = json.loads(sys.stdin.readline())
    asyncio.run(follow(asked["url"], asked["origin"], asked["stream"], asked["cookies"]))


if __name__ == "__main__":
    main()
