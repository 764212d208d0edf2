"""The addresses of the socket, and its way around middleware."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.urls import path, re_path

from dashboard.live.consumers import STRAIGHT, LiveConsumer

if TYPE_CHECKING:
    from asgiref.typing import ASGI3Application, ASGIReceiveCallable, ASGISendCallable, Scope

websocket_urlpatterns = [path("live/", LiveConsumer.as_asgi(), name="live")]


async def nowhere(_scope: Scope, receive: ASGIReceiveCallable, send: ASGISendCallable) -> None:
    """Refuse a socket at an address where none is: its caller gets 403."""
    await receive()
    await send({"type": "websocket.close", "code": 4404, "reason": "there is no socket at this address"})


elsewhere = re_path("", nowhere)  # type: ignore[arg-type] # Channels takes what Django takes no view of


def with_straight_way(application: ASGI3Application) -> ASGI3Application:
    """Let a socket send to the server itself: the middleware of sessions looks at each message, and needs none.

    It saves sessions when an answer to HTTP begins. What it did to each of a hundred messages took a tenth of their
    time.
    """

    async def serve(scope: Scope, receive: ASGIReceiveCallable, send: ASGISendCallable) -> None:
        await application({**scope, STRAIGHT: send}, receive, send)  # type: ignore[arg-type] # a key of our own

    return serve
