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


def java_transactions(release: str, options: Mapping[str, Option], folder: Path) -> Client:
    """Start one Java producer of transactions; Transact.java lists the options."""
    return _java("Transact", release, [options], folder, ())


def java_conversation(release: str, options: Mapping[str, Option], folder: Path) -> Client:
    """Start one Java process that sends requests and replies to them; Converse.java lists the options."""
    return _java("Converse", release, [options], folder, ())


def _java(main: str, release: str, clients: Sequence[Mapping[str, Option]], folder: Path, jvm: Sequence[str]) -> Client:
    names = [str(client["name"]) for client in clients]
    home = folder / names[0]
    home.mkdir(parents=True, exist_ok=True)
    program = maven.program("clients", release)
    command = program.command(f"evenkeel.clients.{main}", *JVM, f"-Duser.home={home}", *jvm)
    return Client(names, [*command, *_words(clients)], folder)


def python_consumers(members: Sequence[Mapping[str, Option]], folder: Path) -> Client:
    """Start one Python process with a consumer for each of ``members``; its options are those of Consume.java."""
    return _python("tests.cluster.consume", members, folder)


def python_producer(options: Mapping[str, Option], folder: Path) -> Client:
    """Start one Python producer; its options are those of Produce.java."""
    return _python("tests.cluster.produce", [options], folder)


def evenkeel(words: Sequence[str], name: str, folder: Path) -> Client:
    """Start the ``evenkeel`` command."""
    return Client([name], [sys.executable, "-m", "rebalance_engine", *words], folder)


def _python(module: str, clients: Sequence[Mapping[str, Option]], folder: Path) -> Client:
    names = [str(client["name"]) for client in clients]
    return Client(names, [sys.executable, "-m", module, *_words(clients)], folder)


def _words(clients: Sequence[Mapping[str, Option]]) -> list[str]:
    words = []
    for number, client in enumerate(clients):
        words += ["--"] * (number > 0) + [f"{name}={_text(value)}" for name, value in client.items()]
    return words


def _text(value: Option) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)
