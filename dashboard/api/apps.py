"""This room as Django knows it."""

from django.apps import AppConfig
from django.utils.translation import pgettext_lazy


class ApiConfig(AppConfig):
    """The API."""

    name = "dashboard.api"
    verbose_name = pgettext_lazy("room", "API")
