"""What a broker keeps beside its messages, in files of RocketMQ's names: topics, groups, offsets, modes, delays.

Each file is replaced as a whole: after a crash it is the old one or the new one.

Source: ``common/.../ConfigManager.java``.
"""

from __future__ import annotations

import fcntl
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TextIO, TypeVar, cast

from rebalance_engine.membership.machine import Memory
from rebalance_engine.remoting.binding import read_fields, to_java
from rebalance_engine.remoting.bodies.queues import ConsumerOffsetSerializeWrapper
from rebalance_engine.remoting.bodies.settings import (
    MessageRequestModeSerializeWrapper,
    SubscriptionGroupWrapper,
    TopicConfigSerializeWrapper,
)
from rebalance_engine.remoting.fastjson import read, write
from rebalance_engine.remoting.java import JavaObject

Kind = TypeVar("Kind", bound=JavaObject)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Delays(JavaObject):
    """``DelayOffsetSerializeWrapper.java``."""

    offset_table: Mapping[int, int] = field(default_factory=dict)


def replace_file(path: Path, text: str) -> None:
    """Put a text in the place of what a file holds, or make the file."""
    path.parent.mkdir(parents=True, exist_ok=True)
    new = path.with_name(f"{path.name}.tmp")
    new.write_text(text, encoding="utf-8")
    new.replace(path)


@contextmanager
def alone_in(directory: Path) -> Iterator[None]:
    """Have a directory for ourselves; it is made if it is not there.

    Raises:
        OSError: another cluster works in it, or it cannot be made or written to.
    """
    with _lock_of(directory) as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise OSError(f"another cluster works in {directory}; each needs a directory of its own") from None
        yield


def _lock_of(directory: Path) -> TextIO:
    try:
        directory.mkdir(parents=True, exist_ok=True)
        return (directory / "lock").open("w")
    except OSError as error:
        why = "it is a file" if directory.is_file() else error.strerror or str(error)
        needed = "needed is one that can be made, or is there and can be written to"
        raise OSError(f"the directory is {str(directory)!r}, and cannot be had: {why}; {needed}") from error


class ConfigFiles:
    """The files in one directory; a missing one reads as empty."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory
        self._written: dict[str, str] = {}

    def memory(self) -> Memory:
        """Read what membership had.

        Raises:
            BrokenContent: a file is not what it should be.
        """
        topics = self._read("topics.json", TopicConfigSerializeWrapper)
        return Memory(
            groups=self._read("subscriptionGroup.json", SubscriptionGroupWrapper),
            topics=tuple(topics.topic_config_table.values()),
            offsets=self._read("consumerOffset.json", ConsumerOffsetSerializeWrapper),
            modes=self._read("messageRequestMode.json", MessageRequestModeSerializeWrapper),
        )

    def keep(self, memory: Memory) -> None:
        """Write what membership has; a file whose text is the same stays as it is."""
        topics = {config.topic_name: config for config in memory.topics}
        self._write("topics.json", TopicConfigSerializeWrapper(topic_config_table=topics))
        self._write("subscriptionGroup.json", memory.groups)
        self._write("consumerOffset.json", memory.offsets)
        self._write("messageRequestMode.json", memory.modes)

    def delays(self) -> dict[int, int]:
        """Read level -> offset of the next delayed message."""
        table = self._read("delayOffset.json", _Delays).offset_table
        return dict(table)

    def keep_delays(self, offsets: dict[int, int]) -> None:
        """Write level -> offset of the next delayed message."""
        self._write("delayOffset.json", _Delays(offset_table=offsets))

    def _read(self, name: str, kind: type[Kind]) -> Kind:
        path = self._directory / name
        text = path.read_bytes() if path.exists() else b"{}"
        return read_fields(kind, cast("dict[str, object]", read(text)))

    def _write(self, name: str, value: JavaObject) -> None:
        text = write(to_java(value)).decode("utf-8")
        if self._written.get(name) != text:
            replace_file(self._directory / name, text)
            self._written[name] = text
