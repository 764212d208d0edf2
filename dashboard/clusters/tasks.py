"""What Celery does about clusters."""

from __future__ import annotations

import logging
import time

from celery import shared_task
from django.conf import settings

from dashboard.clusters.exporting import export, forget_days
from dashboard.common.waiting import later_if_away

logger = logging.getLogger(__name__)


@shared_task(name="clusters.export_history")
def export_history() -> int:
    """Move waiting lines of the event log to the history files."""
    with later_if_away("the export of history"):
        return export(folder=settings.HISTORY, now=time.time_ns() // 1_000_000)
    return 0


@shared_task(name="clusters.forget_old_days")
def forget_old_days() -> int:
    """Delete the history files of days that are older than the setting says; give how many days."""
    now = time.time_ns() // 1_000_000
    gone = forget_days(folder=settings.HISTORY, now=now, days=settings.HISTORY_DAYS)
    if gone is None:
        logger.info("history is being exported: old days are deleted the next time")
    return gone or 0
