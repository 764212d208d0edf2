"""A broker crashes and comes back, and hangs and goes on, while Java and Python send; consumers look on.

Beside it a ledger: groups that had read everything and went, and come again after the crash.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from rebalance_engine.producer.profiles import java
from rebalance_engine.remoting.requests.brokers import GetConsumeStats
from tests.cluster.asking import Refusal
from tests.cluster.contract import Cluster
from tests.cluster.lines import Client, Seen
from tests.cluster.members import Option, java_consumers, java_producer, python_consumers, python_producer
from tests.cluster.processes import TooLate, wait_until

TOPIC, LEDGER = "stock", "ledger"
BROKER = "broker-b"
NEW, OLD = "5.3.3", "4.9.7"  # whose tables the Python producers go by
PRODUCERS = ("java", f"python-{NEW}", f"python-{OLD}")
# what a failure counts as is looked up in the table: 10 s in 5.2 and later, 30 s before (MQFaultStrategy.java)
ALONE_FOR_MS = {NEW: 10_000, OLD: 600_000}
READERS = ("java", "python")
PER_SECOND = 20
WRITTEN_DOWN_S = 15  # brokers write offsets down every 5 s, busy ones later
GIVEN_S = 90
LONGEST_AWAY_S = 200  # of an answer that takes less than 15 s, by 4.x's table
LEDGER_BEFORE, LEDGER_AFTER = 40, 10


@dataclass(slots=True)
class Faulty:
    """What was seen.

    Attributes:
        told: everything that each producer told.
        marks: how many lines each producer had told at each step: ``well``, ``killed``, ``restarted``, ``hangs``,
            ``goes on``.
        late: what did not come about in time.
        got: the bodies that each reader got.
        ledger: the bodies that each reader got of the ledger before and after the crash.
    """

    told: dict[str, list[Seen]] = field(default_factory=dict)
    marks: dict[str, dict[str, int]] = field(default_factory=dict)
    late: list[str] = field(default_factory=list)
    got: dict[str, set[str]] = field(default_factory=dict)
    ledger: dict[str, tuple[list[str], list[str]]] = field(default_factory=dict)

    def between(self, producer: str, begin: str, end: str | None = None) -> list[Seen]:
        """Give what a producer told between two marks."""
        return self.told[producer][self.marks[begin][producer] : self.marks[end][producer] if end else None]


def come_back(cluster: Cluster) -> list[str]:
    """Name the producers that leave a broker alone for seconds, not for ten minutes."""
    return [f"python-{NEW}", *(["java"] if not cluster.java.startswith("4.") else [])]


def unexplained(failed: Sequence[Seen], told: Sequence[Seen], version: str) -> list[Seen]:
    """Give the failures that a Java producer of this version would not have had while its other broker was well.

    A slow answer takes the other broker away too, and of two such brokers ``pickOneAtLeast`` prefers the one whose
    last latency was smaller: the dead one, which refuses at once (LatencyFaultToleranceImpl.java). A busy broker's
    refusal is its own; before 5.3.0 it is not tried again.

    Args:
        failed: lines of failures.
        told: all that the producer told.
        version: whose tables it goes by.
    """
    profile = java(version)
    classes = list(zip(profile.latency_max_ms, profile.not_available_ms, strict=True))

    def away_ms(line: Seen) -> int:
        return max((away for bound, away in classes if number(line, "latency_ms") >= bound), default=0)

    others = [line for line in told if line["saw"] == "sent" and BROKER not in str(line["queue"])]
    away = [(number(line, "ms"), number(line, "ms") + away_ms(line)) for line in others if away_ms(line)]
    return [
        line
        for line in failed
        if "busy" not in str(line["reason"]) and not any(since <= number(line, "ms") <= until for since, until in away)
    ]


def number(line: Seen, name: str) -> int:
    """Read a whole number of a line."""
    return int(str(line[name]))


class Scene:
    """The processes, and what is done to the broker."""

    def __init__(self, cluster: Cluster, folder: Path) -> None:
        self.cluster = cluster
        self.folder = folder
        self.seen = Faulty()
        self.producers: dict[str, Client] = {}
        self.readers: list[Client] = []
        for topic in (TOPIC, LEDGER):
            cluster.create_topic(topic, 2)

    def run(self) -> Faulty:
        """Play it all."""
        try:
            self._begin()
            self._crash()
            self._hang()
            self._end()
        finally:
            for program in (*self.producers.values(), *self.readers):
                program.kill()
        return self.seen

    def _begin(self) -> None:
        self._send_to_ledger("before", LEDGER_BEFORE)
        before = self._read("first", LEDGER)
        self._await("the ledger is read", lambda: all(_count(one) >= LEDGER_BEFORE for one in before))
        # a stock consumer that stops does not wait for its listeners: what they did last would be told again
        self._await(
            "the ledger's offsets are stored", lambda: all(self._stored(one) >= LEDGER_BEFORE for one in READERS)
        )
        for reader in before:
            reader.stop()
        self.seen.ledger = {name: (_bodies(one), []) for name, one in zip(READERS, before, strict=True)}
        self.readers += self._read("watches", TOPIC)
        for name in PRODUCERS:
            self.producers[name] = self._producer(name, TOPIC, 1_000_000, PER_SECOND)
        for producer in self.producers.values():
            producer.wait("sent", count=PER_SECOND * WRITTEN_DOWN_S)
        self._mark("well")
        # a slow answer on a busy machine takes a broker away for minutes: who leaves it alone cannot notice its crash
        self._await(
            "all send to the broker", lambda: self._sent("well", PRODUCERS, PER_SECOND, BROKER), within_s=LONGEST_AWAY_S
        )

    def _crash(self) -> None:
        self._mark("killed")
        self.cluster.kill(BROKER)
        self._await("Python producers leave the broker alone", lambda: self._backed_off("killed", PRODUCERS[1:]))
        self._await("all send on", lambda: self._sent("killed", PRODUCERS, PER_SECOND * 3))
        self.cluster.restart(BROKER)
        self._mark("restarted")
        self._await("the broker is sent to again", lambda: self._sent("restarted", come_back(self.cluster), 5, BROKER))
        after = self._read("second", LEDGER)
        for reader in after:
            reader.wait("started")
        self._send_to_ledger("after", LEDGER_AFTER)
        self._await("the ledger is read on", lambda: all(_count(one) >= LEDGER_AFTER for one in after))
        for name, reader in zip(READERS, after, strict=True):
            self.seen.ledger[name] = (self.seen.ledger[name][0], _bodies(reader))
            reader.stop()

    def _hang(self) -> None:
        self._mark("hangs")
        self.cluster.pause(BROKER)
        self._await(
            "Python producers leave the broker alone again", lambda: self._backed_off("hangs", [f"python-{NEW}"])
        )
        self.cluster.resume(BROKER)
        self._mark("goes on")
        self._await(
            "the broker is sent to once more", lambda: self._sent("goes on", come_back(self.cluster), 5, BROKER)
        )

    def _end(self) -> None:
        for producer in self.producers.values():
            producer.stop()
        self.seen.told = {name: producer.seen() for name, producer in self.producers.items()}
        sent = {str(told["body"]) for all_told in self.seen.told.values() for told in all_told if told["saw"] == "sent"}
        self._await("everything is consumed", lambda: all(sent <= set(_bodies(reader)) for reader in self.readers))
        self.seen.got = {name: set(_bodies(one)) for name, one in zip(READERS, self.readers, strict=True)}

    # ---- processes ----

    def _producer(self, name: str, topic: str, count: int, rate: int) -> Client:
        options: dict[str, Option] = {
            "namesrv": self.cluster.namesrv,
            "topic": topic,
            "count": count,
            "rate": rate,
            "prefix": name,
            "name": f"{topic}-{name}",
            "fault": True,
            "poll": 5_000,
        }
        if name == "java":
            return java_producer(self.cluster.java, options, self.folder)
        return python_producer({**options, "version": name.partition("-")[2] or NEW}, self.folder)

    def _read(self, name: str, topic: str) -> Sequence[Client]:
        options: dict[str, Option] = {"namesrv": self.cluster.namesrv, "topics": topic, "poll": 5_000}
        java = {**options, "group": f"{topic}-java", "name": f"{name}-java"}
        python = {**options, "group": f"{topic}-python", "name": f"{name}-python"}
        return [java_consumers(self.cluster.java, [java], self.folder), python_consumers([python], self.folder)]

    def _send_to_ledger(self, name: str, count: int) -> None:
        producer = self._producer(name, LEDGER, count, 0)
        producer.wait("stopped")
        producer.stop()
        assert len(producer.seen("sent")) == count, producer.seen("failed")

    # ---- what has come about ----

    def _await(self, what: str, holds: Callable[[], bool], within_s: float = GIVEN_S) -> None:
        with suppress(TooLate):
            wait_until(holds, within_s=within_s, what=what)
            return
        self.seen.late.append(what)

    def _stored(self, reader: str) -> int:
        count = 0
        for address in self.cluster.addresses.values():
            with suppress(Refusal):
                stats = self.cluster.ask(address, GetConsumeStats(consumer_group=f"{LEDGER}-{reader}")).body
                count += sum(one.consumer_offset for queue, one in stats.offset_table.items() if queue.topic == LEDGER)
        return count

    def _mark(self, step: str) -> None:
        self.seen.marks[step] = {name: len(producer.seen()) for name, producer in self.producers.items()}

    def _since(self, step: str, name: str) -> list[Seen]:
        return self.producers[name].seen()[self.seen.marks[step][name] :]

    def _backed_off(self, since: str, producers: Sequence[str]) -> bool:
        """Ask whether all of these have left the broker alone since a step."""
        return all(
            any(told["saw"] == "backed off" and told["broker"] == BROKER for told in self._since(since, name))
            for name in producers
        )

    def _sent(self, since: str, producers: Sequence[str], count: int, broker: str = "") -> bool:
        """Ask whether all of these have sent so much since a step, to any broker or to one."""
        return all(
            sum(told["saw"] == "sent" and f"/{broker}" in str(told["queue"]) for told in self._since(since, name))
            >= count
            for name in producers
        )


def _bodies(reader: Client) -> list[str]:
    return [got.body for got in reader.got()]


def _count(reader: Client) -> int:
    return len(set(_bodies(reader)))
