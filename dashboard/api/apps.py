"""This room as Django knows it."""

from django.apps import AppConfig


class ApiConfig(AppConfig):
    """The API."""

    name = "dashboard.api"
    verbose_name = "API"
