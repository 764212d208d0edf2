"""Asking many at once: each answer, or why it is missing, within one deadline."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Generic, TypeVar

from rebalance_engine.network.admin import Denied
from rebalance_engine.network.answers import Answerer, Trouble
from rebalance_engine.network.clock import Clock
from rebalance_engine.network.link import NoAnswer
from rebalance_engine.remoting.errors import RemotingError

T = TypeVar("T")
T_co = TypeVar("T_co", covariant=True)
LEAST_S = 0.05  # whoever is asked after the deadline is still told why by name


@dataclass(frozen=True, slots=True)
class Heard(Generic[T_co]):
    """What somebody answered, and when; ``trouble`` says why there is no ``value``."""

    by: Answerer
    value: T_co | None = None
    trouble: Trouble | None = None

    @property
    def why(self) -> str:
        """Say why it is missing; empty where it is not."""
        return "" if self.trouble is None else str(self.trouble)


class Deadline:
    """One deadline for everything that belongs together."""

    def __init__(self, seconds: float) -> None:
        loop = asyncio.get_running_loop()
        self._clock = Clock(loop)
        self._loop = loop
        self._ends = loop.time() + seconds

    @property
    def left_s(self) -> float:
        """How long there is still time."""
        return max(LEAST_S, self._ends - self._loop.time())

    def now(self) -> int:
        """What time it is: ms since 1970."""
        return self._clock.now()

    async def hear(self, by: Answerer, ask: Callable[[float], Awaitable[T]]) -> Heard[T]:
        """Ask somebody; ``ask`` gets the seconds that are left. The time of ``by`` becomes that of the answer."""
        try:
            value = await ask(self.left_s)
        except (NoAnswer, Denied, RemotingError) as trouble:
            return Heard(self._stamped(by), trouble=trouble)
        return Heard(self._stamped(by), value)

    def _stamped(self, by: Answerer) -> Answerer:
        return Answerer(
            address=by.address, code=by.code, at=self.now(), broker=by.broker, client=by.client, cluster=by.cluster
        )
