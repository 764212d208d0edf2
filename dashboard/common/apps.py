"""The room's entry in Django's list: template tags are found here."""

from django.apps import AppConfig


class CommonConfig(AppConfig):
    """What every room uses."""

    name = "dashboard.common"
    label = "common"
