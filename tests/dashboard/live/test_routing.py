from __future__ import annotations

from dashboard.live.consumers import LiveConsumer
from dashboard.live.routing import websocket_urlpatterns


def test_there_is_one_socket_and_it_says_whom_it_lets_in() -> None:
    assert [(str(each.pattern), each.callback.consumer_class) for each in websocket_urlpatterns] == [
        ("live/", LiveConsumer)
    ]
