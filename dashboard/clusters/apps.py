"""The room's entry in Django's list."""

from django.apps import AppConfig


class ClustersConfig(AppConfig):
    """Clusters."""

    name = "dashboard.clusters"
    label = "clusters"
