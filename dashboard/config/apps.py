"""The roof's entry in Django's list: management commands live here."""

from django.apps import AppConfig


class ConfigConfig(AppConfig):
    """The roof."""

    name = "dashboard.config"
    label = "config"
