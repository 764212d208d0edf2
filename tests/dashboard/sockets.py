"""A browser's end of the live socket, without a browser. (``channels.testing`` would want daphne.)"""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable
from types import TracebackType

from asgiref.testing import ApplicationCommunicator
from asgiref.typing import ASGIApplication, ASGIReceiveCallable, ASGISendCallable, Scope
from django.contrib.auth.models import AnonymousUser, User
from django.contrib.sessions.backends.base import SessionBase

from dashboard.live.consumers import STRAIGHT, LiveConsumer
from dashboard.push.messages import Message, decode

HOST = "testserver"
MOST_READ = 100
COMES_WITHIN_S = 30  # what must come, on a machine with much other work


class Browser:
    """Opens a socket as somebody, asks, and reads messages."""

    def __init__(
        self,
        user: User | AnonymousUser,
        *,
        origin: str | None = f"http://{HOST}",
        application: ASGIApplication | None = None,
        path: str = "/live/",
        session: SessionBase | None = None,
    ) -> None:
        headers = [(b"host", HOST.encode())] + ([(b"origin", origin.encode())] if origin is not None else [])
        scope = {"type": "websocket", "path": path, "query_string": b"", "headers": headers, "subprotocols": []}
        self.end = ApplicationCommunicator(
            application or LiveConsumer.as_asgi(), {**scope, "user": user, "session": session}
        )
        self.code: int | None = None

    async def __aenter__(self) -> Browser:
        await self.end.send_input({"type": "websocket.connect"})
        first = await self.end.receive_output(timeout=COMES_WITHIN_S)
        if first["type"] == "websocket.close":
            self.code = first["code"]
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.end.send_input({"type": "websocket.disconnect", "code": 1000})
        await self.end.wait(timeout=COMES_WITHIN_S)

    async def ask(self, **question: object) -> None:
        await self.say(json.dumps(question))

    async def say(self, text: str) -> None:
        await self.end.send_input({"type": "websocket.receive", "text": text})

    async def hear(self, timeout: float = COMES_WITHIN_S) -> Message:  # noqa: ASYNC109 - of the communicator
        output = await self.end.receive_output(timeout=timeout)
        assert output["type"] == "websocket.send", output
        return decode(output["bytes"])

    def hold(self) -> None:
        """Let the connection take nothing more, as one that is full, until ``free``."""
        self.end.output_queue.put_nowait({"type": "held"})
        self.end.output_queue._maxsize = 1

    async def free(self) -> None:
        """Let the connection take messages again."""
        assert await self.end.receive_output(timeout=COMES_WITHIN_S) == {"type": "held"}

    async def is_closed(self, timeout: float = COMES_WITHIN_S) -> int:  # noqa: ASYNC109 - of the communicator
        """Give the code with which the server closes."""
        if self.code is None:
            output = await self.end.receive_output(timeout=timeout)
            assert output["type"] == "websocket.close", output
            self.code = int(output["code"])
        return self.code

    async def ends(self) -> int:
        """Read on until the server closes; give its code."""
        for _ in range(MOST_READ):
            output = await self.end.receive_output(timeout=COMES_WITHIN_S)
            if output["type"] == "websocket.close":
                return int(output["code"])
        raise AssertionError(f"after {MOST_READ} messages it is not closed")

    async def hears_nothing(self) -> bool:
        return bool(await self.end.receive_nothing(timeout=0.2))


def sending_by(send: Callable[[object], Awaitable[None]]) -> ASGIApplication:
    """Give a socket whose messages go this way."""
    socket = LiveConsumer.as_asgi()

    async def serve(scope: Scope, receive: ASGIReceiveCallable, answer: ASGISendCallable) -> None:
        await socket({**scope, STRAIGHT: send}, receive, answer)

    return serve
