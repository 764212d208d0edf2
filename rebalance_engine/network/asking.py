"""Asking brokers and NameServers within their budgets, for callers who may give up at any time.

What several callers ask at the same time is asked once. A request that nobody waits for any more is not sent; if it was
sent already it keeps its place in the budget until it is answered or cannot be under way any more.
"""

from __future__ import annotations

import asyncio
import logging
import random
from collections.abc import Callable, Coroutine, Hashable
from dataclasses import dataclass, field
from functools import cache
from types import TracebackType
from typing import ClassVar, Protocol, Self, TypeVar, cast, get_args, get_origin, get_type_hints

from rebalance_engine.effects import Address, Failure
from rebalance_engine.network.breaker import Breaker
from rebalance_engine.network.budget import BROKER_LIMITS, Budget, Limits
from rebalance_engine.network.gate import Gate, NotAsked
from rebalance_engine.network.link import NoAnswer
from rebalance_engine.network.rules import seconds_left
from rebalance_engine.remoting.codes import RequestCode, ResponseCode
from rebalance_engine.remoting.errors import RemotingError
from rebalance_engine.remoting.requests.contract import Refused, Request, Response

logger = logging.getLogger(__name__)

R = TypeVar("R", bound=Response)

# How long a request can keep a broker busy: five seconds in its queue, ten more for a client that is asked (307).
UNDER_WAY_S = 10.0
UNDER_WAY_BY_CODE_S = {RequestCode.GET_CONSUMER_RUNNING_INFO: 16.0}
UNREACHABLE_S = (1.0, 60.0)  # the first pause and the longest
WORDS: dict[type, str] = {str: "a text", int: "a whole number", bool: "True or False", type(None): "None"}

Outcome = Response | NoAnswer | RemotingError


class Calls(Protocol):
    """What a ``Transport`` can do, as far as it matters here."""

    async def request(self, address: Address, request: Request[R], timeout_ms: int, /) -> R | Refused:
        """Ask, and wait for the answer."""


@dataclass(slots=True, eq=False)
class _Flight:
    """A request with those who wait for it."""

    learn: Callable[[Outcome], None]
    leaves: Callable[[], None]
    task: asyncio.Task[Outcome] | None = None
    watchers: int = 0
    is_sent: bool = False


