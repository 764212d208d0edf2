"""Java and Python read what the other one wrote, and both give up on messages that nobody can consume.

Each of four producers, two in Java and two in Python, small and compressed messages, sends to one topic. In Java and in
Python there is a group that takes everything, one that takes one tag, and one that fails every time and may retry once.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from rebalance_engine.remoting.requests.brokers import GetTopicStatsInfo
from tests.cluster.asking import Refusal
from tests.cluster.contract import Cluster
from tests.cluster.lines import Client, Seen
from tests.cluster.members import Option, java_consumers, java_producer, python_consumers, python_producer
from tests.cluster.processes import TooLate, wait_until

TOPIC = "letters"
EACH = 30  # messages of a producer
PRODUCERS = ("java", "java-large", "python", "python-large")
READERS = ("java", "python")
LARGE: Mapping[str, Option] = {"pad": 6_000, "compress": 1_000}
RED = {number for number in range(EACH) if number % 3 == 0}  # the first of three tags
GIVEN_S = 120
DONE = ("everything", "red", "retried", "dead")


@dataclass(slots=True)
class Exchanged:
    """What was sent and got.

    Attributes:
        sent: by producer.
        got: by reader and group: ``java-everything`` and so on.
        dead: by reader, how many messages lie in the dead-letter topic of its failing group.
        retried: by reader, how many lie in the retry topic.
        late: what did not come about in time.
    """

    sent: dict[str, list[Seen]] = field(default_factory=dict)
    got: dict[str, list[Seen]] = field(default_factory=dict)
    retried: dict[str, int] = field(default_factory=dict)
    dead: dict[str, int] = field(default_factory=dict)
    late: list[str] = field(default_factory=list)


def exchange(cluster: Cluster, folder: Path) -> Exchanged:
    """Send, read, fail, and write down what came of it."""
    topic = cluster.create_topic(TOPIC, 2)
    common: Mapping[str, Option] = {"namesrv": cluster.namesrv, "topics": topic}
    readers = {"java": java_consumers(cluster.java, _groups("java", common), folder)}
    readers["python"] = python_consumers(_groups("python", common), folder)
    producers: list[Client] = []
    seen = Exchanged()
    try:
        for reader in readers.values():
            reader.wait("started", count=3)
        producers += [_producer(name, cluster, folder) for name in PRODUCERS]
        for name, producer in zip(PRODUCERS, producers, strict=True):
            producer.wait("stopped")
            seen.sent[name] = producer.seen("sent")
        for what in DONE:
            try:
                wait_until(partial(_done, what, cluster, readers), within_s=GIVEN_S, what=what)
            except TooLate:
                seen.late.append(what)
                break  # nothing that comes after it can be in time
        for name, reader in readers.items():
            for group in ("everything", "red", "fails"):
                seen.got[f"{name}-{group}"] = reader.seen("got", f"{name}-{group}")
            seen.retried[name] = stored(cluster, f"%RETRY%{name}-fails")
            seen.dead[name] = stored(cluster, f"%DLQ%{name}-fails")
    finally:
        for program in (*producers, *readers.values()):
            program.kill()
    return seen


def _producer(name: str, cluster: Cluster, folder: Path) -> Client:
    options: dict[str, Option] = {"namesrv": cluster.namesrv, "topic": TOPIC, "count": EACH, "prefix": name}
    # what is shown here is what arrives, not how long a busy broker takes for the first one
    options |= {"name": f"sends-{name}", "timeout": 20_000, **(LARGE if name.endswith("large") else {})}
    return java_producer(cluster.java, options, folder) if "java" in name else python_producer(options, folder)


def _groups(reader: str, common: Mapping[str, Option]) -> list[Mapping[str, Option]]:
    own: dict[str, dict[str, Option]] = {"everything": {}, "red": {"tags": "red"}, "fails": {"fail": 99, "retries": 1}}
    return [{**common, "name": f"{reader}-{name}", "group": f"{reader}-{name}", **more} for name, more in own.items()]


def _done(what: str, cluster: Cluster, readers: Mapping[str, Client]) -> bool:
    everything = EACH * len(PRODUCERS)
    match what:
        case "everything":
            return all(len(reader.seen("got", f"{name}-everything")) >= everything for name, reader in readers.items())
        case "red":
            wanted = len(RED) * len(PRODUCERS)
            return all(len(reader.seen("got", f"{name}-red")) >= wanted for name, reader in readers.items())
        case "retried":
            return all(stored(cluster, f"%RETRY%{name}-fails") >= everything for name in readers)
        case _:
            return all(stored(cluster, f"%DLQ%{name}-fails") >= everything for name in readers)


def stored(cluster: Cluster, topic: str) -> int:
    """Count the messages that all brokers have of a topic; 0 where it does not exist."""
    count = 0
    for address in cluster.addresses.values():
        with suppress(Refusal):
            table = cluster.ask(address, GetTopicStatsInfo(topic=topic)).body.offset_table
            count += sum(ends.max_offset - ends.min_offset for ends in table.values())
    return count
