"""What Celery does about history: a queue of its own, whose worker runs one job at a time."""

from __future__ import annotations

import logging

from celery import shared_task
from django.conf import settings

from dashboard.common.clock import now_ms
from dashboard.history import asked
from dashboard.history.jobs import Logs, run_jobs

MOST_S = 6 * 3_600
LEAVES_S = 300  # to stop what runs
logger = logging.getLogger(__name__)


# Not acknowledged late: Redis would hand a job that runs for hours to a second worker.
@shared_task(name="history.run_jobs", acks_late=False, soft_time_limit=MOST_S, time_limit=MOST_S + LEAVES_S)
def run_history_jobs(number: str | None = None) -> dict[str, dict[str, object]]:
    """Bring the reports of all clusters up to date with their history, and that of RocketMQ's own logs with these.

    Args:
        number: of the run that somebody asked for; one that waits no more (given up, or delivered twice) does nothing.
    """
    if number is None:
        return _run(None)
    wanted = asked.begin(settings.REPORTS, number, now=now_ms())
    if wanted is None:
        logger.warning("the run %s waits no more; nothing is run", number)
        return {}
    try:
        return _run(wanted.only)
    finally:
        asked.end(settings.REPORTS, number)


def _run(only: str | None) -> dict[str, dict[str, object]]:
    told = run_jobs(
        history=settings.HISTORY,
        reports=settings.REPORTS,
        within_s=MOST_S - LEAVES_S,
        memory_mb=settings.JOBS_MEMORY_MB,
        only=only,
        logs=logs_to_read(),
    )
    for name, one in told.items():
        if one["status"] != 0:
            logger.error("the report of %s ended with %s: %s", name, one["status"], one["said"])
    return told


def logs_to_read() -> Logs | None:
    """Give the folder of RocketMQ's logs that the settings name; None where they name none."""
    return Logs(settings.LOGS, settings.LOGS_ZONES) if settings.LOGS else None
