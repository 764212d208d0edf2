"""The room's entry in Django's list."""

from django.apps import AppConfig


class ReportsConfig(AppConfig):
    """Reports and their tokens."""

    name = "dashboard.reports"
    label = "reports"
