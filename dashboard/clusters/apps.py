"""The room's entry in Django's list."""

from django.apps import AppConfig
from django.utils.translation import pgettext_lazy


class ClustersConfig(AppConfig):
    """Clusters."""

    name = "dashboard.clusters"
    label = "clusters"
    verbose_name = pgettext_lazy("room", "Clusters")
