"""The room's entry in Django's list."""

from django.apps import AppConfig
from django.utils.translation import pgettext_lazy


class PeopleConfig(AppConfig):
    """People and their roles."""

    name = "dashboard.people"
    label = "people"
    verbose_name = pgettext_lazy("room", "People")
