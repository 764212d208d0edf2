"""``manage.py web``: pages, API and web socket, by uvicorn."""

from __future__ import annotations

import importlib
import os
import socket
from pathlib import Path

import uvicorn
from django.conf import settings
from django.core.management.base import BaseCommand, CommandError, CommandParser

from dashboard.common.waiting import wait_at_most
from dashboard.config.supervising.door import take_over
from dashboard.config.supervising.lock import in_address

# what takes long, and needs neither tables nor static files
LOADED_BEFORE = (settings.ROOT_URLCONF, "channels.auth", "dashboard.live.routing")
PATIENCE_S = 8.0  # of a person who sent a form, for the database's lock; who works behind the pages waits for 20 s
MOST_MESSAGE_BYTES = 64 * 1024  # browsers send subscriptions and commands, all of them short


class Command(BaseCommand):
    """Serves until SIGTERM or SIGINT."""

    help = "Serve pages, API and web socket."
    requires_system_checks = ()  # they are checked by `make check`, and cost a second of the start

    def add_arguments(self, parser: CommandParser) -> None:
        """Take where to listen."""
        parser.add_argument("--host", default="127.0.0.1", metavar="IP", help="listen there; loopback by default")
        parser.add_argument("--port", type=int, default=8000, metavar="P", help="8000 by default")
        parser.add_argument("--fd", type=int, metavar="N", help="a socket that listens there already")

        parser.add_argument("--gate", type=int, metavar="N", help="a pipe; nothing is served before it ends")
        parser.add_argument("--door", type=int, metavar="N", help="a socket to whoever answers until this serves")

    def handle(
        self, *, host: str, port: int, fd: int | None, gate: int | None, door: int | None, **_options: object
    ) -> None:
        """Serve."""
        settings.ALLOWED_HOSTS = [*settings.ALLOWED_HOSTS, in_address(host)]
        listeners = None if fd is None else [_socket(fd)]
        if gate is not None:
            for module in LOADED_BEFORE:
                importlib.import_module(module)
            os.read(gate, 1)
        wait_at_most(PATIENCE_S)
        Path(settings.STATIC_ROOT).mkdir(parents=True, exist_ok=True)  # WhiteNoise warns where it is missing
        config = uvicorn.Config(
            "dashboard.config.asgi:application",
            host=host,
            port=port,
            lifespan="off",
            log_config=None,  # Django's settings say it
            access_log=False,
            server_header=False,
            ws_per_message_deflate=False,  # messages wait up to five times as long with it
            ws_max_size=MOST_MESSAGE_BYTES,
            timeout_graceful_shutdown=3,
        )
        config.load()
        if door is not None:
            take_over(door)
        server = uvicorn.Server(config)
        server.run(sockets=listeners)
        if not server.started:
            raise CommandError("the web server did not start")


def _socket(fd: int) -> socket.socket:
    try:
        return socket.socket(fileno=fd)
    except OSError as error:
        raise CommandError(f"--fd {fd} is no socket: {error}") from None
