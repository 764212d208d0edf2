from __future__ import annotations

from typing import cast

import pytest
from asgiref.sync import async_to_sync
from asgiref.typing import ASGI3Application, ASGIApplication, ASGIReceiveCallable, ASGISendCallable, Scope
from channels.routing import URLRouter
from django.contrib.auth.models import AnonymousUser

from dashboard.clusters.models import Cluster
from dashboard.live.consumers import STRAIGHT, LiveConsumer
from dashboard.live.routing import elsewhere, websocket_urlpatterns, with_straight_way
from dashboard.push.messages import OverviewSnapshot
from dashboard.push.publish import overview_stream
from tests.dashboard.persons import person
from tests.dashboard.sockets import Browser


def test_there_is_one_socket_and_it_says_whom_it_lets_in() -> None:
    assert [(str(each.pattern), each.callback.consumer_class) for each in websocket_urlpatterns] == [
        ("live/", LiveConsumer)
    ]


@pytest.mark.django_db(transaction=True)
def test_messages_go_to_the_server_itself_past_middleware(cluster: Cluster) -> None:
    passed = list[str]()
    socket = cast("ASGI3Application", LiveConsumer.as_asgi())

    async def middleware(scope: Scope, receive: ASGIReceiveCallable, send: ASGISendCallable) -> None:
        async def look(message: dict[str, object]) -> None:
            passed.append(str(message["type"]))
            await send(message)  # type: ignore[arg-type]

        assert scope.get(STRAIGHT) is send
        await socket(scope, receive, look)  # type: ignore[arg-type] # it takes any message

    viewer, stream = person(), overview_stream(cluster.pk)

    @async_to_sync
    async def hear() -> object:
        async with Browser(viewer, application=with_straight_way(middleware)) as browser:
            await browser.ask(follow=stream, seq=None)
            return await browser.hear()

    assert isinstance(hear(), OverviewSnapshot)
    assert passed == ["websocket.accept"]


@pytest.mark.parametrize("path", ["/live/nonsense", "/", "/api/v1/groups"])
def test_a_socket_at_no_address_is_refused_without_an_error(path: str) -> None:
    @async_to_sync
    async def code() -> int | None:
        router = cast("ASGIApplication", URLRouter([*websocket_urlpatterns, elsewhere]))
        async with Browser(AnonymousUser(), application=router, path=path) as browser:
            return browser.code

    assert code() == 4404
