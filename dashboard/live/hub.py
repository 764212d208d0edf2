"""One subscription for each stream that somebody in this process follows, whatever the number of sockets.

A message comes once from Redis and is unpacked once; every socket's bounded outbox (``outbox.py``) then gets it without
anybody waiting for a browser. The hub has one channel and one task: they begin with the first socket and end with the
last. What gets lost on the way is missed by its number.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Mapping
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Literal, Protocol, TypedDict, cast
from weakref import WeakKeyDictionary

from channels.layers import get_channel_layer
from redis.exceptions import RedisError

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from channels.layers import BaseChannelLayer

logger = logging.getLogger(__name__)

WITHIN_S = 10.0  # a subscription that takes longer is refused: the browser connects anew
AGAIN_AFTER_S = 1.0
GONE = (RedisError, OSError, TimeoutError)  # Redis does not answer


class StepEvent(TypedDict):
    """What ``push/publish.py`` sends to whoever follows a stream."""

    type: Literal["push.step"]
    stream: str
    seq: int
    is_step: bool
    body: bytes


class Listener(Protocol):
    """One socket. Takes what comes without waiting for anything."""

    def hear(self, event: StepEvent) -> None:
        """Take a step or a pulse of a stream."""


class Hub:
    """All sockets of one event loop."""

    def __init__(self) -> None:
        self._listeners: dict[str, dict[Listener, None]] = {}  # in the order in which they came
        self._subscribed: dict[str, bool] = {}  # stream -> is it sure that messages come
        self._lock = asyncio.Lock()
        self._layer: BaseChannelLayer | None = None
        self._channel = ""
        self._task: asyncio.Task[None] | None = None

    async def follow(self, stream: str, listener: Listener) -> None:
        """Let a socket hear of a stream; what is sent after this answers is heard. ``GONE``: Redis does not answer."""
        self._listeners.setdefault(stream, {})[listener] = None
        async with self._within():
            if stream in self._listeners and not self._subscribed.get(stream):
                layer = await self._begun()
                self._subscribed[stream] = False
                await layer.group_add(stream, self._channel)
                self._subscribed[stream] = True

    async def leave(self, stream: str, listener: Listener) -> None:
        """Let a socket hear nothing more of a stream, at once; then end what only it needed."""
        listeners = self._listeners.get(stream, {})
        listeners.pop(listener, None)
        if listeners:
            return
        self._listeners.pop(stream, None)
        try:
            async with self._within():
                if self._layer is not None and stream in self._subscribed and stream not in self._listeners:
                    del self._subscribed[stream]
                    await self._layer.group_discard(stream, self._channel)
        except GONE as error:
            logger.warning("could not end the subscription to %s: %s", stream, error)
        if not self._listeners:
            await self._end()

    def followers(self, stream: str) -> int:
        """Count the sockets of a stream."""
        return len(self._listeners.get(stream, ()))

    @property
    def is_idle(self) -> bool:
        """Ask whether nothing runs, because nobody follows anything."""
        return self._task is None and not self._listeners and not self._subscribed

    async def _begun(self) -> BaseChannelLayer:
        """Have a channel, and a task that reads it."""
        if self._layer is None:
            layer = get_channel_layer()
            assert layer is not None, "CHANNEL_LAYERS has a default, and needs one"
            self._channel = await layer.new_channel("hub.")
            self._layer = layer
            self._task = asyncio.create_task(self._pass_on(layer, self._channel), name="hub of the live sockets")
        return self._layer

    async def _end(self) -> None:
        """End the task, which gives its channel back; a socket that came meanwhile keeps it."""
        async with self._lock:
            if self._listeners or self._task is None:
                return
            task, self._task, self._layer = self._task, None, None
            self._subscribed.clear()
            task.cancel()
            await asyncio.wait([task], timeout=WITHIN_S)

    async def _pass_on(self, layer: BaseChannelLayer, channel: str) -> None:
        """Hand on what comes, for as long as anybody listens."""
        while True:
            try:
                event = await layer.receive(channel)
            except Exception:
                logger.exception("the live sockets heard nothing for a moment")
                await asyncio.sleep(AGAIN_AFTER_S)
                continue
            self._tell(event)
            await asyncio.sleep(0)  # between two of many messages the sockets get their turn to send

    def _tell(self, event: Mapping[str, object]) -> None:
        told = cast("StepEvent", event)
        for listener in tuple(self._listeners.get(told["stream"], ())):
            try:
                listener.hear(told)
            except Exception:  # of one socket; the others hear it all the same
                logger.exception("a socket could not take step %s of %s", told["seq"], told["stream"])

    @asynccontextmanager
    async def _within(self) -> AsyncIterator[None]:
        async with asyncio.timeout(WITHIN_S), self._lock:
            yield


_hubs: WeakKeyDictionary[asyncio.AbstractEventLoop, Hub] = WeakKeyDictionary()


def hub() -> Hub:
    """Give the hub of the running event loop; a process that serves has one."""
    return _hubs.setdefault(asyncio.get_running_loop(), Hub())
