"""``manage.py run_jobs``: bring the reports up to date with the history and RocketMQ's logs now, as every night."""

from __future__ import annotations

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError, CommandParser

from dashboard.history.jobs import LOGS, Busy, NoHistory, run_jobs
from dashboard.history.tasks import MOST_S, logs_to_read


class Command(BaseCommand):
    """Runs here, beside the worker's queue, and is refused while a job is at work."""

    help = "Run the pipeline over the recorded history and the logs of EVENKEEL_LOGS now; one job at a time."

    def add_arguments(self, parser: CommandParser) -> None:
        """Take a cluster, or the logs."""
        one = parser.add_mutually_exclusive_group()
        one.add_argument("--cluster", metavar="NAME", help="this one only, as its files are called; all by default")
        one.add_argument("--logs", action="store_true", help="RocketMQ's own logs only")

    def handle(self, *, cluster: str | None, logs: bool, **_options: object) -> None:
        """Write how the run of each cluster ended.

        Raises:
            CommandError: one did not end well, or none could begin.
        """
        try:
            told = run_jobs(
                history=settings.HISTORY,
                reports=settings.REPORTS,
                within_s=MOST_S,
                memory_mb=settings.JOBS_MEMORY_MB,
                only=LOGS if logs else cluster,
                logs=logs_to_read(),
            )
        except (Busy, NoHistory) as error:
            raise CommandError(str(error)) from None
        if not told:
            self.stdout.write(f"There is no history in {settings.HISTORY} yet.")
        for name, one in told.items():
            self.stdout.write(f"{name}: {'done' if one['status'] == 0 else 'failed'}\n{one['said']}".rstrip())
        failed = [name for name, one in told.items() if one["status"] != 0]
        if failed:
            raise CommandError(f"failed for {', '.join(failed)}; what had been finished is whole")
        if told:
            self.stdout.write(f"Written to {settings.REPORTS}; a page: evenkeel report {settings.REPORTS}/NAME")
