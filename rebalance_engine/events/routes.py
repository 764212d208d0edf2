"""Topics and brokers, as NameServers know them."""

from __future__ import annotations

from dataclasses import dataclass

from rebalance_engine.events.fact import Fact
from rebalance_engine.events.shapes import Count, Permission, QueueCount, Text, check, refusal, repeated


@dataclass(frozen=True, slots=True, kw_only=True)
class BrokerQueues:
    """A topic's queues on one broker, as QueueData has it; consumers divide queues 0 to ``read_queues`` - 1."""

    broker: Text
    read_queues: QueueCount
    write_queues: QueueCount
    permission: Permission
    has_master: bool

    def __post_init__(self) -> None:
        """Refuse what no route can hold."""
        check(self)


@dataclass(frozen=True, slots=True, kw_only=True)
class RouteSeen(Fact):
    """A topic's route, as one NameServer answers it."""

    topic: Text
    brokers: tuple[BrokerQueues, ...]
    order_configuration: Text | None = None

    def _check_together(self) -> None:
        again = repeated(queues.broker for queues in self.brokers)
        if again:
            raise refusal(self, f"has {again} more than once; each broker may be there once")


@dataclass(frozen=True, slots=True, kw_only=True)
class RouteMissing(Fact):
    """A NameServer has no route for the topic."""

    topic: Text


@dataclass(frozen=True, slots=True, kw_only=True)
class BrokerSeen(Fact):
    """A broker is there, or back; ``broker_id`` 0 is the master."""

    broker: Text
    broker_id: Count
    address: Text
    version: Text | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class BrokerGone(Fact):
    """A broker is no longer in its NameServer's list, or no longer answers."""

    broker: Text
    broker_id: Count
    address: Text
