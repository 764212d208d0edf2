"""The roof's entry in Django's list: management commands live here."""

from django.apps import AppConfig

from dashboard.config.celery import app as celery_app


class ConfigConfig(AppConfig):
    """The roof."""

    name = "dashboard.config"
    label = "config"
    celery = celery_app  # so that a task that is started from any process finds the app
