"""The room's entry in Django's list."""

from django.apps import AppConfig
from django.utils.translation import pgettext_lazy


class GroupsConfig(AppConfig):
    """Consumer groups."""

    name = "dashboard.groups"
    label = "groups"
    verbose_name = pgettext_lazy("room", "Groups")
