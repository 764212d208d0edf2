"""The room's entry in Django's list."""

from django.apps import AppConfig


class PeopleConfig(AppConfig):
    """People and their roles."""

    name = "dashboard.people"
    label = "people"
