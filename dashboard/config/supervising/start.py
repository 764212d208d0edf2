"""``manage.py up`` from its first line on: what was asked for, and the port that answers before anything is loaded."""

from __future__ import annotations

import argparse
import asyncio
import os
import sys
from collections.abc import Sequence
from urllib.parse import urlsplit

from django.core.exceptions import ImproperlyConfigured

from dashboard.clusters.calling import BadName, check_name
from dashboard.config.given import check_all
from dashboard.config.supervising.bytecode import keep_bytecode
from dashboard.config.supervising.door import Door
from dashboard.config.supervising.lock import CannotListen, HomeTaken
from rebalance_engine.network.rewriting import split_addresses

WHAT = "Start everything, and keep it running."


class CannotStart(Exception):
    """It does not start; the message says why."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Take where to listen, and what to look at."""
    parser.add_argument("--port", type=int, default=8000, metavar="P", help="for browsers; 8000 by default, 0 any")
    parser.add_argument("--host", default="127.0.0.1", metavar="IP", help="for browsers; loopback by default")
    parser.add_argument("--namesrv", metavar="A", help="host:port of a cluster's NameServers, separated by ;")
    parser.add_argument(
        "--cluster", metavar="NAME", help="what to call that cluster; its first NameServer's address by default"
    )
    parser.add_argument("--writable", action="store_true", help="let people change that cluster, not only look")


def main(arguments: Sequence[str]) -> None:
    """Run as ``manage.py up`` does, without Django's own start, which would hold the port up."""
    parser = argparse.ArgumentParser(prog="manage.py up", description=WHAT)
    add_arguments(parser)
    given = parser.parse_args(arguments)
    try:
        run(**vars(given))
    except CannotStart as error:
        sys.exit(str(error))


def run(*, port: int, host: str, namesrv: str | None, cluster: str | None, writable: bool) -> None:
    """Run until a signal.

    Raises:
        CannotStart: it cannot start, or go on, and why.
    """
    if not 0 <= port <= 65_535:
        raise CannotStart(f"--port {port}; it needs a number from 0 to 65535")
    addresses = _addresses(namesrv)
    try:
        named = check_name(cluster) if cluster else None
    except BadName as error:
        raise CannotStart(f"--cluster: {error}") from None
    try:
        home = check_all(os.environ).home
        door = Door(home, host, port)
        keep_bytecode(home)
        from dashboard.config.supervising.up import Asked, Up  # noqa: PLC0415 # the port answers before it is loaded

        asked = Asked(host=host, namesrv=addresses, cluster=named, is_writable=writable)
        failure = asyncio.run(Up(home, asked, door).run())
    except (HomeTaken, CannotListen, ImproperlyConfigured) as error:
        raise CannotStart(str(error)) from None
    except OSError as error:
        where = f" ({error.filename})" if error.filename else ""
        raise CannotStart(f"it cannot go on: {error.strerror or error}{where}") from None
    if failure:
        raise CannotStart(failure)


def _addresses(namesrv: str | None) -> str | None:
    """Check addresses of NameServers, and write them as one text."""
    if namesrv is None or not namesrv.strip():
        return None
    given = namesrv.strip()
    if urlsplit(given).scheme in {"http", "https"}:
        raise CannotStart(f"--namesrv {given!r}; it needs host:port, not the address of a page")
    try:
        return ";".join(split_addresses(given))
    except ValueError as error:
        raise CannotStart(f"--namesrv {given!r}: {error}") from None
