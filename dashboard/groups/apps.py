"""The room's entry in Django's list."""

from django.apps import AppConfig


class GroupsConfig(AppConfig):
    """Consumer groups."""

    name = "dashboard.groups"
    label = "groups"
