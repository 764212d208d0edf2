"""What the commands that ask a cluster have in common: an ``Admin`` of its own, and ways to write the answers."""

from __future__ import annotations

import argparse
import asyncio
import json
import logging
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from contextvars import ContextVar
from typing import TypeVar

from rebalance_engine.cli import BadArguments
from rebalance_engine.cli.clients import add_cluster_arguments, name_servers_of, network_of, run_until_told
from rebalance_engine.cli.signals import listening
from rebalance_engine.cli.terminal import safe, show
from rebalance_engine.network.admin import Admin
from rebalance_engine.network.nameservers import NameServers
from rebalance_engine.network.transport import Transport

T = TypeVar("T")
MOST_S = 3600.0


_AT: ContextVar[str | None] = ContextVar("the name servers of the cluster that is asked, if it is one of several")


def add_asking_arguments(parser: argparse.ArgumentParser, *, timeout_s: float, several: bool = True) -> None:
    """State how a cluster is reached, or several, how long to wait for each, and how to answer."""
    add_cluster_arguments(parser, several=several)
    parser.add_argument(
        "--timeout", type=float, default=timeout_s, metavar="S", help=f"of everything; {timeout_s:g} s by default"
    )
    parser.add_argument("--json", action="store_true", help="answer in JSON, one object a line")


def check_seconds(name: str, given: float) -> float:
    """Read a time.

    Raises:
        BadArguments: it is none.
    """
    if not 0 < given <= MOST_S:
        raise BadArguments(f"{name} is {given:g}; needed are seconds above 0, up to {MOST_S:g}")
    return given


def ask(
    asked: argparse.Namespace, main: Callable[[Admin, asyncio.Event], Awaitable[int]], *, is_endless: bool = False
) -> int:
    """Run a command that asks a cluster, or several one after the other; SIGTERM and SIGINT end it in order.

    Args:
        is_endless: nothing else ends it, so that being told to is no failure.

    Raises:
        Interrupted: a signal came before the answers.
    """
    check_seconds("--timeout", asked.timeout)
    clusters = [argparse.Namespace(**{**vars(asked), "namesrv": at}) for at in (asked.namesrv, *(asked.also or ()))]
    if is_endless and len(clusters) > 1:
        raise BadArguments(f"{len(clusters)} clusters are given; only one can be watched")
    for cluster in clusters:
        name_servers_of(cluster)
    logging.basicConfig(level=logging.ERROR, format="%(levelname)s %(name)s: %(message)s")
    if len(clusters) == 1:
        return _ask_one(asked, main, is_endless=is_endless)
    statuses: list[int] = []
    for cluster in clusters:
        if not asked.json:
            show([*([""] if statuses else []), f"== {safe(cluster.namesrv)} =="])
        token = _AT.set(cluster.namesrv)
        try:
            statuses.append(_ask_one(cluster, main, is_endless=False))
        finally:
            _AT.reset(token)
    return max(statuses)


def _ask_one(
    asked: argparse.Namespace, main: Callable[[Admin, asyncio.Event], Awaitable[int]], *, is_endless: bool
) -> int:
    network, names = network_of(asked), NameServers(name_servers_of(asked))

    @asynccontextmanager
    async def opened() -> AsyncIterator[Admin]:
        async with Transport(network) as transport:
            admin = Admin(transport, names)
            try:
                yield admin
            finally:
                await admin.close()

    async def run(stop: asyncio.Event) -> int | None:
        async with opened() as admin:
            return await until(stop, main(admin, stop))

    with listening() as ear:
        status = run_until_told(run)
        if status is not None:
            return status
        if not is_endless:
            ear.check()
        return 0


async def until(stop: asyncio.Event, work: Awaitable[int]) -> int | None:
    """Wait for the work, or break it off when told to stop; then there is no status."""
    working = asyncio.ensure_future(work)
    stopping = asyncio.ensure_future(stop.wait())
    try:
        await asyncio.wait((working, stopping), return_when=asyncio.FIRST_COMPLETED)
        return working.result() if working.done() else None
    finally:
        for task in (working, stopping):
            task.cancel()
        await asyncio.gather(working, stopping, return_exceptions=True)


def as_json(line: Mapping[str, object]) -> str:
    """Write one object on one line; of several clusters it says of which it is."""
    at = _AT.get(None)
    if at is not None:
        line = {"namesrv": at, **line}
    return json.dumps(line, ensure_ascii=True, separators=(",", ":"))
