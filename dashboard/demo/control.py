"""How a running demo is asked: by a Unix socket in its folder, open to who may enter the folder. JSON, one line each.

======================================  ===========================================================================
a caller says                           and hears
======================================  ===========================================================================
``{"do":"status"}``                     ``{"namesrv":…,"members":{group:[name,…]}}``
``{"do":"begin"}``                      the same; the play begins once somebody follows facts
``{"do":"order","verb":…,…}``           ``{"outcome":"done"|"refused"|"failed","detail":…,"clients":[…]}``
``{"do":"facts","run":…,"after":n}``    ``{"run":…,"n":…,"line":…}`` for each fact after that one, without an end
======================================  ===========================================================================
"""

from __future__ import annotations

import asyncio
import json
import logging
import os
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from pathlib import Path

from dashboard.demo.orders import Order
from rebalance_engine.eventlog import EventLogError, read
from rebalance_engine.events import CommandOutcome, Fact

logger = logging.getLogger(__name__)

SOCKET = "control"
MOST_LINE_BYTES = 4 * 2**20
CALL_S = 25.0
STATUS_S = 2.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """What became of an order."""

    outcome: CommandOutcome
    detail: str
    clients: tuple[str, ...] = ()


class NoDemo(OSError):
    """No demo runs in this folder, or it does not answer."""


@contextmanager
def path_of(directory: Path) -> Iterator[str]:
    """Name the socket of a folder shortly: an address has room for 107 bytes, and folders may be deeper than that."""
    descriptor = os.open(directory, os.O_RDONLY | os.O_DIRECTORY)
    try:
        yield f"/proc/self/fd/{descriptor}/{SOCKET}"
    finally:
        os.close(descriptor)


async def ask_status(directory: Path) -> bool:
    """Say whether the demo of a folder plays.

    Raises:
        NoDemo: nobody answers.
    """
    return "namesrv" in await _call(directory, {"do": "status"}, STATUS_S)


async def ask_to_begin(directory: Path) -> None:
    """Tell the demo of a folder that somebody looks.

    Raises:
        NoDemo: nobody answers.
    """
    await _call(directory, {"do": "begin"}, STATUS_S)


async def ask_order(directory: Path, order: Order) -> Answer:
    """Let the demo of a folder carry out an order.

    Raises:
        NoDemo: nobody answers; whether it was carried out is not known if the connection broke.
    """
    asked = {
        "do": "order",
        "verb": order.verb,
        "group": order.group,
        "target": order.target,
        "parameters": dict(order.parameters),
    }
    heard = await _call(directory, asked, CALL_S)
    clients = heard.get("clients")
    return Answer(
        outcome=CommandOutcome(heard.get("outcome")),
        detail=str(heard.get("detail", "")),
        clients=tuple(map(str, clients)) if isinstance(clients, list) else (),
    )


async def _call(directory: Path, asked: Mapping[str, object], within_s: float) -> dict[str, object]:
    try:
        async with asyncio.timeout(within_s), _connected(directory, asked) as reader:
            line = await reader.readline()
    except (OSError, TimeoutError) as error:
        raise NoDemo(f"the demo of {directory} does not answer: {type(error).__name__} {error}") from error
    heard = json.loads(line) if line else None
    if not isinstance(heard, dict):
        raise NoDemo(f"the demo of {directory} ended before it answered")
    return heard


@asynccontextmanager
async def _connected(directory: Path, asked: Mapping[str, object]) -> AsyncIterator[asyncio.StreamReader]:
    with path_of(directory) as path:
        reader, writer = await asyncio.open_unix_connection(path, limit=MOST_LINE_BYTES)
    try:
        writer.write(json.dumps(asked).encode() + b"\n")
        yield reader
    finally:
        writer.close()


@dataclass(slots=True)
class Facts:
    """What the cast states about itself, from where the last ``follow`` ended.

    Attributes:
        run, after: of the last fact that was given.
    """

    directory: Path
    run: str = ""
    after: int = 0

    async def follow(self) -> AsyncIterator[Fact]:
        """Give facts, in their order, until the demo ends or the caller does.

        Raises:
            NoDemo: nobody answers.
        """
        asked = {"do": "facts", "run": self.run, "after": self.after}
        try:
            async with _connected(self.directory, asked) as reader:
                while line := await reader.readline():
                    heard = json.loads(line)
                    try:
                        yield read(heard["line"])
                    except EventLogError as error:
                        logger.warning("the demo stated what is no fact: %s", error)
                    self.run, self.after = heard["run"], heard["n"]
        except (OSError, ValueError) as error:
            raise NoDemo(f"the demo of {self.directory} does not answer: {type(error).__name__} {error}") from error
