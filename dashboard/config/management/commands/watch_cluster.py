"""``manage.py watch_cluster NAME``: the watcher of one cluster."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from collections.abc import Coroutine, Iterator
from contextlib import suppress

from django.core.exceptions import ImproperlyConfigured
from django.core.management.base import BaseCommand, CommandError, CommandParser

from dashboard.clusters.models import Cluster
from dashboard.config.holders import holder_name
from dashboard.config.reaching import network_of
from dashboard.config.supervising.machine import UNNEEDED
from dashboard.config.watching import watch
from dashboard.groups.operations import LeaseLost
from rebalance_engine.harmless import harmless


class Command(BaseCommand):
    """Watches until SIGTERM or SIGINT."""

    help = "Watch one cluster: ask its servers, store what is new, carry out what people order."
    requires_system_checks = ()  # they are checked by `make check`, and cost a second of the start

    def add_arguments(self, parser: CommandParser) -> None:
        """Take the cluster's name."""
        parser.add_argument("cluster", metavar="NAME", help="the name under which the cluster was added")
        parser.add_argument("--gate", type=int, metavar="N", help="a pipe; it watches only after its end")

    def handle(self, *, cluster: str, gate: int | None, **_options: object) -> None:
        """Watch."""
        if gate is not None:
            os.read(gate, 1)
        try:
            network = network_of(os.environ)
        except ImproperlyConfigured as error:
            raise CommandError(str(error)) from None
        try:
            asyncio.run(_until_told(watch(cluster, network, holder_name())))
        except* (Cluster.DoesNotExist, LeaseLost) as ended:
            self._say_why(cluster, "; ".join(map(str, _each(ended))))

    def _say_why(self, cluster: str, why: str) -> None:
        """End with a word: one that was deleted or put aside needs no watcher, another's lease is worth a wait."""
        row = Cluster.objects.filter(name=cluster).first()
        if row is not None and not row.is_aside:
            raise CommandError(why)
        gone = "was put aside" if row is not None else "is not there: it was deleted, or never added"
        self.stderr.write(f"cluster {harmless(cluster)!r} {gone}; nobody needs to watch it")
        sys.exit(UNNEEDED)


def _each(group: BaseExceptionGroup[Exception]) -> Iterator[BaseException]:
    for each in group.exceptions:
        yield from _each(each) if isinstance(each, BaseExceptionGroup) else (each,)


async def _until_told(work: Coroutine[None, None, None]) -> None:
    """Run until it fails, or until SIGTERM or SIGINT end it in order."""
    task = asyncio.ensure_future(work)
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, task.cancel)
    with suppress(asyncio.CancelledError):
        await task
