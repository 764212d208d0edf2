"""Consumers and producers that tell what they see, one JSON object a line."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from tests.cluster.processes import Program, wait_until

Seen = Mapping[str, object]


@dataclass(frozen=True, slots=True)
class Got:
    """A message that a consumer was given."""

    ms: int
    client: str
    queue: str
    offset: int
    body: str
    again: int


class Client(Program):
    """A process of ours, in Java or Python, whose standard output is read while it runs.

    It may hold several clients; ``names`` says which. A line without a name is of the only one.
    """

    def __init__(self, names: Sequence[str], command: Sequence[str], folder: Path) -> None:
        super().__init__("+".join(names), command, folder / f"{names[0]}.jsonl")
        self.names = tuple(names)
        self._read = 0
        self._seen: list[Seen] = []

    def seen(self, what: str | None = None, name: str | None = None) -> list[Seen]:
        """Give what it has told so far, all or of one kind, of all its clients or of one."""
        with self.output.open("rb") as lines:
            lines.seek(self._read)
            for line in lines:
                if not line.endswith(b"\n"):
                    break
                self._read += len(line)
                if line.startswith(b"{"):
                    self._seen.append({"name": self.names[0], **json.loads(line)})
        return [seen for seen in self._seen if what in (None, seen["saw"]) and (name is None or seen["name"] == name)]

    def wait(self, what: str, *, count: int = 1, within_s: float = 60) -> list[Seen]:
        """Wait until it has told something so often; fails at once if it ends before."""
        wait_until(
            lambda: len(self.seen(what)) >= count or not self.runs,
            within_s=within_s,
            what=f"{self.name} telling {what} {count} times ({len(self.seen(what))} so far)",
        )
        found = self.seen(what)
        assert len(found) >= count, f"{self.name} ended early. {self.last_words()}"
        return found

    def client_id(self, name: str | None = None) -> str:
        """Give the id under which the cluster knows one of its clients."""
        return str(self.seen("started", name or self.names[0])[0]["client_id"])

    def held(self, name: str | None = None) -> frozenset[str]:
        """Give the queues that one of its clients has now, those of retry topics left out; none once it has ended."""
        if not self.runs:
            return frozenset()
        told = self.seen("held", name or self.names[0])
        return plain(told[-1]["queues"]) if told else frozenset()

    def got(self, name: str | None = None) -> Iterator[Got]:
        """Give all messages that one of its clients was given, in order."""
        for seen in self.seen("got", name or self.names[0]):
            yield Got(
                int(str(seen["ms"])),
                str(seen["name"]),
                str(seen["queue"]),
                int(str(seen["offset"])),
                str(seen["body"]),
                int(str(seen.get("again", 0))),
            )


def plain(queues: object) -> frozenset[str]:
    """Leave out the queues of retry topics."""
    assert isinstance(queues, Iterable)
    return frozenset(queue for queue in map(str, queues) if not queue.startswith("%RETRY%"))