@dataclass(slots=True, eq=False)
class Asker:
    """Asks within budgets; one for all that a process asks of a cluster.

    Args:
        transport: its own, apart from that of any member: a member's connections carry its membership.
        luck: jitters the pause of unreachable addresses, so that collectors do not come back at the same moment.
    """

    transport: Calls
    luck: random.Random = field(default_factory=random.Random)
    _gates: dict[Address, Gate] = field(init=False, default_factory=dict)
    _unreachable: Breaker = field(init=False, default_factory=lambda: Breaker(*UNREACHABLE_S))
    _flights: dict[Hashable, _Flight] = field(init=False, default_factory=dict)
    _running: set[asyncio.Task[Outcome]] = field(init=False, default_factory=set)

    async def ask(
        self,
        address: Address,
        request: Request[R],
        *,
        timeout_s: float,
        limits: Limits = BROKER_LIMITS,
        shared: bool = True,
        learn: Callable[[Outcome], None] = lambda _outcome: None,
        leaves: Callable[[], None] = lambda: None,
    ) -> R | Refused:
        """Ask, and wait for the answer; a refusal is one. The timeout covers the wait for the budget.

        Args:
            limits: of this address; those of its first request hold.
            shared: whether an equal request that is under way may answer this one too; a write is made each time.
            learn: is told what became of a request that was sent, even if its caller has given up by then.
            leaves: is told when the request has its turn and is sent.

        Raises:
            NotAsked: the request was not sent.
            NoAnswer: no answer came.
            BrokenContent: it came, and is not what it should be.
            LocalProtocolError: no peer would take the request.
            TypeError: the address, the timeout, or something in the request is of another kind.
            ValueError: the timeout is no number.
        """
        _check_address(address)
        timeout_s = seconds_left("timeout_s", timeout_s)
        check_fields(request)
        key = (address, request) if shared else object()
        flight = self._flights.get(key)
        if flight is None:
            flight = self._flights[key] = _Flight(learn, leaves)
            flight.task = self._take_off(key, flight, self._fly(flight, address, request, limits))
        assert flight.task is not None
        flight.watchers += 1
        try:
            await asyncio.wait((flight.task,), timeout=timeout_s)
        finally:
            flight.watchers -= 1
            if not flight.watchers and not flight.is_sent:
                flight.task.cancel()
                self._flights.pop(key, None)  # whoever asks next begins anew
        return cast("R | Refused", _result(flight, address))

    def renew(self, address: Address) -> None:
        """Let an address be asked at once that could not be reached: somebody tells that it is there again."""
        self._unreachable.renewed(address, asyncio.get_running_loop().time())

    async def close(self) -> None:
        """Give up everything."""
        tasks = tuple(self._running)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        for gate in self._gates.values():
            gate.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    # ---- one request ----

    def _take_off(
        self, key: Hashable, flight: _Flight, flying: Coroutine[None, None, Outcome]
    ) -> asyncio.Task[Outcome]:
        task = asyncio.create_task(flying, name="ask")
        self._running.add(task)

        def landed(_: object) -> None:
            self._running.discard(task)
            if self._flights.get(key) is flight:
                del self._flights[key]

        task.add_done_callback(landed)
        return task

    async def _fly(self, flight: _Flight, address: Address, request: Request[Response], limits: Limits) -> Outcome:
        loop = asyncio.get_running_loop()
        if pause := self._unreachable.pause_s(address, loop.time()):
            return _left_alone(address, pause)
        code = int(request.CODE)
        gate = self._gates.get(address)
        if gate is None:
            gate = self._gates[address] = Gate(address, Budget(limits, loop.time()), loop.time)
        try:
            await gate.enter(code, float("inf"))
        except NotAsked as error:
            return error
        asked_at = loop.time()
        if pause := self._unreachable.pause_s(address, asked_at):  # since it waited for its turn
            gate.leave(code)
            return _left_alone(address, pause)
        flight.is_sent = True
        flight.leaves()
        under_way_s = UNDER_WAY_BY_CODE_S.get(request.CODE, UNDER_WAY_S)
        try:
            outcome: Outcome = await self.transport.request(address, request, round(under_way_s * 1000))
        except (NoAnswer, RemotingError) as error:
            outcome = error
        finally:
            gate.leave(code)
        self._note(address, gate, outcome, asked_at)
        flight.learn(outcome)
        return outcome

    def _note(self, address: Address, gate: Gate, outcome: Outcome, asked_at: float) -> None:
        """Learn from what became of a request how its broker is."""
        at = asyncio.get_running_loop().time()
        if isinstance(outcome, NoAnswer) and outcome.failure is Failure.NOT_CONNECTED:
            pause = self._unreachable.failed(address, at + self.luck.uniform(0, 0.5), asked_at=asked_at)
            logger.info("%s cannot be reached; it is left alone for %.0f s", address, pause)
            return
        is_late = isinstance(outcome, NoAnswer) and outcome.failure is Failure.TIMEOUT
        if is_late or (isinstance(outcome, Refused) and outcome.code == ResponseCode.SYSTEM_BUSY):
            gate.budget.slow_down(at)
        self._unreachable.answered(address)


def _left_alone(address: Address, pause: float) -> NotAsked:
    return NotAsked(address, f"it could not be reached; it is tried again in {pause:.1f} s")


def check_fields(request: Request[R]) -> None:
    """Insist on what the fields of a request say that they are; encoding would send whatever is in them.

    Raises:
        TypeError: one is of another kind.
    """
    for name, kinds in _kinds_of(cast("type", type(request))).items():
        value: object = getattr(request, name)
        if not isinstance(value, kinds) or (isinstance(value, bool) and bool not in kinds):
            needed = " or ".join(WORDS.get(kind, f"a {kind.__name__}") for kind in kinds)
            raise TypeError(f"{name} of {type(request).__name__} is {repr(value)[:80]}; needed is {needed}")


@cache
def _kinds_of(request: type) -> dict[str, tuple[type, ...]]:
    """Give the kinds of each field, where they are plain ones."""
    hints = get_type_hints(request)
    kinds = {name: get_args(hint) or (hint,) for name, hint in hints.items() if get_origin(hint) is not ClassVar}
    return {name: of for name, of in kinds.items() if all(isinstance(kind, type) for kind in of)}


def _check_address(address: object) -> None:
    if not isinstance(address, str):
        raise TypeError(f"the address is {repr(address)[:80]}; needed is a text, host:port")


def _result(flight: _Flight, address: Address) -> Response:
    task = flight.task
    assert task is not None
    if not task.done() or task.cancelled() or task.cancelling():
        if not flight.is_sent:
            raise NotAsked(address, "the budget gave no turn before the deadline")
        raise NoAnswer(Failure.TIMEOUT, address)
    outcome = task.result()
    if isinstance(outcome, NoAnswer | RemotingError):
        raise outcome
    return outcome
