"""``manage.py run_jobs``: bring the reports up to date with the history and RocketMQ's logs now, as every night.

With ``--queue`` the worker for jobs does it, as when somebody orders it on the page Reports.
"""

from __future__ import annotations

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError, CommandParser

from dashboard.common.clock import now_ms
from dashboard.history.jobs import LOGS, SOMETHING_MISSED, Busy, NoHistory, clusters_in, run_jobs
from dashboard.history.ordering import Refused, put_into_queue, spark_trouble
from dashboard.history.present import end_of
from dashboard.history.tasks import MOST_S, logs_to_read
from dashboard.history.views import sources_now

AUTHOR = "manage.py run_jobs"
SAID = {  # as the page Reports says it
    "done": "done",
    "missed": "done, but something was left out",
    "off": "Spark is off",
    "failed": "did not come to its end",
}


class Command(BaseCommand):
    """Runs here, beside the worker's queue, or by it; one at a time."""

    help = "Run the pipeline over the recorded history and the logs of EVENKEEL_LOGS now; one job at a time."

    def add_arguments(self, parser: CommandParser) -> None:
        """Take a cluster, or the logs."""
        one = parser.add_mutually_exclusive_group()
        one.add_argument("--cluster", metavar="NAME", help="this one only, as its files are called; all by default")
        one.add_argument("--logs", action="store_true", help="RocketMQ's own logs only")
        parser.add_argument("--queue", action="store_true", help="let the worker for jobs run it; needs --reason")
        parser.add_argument("--reason", default="", metavar="TEXT", help="why, for the audit log")

    def handle(self, *, cluster: str | None, logs: bool, queue: bool, reason: str, **_options: object) -> None:
        """Write how the run of each cluster ended; or put one into the queue.

        Raises:
            CommandError: one did not end well, or none could begin.
        """
        if queue:
            self._put_into_queue(LOGS if logs else cluster, reason.strip())
        else:
            self._run(LOGS if logs else cluster)

    def _put_into_queue(self, only: str | None, reason: str) -> None:
        names = [*clusters_in(settings.HISTORY), *([LOGS] if settings.LOGS else [])]
        trouble = spark_trouble()
        if trouble:
            raise CommandError(f"Spark is off: {trouble}")
        if not reason:
            raise CommandError("needed is --reason: whoever reads the audit log wants to know why")
        if not names or (only is not None and only not in names):
            raise CommandError(f"there is nothing to read of {only or 'any cluster'}; there is: {', '.join(names)}")
        try:
            put_into_queue(only=only, reason=reason, author=AUTHOR, sources=sources_now(), now=now_ms())
        except Refused as refusal:
            raise CommandError(str(refusal)) from None
        self.stdout.write("In the queue: the worker for jobs takes it when it is free; the page Reports tells its end.")

    def _run(self, only: str | None) -> None:
        try:
            told = run_jobs(
                history=settings.HISTORY,
                reports=settings.REPORTS,
                within_s=MOST_S,
                memory_mb=settings.JOBS_MEMORY_MB,
                only=only,
                logs=logs_to_read(),
            )
        except (Busy, NoHistory) as error:
            raise CommandError(str(error)) from None
        if not told:
            self.stdout.write(f"There is no history in {settings.HISTORY} yet.")
        ends = {name: end_of(one) for name, one in told.items()}
        for name, one in told.items():
            self.stdout.write(f"{name}: {SAID[ends[name]]}\n{one['said']}".rstrip())
        failed = [name for name, end in ends.items() if end not in ("done", "missed")]
        if failed:
            raise CommandError(f"{', '.join(failed)} did not come to the end; what had been finished is whole")
        if told:
            self.stdout.write(f"Written to {settings.REPORTS}; a page: evenkeel report {settings.REPORTS}/NAME")
        missed = [name for name, end in ends.items() if end == "missed"]
        if missed:
            raise CommandError(
                f"something was left out of {', '.join(missed)}; all else is whole", returncode=SOMETHING_MISSED
            )
