"""A cluster in one process: a name server and brokers that stock clients join. For development and demonstration.

    evenkeel embedded --port 9876 --brokers 2 --topic orders:4 --topic pay:2

Once everything listens it prints one line, ``{"saw":"ready","namesrv":"127.0.0.1:9876"}``; it ends in order on SIGTERM
or SIGINT.
"""

from __future__ import annotations

import argparse
import asyncio
import errno
import logging
import sys
from collections.abc import Iterable
from pathlib import Path

from rebalance_engine.cli import BadArguments
from rebalance_engine.cli.clients import run_until_told
from rebalance_engine.cli.lines import put
from rebalance_engine.embedded.cluster import LOOPBACK, MOST_BROKERS, Cluster, ClusterSettings, TopicShrinks
from rebalance_engine.embedded.settings import DELAY_LEVELS, EmbeddedSettings, delays_ms
from rebalance_engine.embedded.topics import why_illegal
from rebalance_engine.membership.profiles import rules_of

MOST_QUEUES = 1024
OF_OUTPUT = (errno.EPIPE, errno.ENOSPC)  # of who reads what we say, not of what was asked for
MIB = 2**20
MOST_MIB = 1_048_576


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """State what the command takes."""
    parser.description = __doc__
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.add_argument(
        "--port", type=int, default=9876, metavar="P", help="of the name server; 9876 by default, 0 any"
    )
    parser.add_argument(
        "--brokers", type=int, default=1, metavar="N", help=f"how many, up to {MOST_BROKERS}; 1 by default"
    )
    parser.add_argument("--topic", action="append", default=[], metavar="NAME:QUEUES", help="create it on each broker")
    parser.add_argument("--dir", type=Path, metavar="DIR", help="keep everything there; a passing place by default")
    parser.add_argument("--host", default=LOOPBACK, metavar="IP", help="listen there; loopback by default")
    parser.add_argument("--version", default="5.5.0", metavar="V", help="the release to present; 5.5.0 by default")
    parser.add_argument(
        "--max-log", type=int, default=256, metavar="MIB", help="keep so much of each broker's messages"
    )
    parser.add_argument("--delay-levels", default=DELAY_LEVELS, metavar="TEXT", help="messageDelayLevel of the brokers")


def run(asked: argparse.Namespace) -> int:
    """Start the cluster, and wait for the end."""
    settings = _settings(asked)
    logging.basicConfig(
        level=logging.WARNING, stream=sys.stderr, format="%(asctime)s %(levelname)s %(name)s: %(message)s"
    )
    try:
        return run_until_told(lambda stop: _serve(settings, stop))
    except (OSError, TopicShrinks) as error:
        if isinstance(error, OSError) and error.errno in OF_OUTPUT:
            raise
        raise BadArguments(str(error)) from error


def _settings(asked: argparse.Namespace) -> ClusterSettings:
    try:
        rules_of(asked.version)
        delays_ms(asked.delay_levels)
        log = _within("--max-log", asked.max_log, range(1, MOST_MIB + 1))
        broker = EmbeddedSettings(
            max_log_bytes=log * MIB, segment_bytes=max(1, log // 8) * MIB, delay_levels=asked.delay_levels
        )
        return ClusterSettings(
            brokers=asked.brokers,
            topics=_topics(asked.topic),
            directory=asked.dir,
            host=asked.host,
            port=_within("--port", asked.port, range(65_536)),
            broker=broker,
            version=asked.version,
        )
    except ValueError as error:
        raise BadArguments(str(error)) from error


def _within(option: str, number: int, allowed: range) -> int:
    if number not in allowed:
        raise ValueError(f"{option} {number}; it needs to be {allowed[0]} to {allowed[-1]}")
    return number


def _topics(words: Iterable[str]) -> dict[str, int]:
    topics: dict[str, int] = {}
    for topic, queues in map(_topic, words):
        if topics.setdefault(topic, queues) != queues:
            raise ValueError(
                f"--topic {topic!r} has {topics[topic]} queues and has {queues}; it needs one number of them"
            )
    return topics


def _topic(word: str) -> tuple[str, int]:
    topic, _, queues = word.rpartition(":")
    if not (queues.isascii() and queues.isdigit() and 1 <= int(queues[:9]) <= MOST_QUEUES):
        raise ValueError(f"--topic {word!r}; it needs to be NAME:QUEUES with 1 to {MOST_QUEUES} queues")
    illegal = why_illegal(topic)
    if illegal is not None:
        raise ValueError(f"--topic {word!r}: {illegal}")
    return topic, int(queues)


async def _serve(settings: ClusterSettings, stop: asyncio.Event) -> int:
    if stop.is_set():
        return 0
    async with Cluster(settings) as cluster:
        put({"saw": "ready", "namesrv": cluster.namesrv})
        async with asyncio.TaskGroup() as tasks:
            running = tasks.create_task(cluster.run(), name="cluster")
            await stop.wait()
            running.cancel()
    return 0
