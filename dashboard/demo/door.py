"""The door of a running demo; ``control`` says what is spoken there."""

from __future__ import annotations

import asyncio
import contextlib
import json
import logging
import os
import time
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path

from dashboard.demo.control import MOST_LINE_BYTES, path_of
from dashboard.demo.orders import BadOrder, Order
from dashboard.demo.stage import PERSON, WATCHER, Stage, reason_of
from rebalance_engine.events import CommandOutcome

logger = logging.getLogger(__name__)

MANY = 500  # facts are written in so large pieces


@asynccontextmanager
async def serve(stage: Stage, directory: Path) -> AsyncIterator[None]:
    """Open the door."""
    door = _Door(stage)
    with path_of(directory) as path:
        server = await asyncio.start_unix_server(door.serve, path, limit=MOST_LINE_BYTES)
        os.chmod(path, 0o600)  # noqa: PTH101 # the path is only a way to the socket
        try:
            yield
        finally:
            server.close()
            await door.close()
            with contextlib.suppress(OSError):
                os.unlink(path)  # noqa: PTH108 # likewise


class _Door:
    def __init__(self, stage: Stage) -> None:
        self._stage = stage
        self._run = str(time.time_ns())
        self._callers: set[asyncio.Task[None]] = set()

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._callers.add(task)
        try:
            while line := await reader.readline():
                await self._answer(json.loads(line), writer)
        except (ConnectionError, ValueError, asyncio.CancelledError) as error:
            logger.debug("a caller's end: %r", error)
        finally:
            self._callers.discard(task)
            writer.close()

    async def close(self) -> None:
        callers = tuple(self._callers)
        for caller in callers:
            caller.cancel()
        await asyncio.gather(*callers, return_exceptions=True)

    async def _answer(self, request: object, writer: asyncio.StreamWriter) -> None:
        asked = request if isinstance(request, dict) else {}
        if asked.get("do") == "facts":
            await self._follow(asked, writer)
        elif asked.get("do") == "order":
            _write(writer, await self._obey(asked))
        elif asked.get("do") in {"status", "begin"}:
            if asked["do"] == "begin":
                self._stage.seat(PERSON)
            _write(writer, {"namesrv": self._stage.cluster.namesrv, "members": self._stage.members})
        else:
            _write(writer, {"error": f"do is {asked.get('do')!r}; it needs to be status, begin, order or facts"})
        await writer.drain()

    async def _obey(self, asked: Mapping[str, object]) -> dict[str, object]:
        try:
            done = await self._stage.obey(_order(asked))
        except BadOrder as error:
            return {"outcome": CommandOutcome.REFUSED.value, "detail": str(error)}
        except (OSError, RuntimeError, TimeoutError) as error:
            return {"outcome": CommandOutcome.FAILED.value, "detail": f"{type(error).__name__}: {reason_of(error)}"}
        return {"outcome": CommandOutcome.DONE.value, "detail": done.detail, "clients": done.clients}

    async def _follow(self, asked: Mapping[str, object], writer: asyncio.StreamWriter) -> None:
        self._stage.seat(WATCHER)
        after = asked.get("after") if asked.get("run") == self._run else 0
        last = after if isinstance(after, int) else 0
        while True:
            for number, line in self._stage.reel.after(last, MANY):
                _write(writer, {"run": self._run, "n": number, "line": line})
                last = number
            await writer.drain()
            if last >= self._stage.reel.last:
                await self._stage.reel.wait()


def _order(asked: Mapping[str, object]) -> Order:
    parameters = asked.get("parameters") or {}
    if not isinstance(parameters, dict):
        raise BadOrder(f"parameters are {parameters!r}; they need to be names with values")
    verb, group, target = (str(asked.get(key) or "") for key in ("verb", "group", "target"))
    return Order(verb=verb, group=group, target=target, parameters=parameters)


def _write(writer: asyncio.StreamWriter, answer: Mapping[str, object]) -> None:
    writer.write(json.dumps(answer).encode() + b"\n")
