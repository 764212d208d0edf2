"""The room's entry in Django's list."""

from django.apps import AppConfig
from django.utils.translation import pgettext_lazy


class PushConfig(AppConfig):
    """Messages to browsers."""

    name = "dashboard.push"
    label = "push"
    verbose_name = pgettext_lazy("room", "Push")
