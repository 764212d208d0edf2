"""Recorded conversations between RocketMQ's own clients and brokers, frame by frame.

``vectors/conversation-*.jsonl.gz``, one JSON object a line: ``ms`` since the first frame, ``conn`` number of the TCP
connection, ``from`` client (who connected) or server, ``port`` of the server, ``hex`` the frame.
"""

import gzip
import json
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from rebalance_engine.remoting.command import Command
from rebalance_engine.remoting.connection import Connection

RELEASES = ("4.9.7", "5.5.0")


@dataclass(frozen=True)
class Recorded:
    """One frame; ``asked`` is the request that a response answers."""

    connection: int
    sender: str
    frame: bytes
    command: Command
    asked: Command | None


@cache
def recorded(release: str) -> tuple[Recorded, ...]:
    return tuple(_with_requests(_lines(release)))


def _lines(release: str) -> Iterator[tuple[int, str, bytes]]:
    path = Path(__file__).parent / "vectors" / f"conversation-{release}.jsonl.gz"
    with gzip.open(path, "rt") as lines:
        for line in map(json.loads, lines):
            yield line["conn"], line["from"], bytes.fromhex(line["hex"])


def _with_requests(lines: Iterator[tuple[int, str, bytes]]) -> Iterator[Recorded]:
    asked: dict[tuple[int, str, int], Command] = {}
    for connection, sender, frame in lines:
        command = one_command(frame)
        receiver = "server" if sender == "client" else "client"
        request = asked.get((connection, receiver, command.opaque)) if command.is_response else None
        if not command.is_response:
            asked[connection, sender, command.opaque] = command
        yield Recorded(connection, sender, frame, command, request)


def one_command(frame: bytes) -> Command:
    connection = Connection()
    connection.receive_data(frame)
    (command,) = connection.events_received()
    assert isinstance(command, Command)
    return command
