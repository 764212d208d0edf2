"""The room's entry in Django's list."""

from django.apps import AppConfig


class HistoryConfig(AppConfig):
    """Jobs over the recorded history."""

    name = "dashboard.history"
    label = "history"
