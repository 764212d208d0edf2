"""The room's entry in Django's list."""

from django.apps import AppConfig
from django.utils.translation import pgettext_lazy


class ReportsConfig(AppConfig):
    """Reports and their tokens."""

    name = "dashboard.reports"
    label = "reports"
    verbose_name = pgettext_lazy("room", "Reports")
