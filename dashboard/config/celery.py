"""The Celery app: ``celery -A dashboard.config.celery worker`` and ``... beat``."""

import logging.config
import os

from celery import Celery
from celery.signals import setup_logging, worker_process_init
from django.conf import settings

from dashboard.config.garbage import set_aside

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "dashboard.config.settings")

app = Celery("evenkeel")
app.config_from_object("django.conf:settings", namespace="CELERY")
app.autodiscover_tasks()


@setup_logging.connect  # type: ignore[untyped-decorator] # celery has no types
def log_as_all_do(**_told: object) -> None:
    """Let worker and beat write as Django's settings say; Celery's own way writes tracebacks to the terminal."""
    logging.config.dictConfig(settings.LOGGING)


@worker_process_init.connect  # type: ignore[untyped-decorator] # celery has no types
def begin(**_told: object) -> None:
    """In a child that carries out tasks, after everything was loaded."""
    set_aside()
