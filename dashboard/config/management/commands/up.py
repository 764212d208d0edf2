"""``manage.py up``: everything, from an empty folder on, until SIGTERM or SIGINT."""

from __future__ import annotations

import asyncio
from urllib.parse import urlsplit

from django.conf import settings
from django.core.exceptions import ImproperlyConfigured
from django.core.management.base import BaseCommand, CommandError, CommandParser

from dashboard.config.supervising.lock import HomeTaken, PortTaken
from dashboard.config.supervising.up import Asked, Up
from rebalance_engine.network.rewriting import split_addresses


class Command(BaseCommand):
    """Prepares what is missing, then supervises web, watchers, worker, beat, Redis and the demo."""

    help = "Start everything, and keep it running."
    requires_system_checks = ()

    def add_arguments(self, parser: CommandParser) -> None:
        """Take where to listen, and what to look at."""
        parser.add_argument("--port", type=int, default=8000, metavar="P", help="for browsers; 8000 by default, 0 any")
        parser.add_argument("--host", default="127.0.0.1", metavar="IP", help="for browsers; loopback by default")
        parser.add_argument("--namesrv", metavar="A", help="host:port of a cluster's NameServers, separated by ;")
        parser.add_argument("--cluster", metavar="NAME", help="what to call that cluster; its address by default")
        parser.add_argument("--writable", action="store_true", help="let people change that cluster, not only look")

    def handle(
        self, *, port: int, host: str, namesrv: str | None, cluster: str | None, writable: bool, **_options: object
    ) -> None:
        """Run until the end.

        Raises:
            CommandError: it cannot start, and why.
        """
        if not 0 <= port <= 65_535:
            raise CommandError(f"--port {port}; it needs a number from 0 to 65535")
        asked = Asked(
            host=host,
            port=port,
            namesrv=_addresses(namesrv),
            cluster=cluster,
            is_writable=writable,
        )
        try:
            failure = asyncio.run(Up(settings.HOME, asked).run())
        except (HomeTaken, PortTaken, ImproperlyConfigured, OSError) as error:
            raise CommandError(str(error)) from None
        if failure:
            raise CommandError(failure)


def _addresses(namesrv: str | None) -> str | None:
    """Check addresses of NameServers, and write them as one text."""
    if namesrv is None or not namesrv.strip():
        return None
    given = namesrv.strip()
    if urlsplit(given).scheme in {"http", "https"}:
        raise CommandError(f"--namesrv {given!r}; it needs host:port, not the address of a page")
    try:
        return ";".join(split_addresses(given))
    except ValueError as error:
        raise CommandError(f"--namesrv {given!r}: {error}") from None
