"""Producers: how fast brokers answer them, and which ones they back away from. ``client`` is the producer's id."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import ClassVar

from rebalance_engine.events.fact import Fact
from rebalance_engine.events.shapes import At, Milliseconds, Number, Text, check, refusal
from rebalance_engine.model import MessageQueue

MOST_COUNTS = 32  # a line stays below 2 kB, and what is kept of a producer and broker below 100 kB
MOST_A_MS = 1_000  # attempts that one process can end: no client sends a million messages a second


@dataclass(frozen=True, slots=True, kw_only=True)
class ProducerFact(Fact):
    """What every fact about a producer and one broker carries."""

    client: Text
    broker: Text


@dataclass(frozen=True, slots=True, kw_only=True)
class ProducerConnected:
    """One connection of a producer, as a broker lists it."""

    group: Text
    client: Text
    address: Text
    language: Text | None = None
    version: Text | None = None

    def __post_init__(self) -> None:
        """Refuse what no producer can be."""
        check(self)


@dataclass(frozen=True, slots=True, kw_only=True)
class ProducersSeen(Fact):
    """All producers that one broker knows, all at one look; empty where it knows nobody."""

    broker: Text
    producers: tuple[ProducerConnected, ...]


class SendOutcome(Enum):
    """How one attempt to send ended, as far as fault avoidance tells them apart (``DefaultMQProducerImpl.java``)."""

    OK = "ok"
    NOT_STORED = "not stored"
    CLIENT_ERROR = "client error"
    REMOTING_ERROR = "remoting error"
    BROKER_ERROR = "broker error"
    INTERRUPTED = "interrupted"


@dataclass(frozen=True, slots=True, kw_only=True)
class LatencyCount:
    """How many attempts took this long; where ``up_to_ms`` is there, each took from ``latency_ms`` to it."""

    latency_ms: Milliseconds
    count: Number
    up_to_ms: Milliseconds | None = None

    def __post_init__(self) -> None:
        """Refuse what no latency can be."""
        check(self)

    def covers(self, latency_ms: int) -> bool:
        """Whether an attempt that took so long may be among them."""
        return self.latency_ms <= latency_ms <= (self.up_to_ms or self.latency_ms)


@dataclass(frozen=True, slots=True, kw_only=True)
class SendTally:
    """Every attempt on one broker that went well and ended from ``since`` to ``until``: by latency, how many."""

    since: At
    until: At
    counts: tuple[LatencyCount, ...]

    def __post_init__(self) -> None:
        """Refuse what nobody can have counted."""
        check(self)


@dataclass(frozen=True, slots=True, kw_only=True)
class BrokerLatency(ProducerFact):
    """One attempt to send, begun ``at``, took this long; the figure is ``latency_ms``.

    ``tally`` counts all that went well since the last fact with one, this attempt among them; of those that failed each
    is a fact of its own.
    """

    FIGURE: ClassVar[str] = "latency_ms"

    latency_ms: Milliseconds
    outcome: SendOutcome
    queue: MessageQueue | None = None
    tally: SendTally | None = None

    def _check_together(self) -> None:
        """Refuse a tally that is too long to be kept, has no time, or cannot be true."""
        if self.tally is None:
            return
        since, until, counts = self.tally.since, self.tally.until, self.tally.counts
        if since > until:
            raise refusal(self, f"the tally's since is {since}, until {until}; since must not be above until")
        if not 0 < len(counts) <= MOST_COUNTS:
            raise refusal(self, f"the tally has {len(counts)} counts; it needs 1 to {MOST_COUNTS}")
        for each in counts:
            if each.up_to_ms is not None and each.up_to_ms <= each.latency_ms:
                raise refusal(self, f"up_to_ms is {each.up_to_ms}; it needs more than latency_ms, {each.latency_ms}")
        self._check_plausible(self.tally)

    def _check_plausible(self, tally: SendTally) -> None:
        ended_at, most = self.at + self.latency_ms, MOST_A_MS * (tally.until - tally.since + 1)
        if not any(each.covers(self.latency_ms) for each in tally.counts):
            raise refusal(self, f"the tally counts no attempt of {self.latency_ms} ms; it needs this one among them")
        if not tally.since <= ended_at <= tally.until:
            raise refusal(self, f"the tally is of {tally.since} to {tally.until}; it needs {ended_at}, this one's end")
        if (count := sum(each.count for each in tally.counts)) > most:
            raise refusal(self, f"the tally counts {count} attempts; its time needs to hold them, and holds {most}")


@dataclass(frozen=True, slots=True, kw_only=True)
class BrokerBackedOff(ProducerFact):
    """The producer avoids the broker for ``backoff_ms``; isolated: for a failure, not for its latency."""

    backoff_ms: Milliseconds
    is_isolated: bool
    latency_ms: Milliseconds | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class BrokerBackoffEnded(ProducerFact):
    """The broker is available to the producer again."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BrokerUnreachable(ProducerFact):
    """The producer holds the broker for unreachable."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BrokerReachable(ProducerFact):
    """The broker answers again."""
