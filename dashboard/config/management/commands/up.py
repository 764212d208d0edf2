"""``manage.py up``: everything, from an empty folder on, until SIGTERM or SIGINT.

``manage.py`` itself goes to ``start.main`` at once; this is the same for Django's own ways: ``help``, ``call_command``.
"""

from __future__ import annotations

from django.core.management.base import BaseCommand, CommandError, CommandParser

from dashboard.config.supervising import start


class Command(BaseCommand):
    """Prepares what is missing, then supervises web, watchers, worker, beat, Redis and the demo."""

    help = start.WHAT
    requires_system_checks = ()

    def add_arguments(self, parser: CommandParser) -> None:
        """Take where to listen, and what to look at."""
        start.add_arguments(parser)

    def handle(
        self, *, port: int, host: str, namesrv: str | None, cluster: str | None, writable: bool, **_options: object
    ) -> None:
        """Run until the end.

        Raises:
            CommandError: it cannot start, and why.
        """
        try:
            start.run(port=port, host=host, namesrv=namesrv, cluster=cluster, writable=writable)
        except start.CannotStart as error:
            raise CommandError(str(error)) from None
