"""The room's entry in Django's list."""

from django.apps import AppConfig


class LiveConfig(AppConfig):
    """The socket, and what it is used for at this moment."""

    name = "dashboard.live"
    label = "live"
