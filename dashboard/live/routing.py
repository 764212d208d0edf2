"""The addresses of the socket."""

from django.urls import path

from dashboard.live.consumers import LiveConsumer

websocket_urlpatterns = [path("live/", LiveConsumer.as_asgi(), name="live")]
