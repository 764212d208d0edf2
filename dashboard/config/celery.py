"""The Celery app: ``celery -A dashboard.config.celery worker`` and ``... beat``."""

import os

from celery import Celery

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "dashboard.config.settings")

app = Celery("evenkeel")
app.config_from_object("django.conf:settings", namespace="CELERY")
app.autodiscover_tasks()
