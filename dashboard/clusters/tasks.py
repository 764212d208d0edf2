"""What Celery does about clusters."""

from __future__ import annotations

import time

from celery import shared_task
from django.conf import settings

from dashboard.clusters.exporting import export


@shared_task(name="clusters.export_history")
def export_history() -> int:
    """Move waiting lines of the event log to the history files."""
    return export(folder=settings.HISTORY, now=time.time_ns() // 1_000_000)
