"""The room's entry in Django's list."""

from django.apps import AppConfig


class PushConfig(AppConfig):
    """Messages to browsers."""

    name = "dashboard.push"
    label = "push"
