"""Producers: how fast brokers answer them, and which ones they back away from. ``client`` is the producer's id."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import ClassVar

from rebalance_engine.events.fact import Fact
from rebalance_engine.events.shapes import Milliseconds, Text, check
from rebalance_engine.model import MessageQueue


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
class BrokerLatency(ProducerFact):
    """One attempt to send, begun ``at``, took this long; the figure is ``latency_ms``."""

    FIGURE: ClassVar[str] = "latency_ms"

    latency_ms: Milliseconds
    outcome: SendOutcome
    queue: MessageQueue | None = None


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
