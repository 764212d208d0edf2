"""Consumers and producers as processes: ours in Java on released clients, and the ``evenkeel`` command."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from tests.cluster.lines import Client
from tests.peers import maven

JVM = ("-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-Xmx96m", "-Drocketmq.client.logUseSlf4j=false")
Option = str | int | bool


def java_consumers(
    release: str, members: Sequence[Mapping[str, Option]], folder: Path, jvm: Sequence[str] = ()
) -> Client:
    """Start one Java process with a push consumer for each of ``members``; Consume.java lists the options."""
    return _java("Consume", release, members, folder, jvm)


def java_producer(release: str, options: Mapping[str, Option], folder: Path, jvm: Sequence[str] = ()) -> Client:
    """Start one Java producer; Produce.java lists the options."""
    return _java("Produce", release, [options], folder, jvm)


def _java(main: str, release: str, clients: Sequence[Mapping[str, Option]], folder: Path, jvm: Sequence[str]) -> Client:
    names = [str(client["name"]) for client in clients]
    home = folder / names[0]
    home.mkdir(parents=True, exist_ok=True)
    program = maven.program("clients", release)
    command = program.command(f"evenkeel.clients.{main}", *JVM, f"-Duser.home={home}", *jvm)
    for number, client in enumerate(clients):
        command += ["--"] * (number > 0) + [f"{name}={_text(value)}" for name, value in client.items()]
    return Client(names, command, folder)


def python_command(words: Sequence[str], name: str, folder: Path) -> Client:
    """Start the ``evenkeel`` command."""
    return Client([name], [sys.executable, "-m", "rebalance_engine", *words], folder)


def python_consumer(options: Mapping[str, Option], folder: Path) -> Client:
    """Start ``evenkeel consume``."""
    words = ["consume"]
    for option, value in options.items():
        words += [f"--{option}"] if value is True else [f"--{_PYTHON.get(option, option)}", str(value)]
    return python_command(words, str(options["name"]), folder)


_PYTHON = {"topics": "topic"}


def _text(value: Option) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)
