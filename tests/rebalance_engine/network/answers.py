"""A transport without sockets: answers by the kind of the request, and keeps what was asked."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import TypeVar, cast

from rebalance_engine.effects import Address
from rebalance_engine.remoting.requests.contract import Refused, Request, Response

R = TypeVar("R", bound=Response)
Answer = Response | Exception | None  # None: hangs


class Answering:
    """Gives each request what ``answer`` says after ``takes_s``; None hangs until the timeout of a real one."""

    def __init__(self, answer: Callable[[Address, Request[Response]], Answer], takes_s: float = 0.0) -> None:
        self._answer = answer
        self._takes_s = takes_s
        self.asked: list[tuple[Address, object]] = []
        self.running = self.most_running = 0

    async def request(self, address: Address, request: Request[R], timeout_ms: int, /) -> R | Refused:
        self.asked.append((address, request))
        self.running += 1
        self.most_running = max(self.most_running, self.running)
        try:
            await asyncio.sleep(self._takes_s)
            answer = self._answer(address, request)
            if isinstance(answer, Exception):
                if "no answer in time" in str(answer):
                    await asyncio.sleep(timeout_ms / 1000)
                raise answer
            if answer is None:
                await asyncio.Event().wait()
            return cast("R | Refused", answer)
        finally:
            self.running -= 1
