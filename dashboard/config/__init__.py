"""The roof: settings, addresses, the ASGI door and the Celery app."""

from dashboard.config.celery import app as celery_app

__all__ = ["celery_app"]  # so that a task that is started from any process finds the app
